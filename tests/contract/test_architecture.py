"""Rules about imports, catches and sizes that no linter knows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    path
    for package in ("cognee_hooks", "builtin_plugins")
    for path in (ROOT / package).rglob("*.py")
)

ONLY_IN = {
    "httpx": {"cognee_hooks/services/client.py"},
    "platformdirs": {"cognee_hooks/services/paths.py"},
    "yaml": {"cognee_hooks/configuration/files.py"},
    "subprocess": {"cognee_hooks/services/process.py"},
    "cryptography": {"cognee_hooks/services/crypto.py"},
    "re2": {"cognee_hooks/redaction/custom.py"},
}
"""Where alone a module may be imported, at run time."""

ENVIRONMENT = {"cognee_hooks/settings.py", "cognee_hooks/services/process.py"}
"""Where alone the environment of this process is looked at."""

MAY_CATCH_ALL = {"cognee_hooks/guard.py"}

MAX_LINES, MAX_FUNCTION_LINES = 400, 40
LONG_FILES = {
    "builtin_plugins/bridge/buffer.py": "in which order both files are written is one thing",
    "cognee_hooks/daemon/thin_client.py": "to look for a second file takes longer than to load it",
    "cognee_hooks/host.py": "a method for each event and each thing that plugins use",
    "cognee_hooks/hookspecs.py": "its docstrings are the manual of the hooks",
}
"""Files of more lines, each with the reason; it stands in the file's docstring, too."""
LONG_FUNCTIONS = {
    "cognee_hooks/host.py: __init__": "makes the parts of a session, which need each other",
}
"""Functions of more lines, each with the reason."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def at_run_time(tree: ast.Module) -> Iterator[ast.AST]:
    """All nodes but those under ``if TYPE_CHECKING``."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting.extend(node.orelse)
        else:
            waiting.extend(ast.iter_child_nodes(node))


def imported(tree: ast.Module) -> set[str]:
    """Top-level names of all modules that are imported at run time."""
    found: set[str] = set()
    for node in at_run_time(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def public_classes(tree: ast.Module) -> list[str]:
    """Names of all public classes but those within classes and functions."""
    waiting: list[ast.AST] = [tree]
    found: list[str] = []
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ClassDef):
            found += [] if node.name.startswith("_") else [node.name]
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))
    return found


def reads_environment(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in {"environ", "environb", "getenv", "getenvb", "putenv"}
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
        for node in ast.walk(tree)
    )


def catches_all(handler: ast.ExceptHandler) -> bool:
    """Whether a handler takes whatever comes and does not pass it on."""
    caught = "BaseException" if handler.type is None else ast.unparse(handler.type)
    broad = {"Exception", "BaseException"} & set(caught.strip("()").replace(" ", "").split(","))
    last = handler.body[-1]
    return bool(broad) and not (isinstance(last, ast.Raise) and last.exc is None)


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring, which is as long as there is something to say."""
    end = function.end_lineno or function.lineno
    first = function.body[0]
    told = (first.end_lineno or 0) - first.lineno + 1 if ast.get_docstring(function) else 0
    return end - function.lineno + 1 - told


@pytest.mark.parametrize("module", ONLY_IN)
def test_a_module_is_imported_in_one_place_only(module):
    found = {name_of(path) for path in SOURCES if module in imported(tree_of(path))}
    assert found <= ONLY_IN[module]


def test_the_environment_of_this_process_is_read_in_few_places():
    assert {name_of(path) for path in SOURCES if reads_environment(tree_of(path))} <= ENVIRONMENT


def test_only_the_guard_swallows_whatever_comes():
    found = {
        name_of(path)
        for path in SOURCES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ExceptHandler) and catches_all(node)
    }
    assert found <= MAY_CATCH_ALL


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("try: pass\nexcept Exception: pass", True),
        ("try: pass\nexcept (OSError, BaseException): pass", True),
        ("try: pass\nexcept: pass", True),
        ("try: pass\nexcept BaseException:\n    raise", False),
        ("try: pass\nexcept OSError: pass", False),
    ],
)
def test_a_catch_of_everything_is_told_from_others(code, expected):
    [handler] = [each for each in ast.walk(ast.parse(code)) if isinstance(each, ast.ExceptHandler)]
    assert catches_all(handler) is expected


def test_imports_for_the_type_checker_do_not_count():
    code = "if TYPE_CHECKING:\n    import httpx\nelse:\n    import yaml\nfrom os import path"
    assert imported(ast.parse(code)) == {"yaml", "os"}


def test_a_name_means_one_class():
    modules: dict[str, set[str]] = {}
    for path in SOURCES:
        for name in public_classes(tree_of(path)):
            modules.setdefault(name, set()).add(name_of(path))
    shared = {name: sorted(where) for name, where in modules.items() if len(where) > 1}
    assert not shared


def test_public_classes_are_those_that_others_can_import():
    code = (
        "class _Own: pass\n"
        "class Seen:\n    class Within: pass\n"
        "if typed:\n    class Maybe: pass\n"
        "def make():\n    class Local: pass"
    )
    assert set(public_classes(ast.parse(code))) == {"Seen", "Maybe"}


def test_files_are_short_but_for_those_with_a_reason():
    long = {
        name_of(path)
        for path in SOURCES
        if len(path.read_text(encoding="utf-8").splitlines()) > MAX_LINES
    }
    assert long == set(LONG_FILES)


def test_functions_are_short_but_for_those_with_a_reason():
    long = {
        f"{name_of(path)}: {node.name}"
        for path in SOURCES
        for node in ast.walk(tree_of(path))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and lines_of(node) > MAX_FUNCTION_LINES
    }
    assert long == set(LONG_FUNCTIONS)


def test_the_lines_of_a_docstring_are_no_lines_of_its_function():
    code = 'def told(\n    a,\n):\n    """One.\n\n    Two.\n    """\n    return a\n'
    [told] = [each for each in ast.walk(ast.parse(code)) if isinstance(each, ast.FunctionDef)]
    assert lines_of(told) == 4

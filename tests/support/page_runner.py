"""Runs the blocks of a page in their order and tells what is not as the page says.

=========== ======================================================================================
``console`` Commands behind ``$`` run in the page's shell and print what stands below them; ``>``
            goes on with a command. ``…`` stands for anything in a line, and alone for any lines.
``sh``      The lines run in the page's shell and end with 0.
``python``  It runs without an exception. A name in its first line (``# name.py``) makes it a file
            there; files of tests are run by pytest, all together, when the page is done.
``toml``    It can be read; ``# pyproject.toml`` makes it a file there.
``yaml``    ``# config.yaml`` and ``# .cognee-hooks.yaml`` are read by a host, which finds no fault.
``dotenv``  The host reads it, and each name in it is that of a setting.
``json``    It can be read.
=========== ======================================================================================

Where a block says ``<!-- tested by: FILE -->`` in the line above it, that file of tests has to be
there and to name what the block runs or imports; here the block is read only. One that has pip
install the folder has its plugins found in what follows, by the metadata that pip would write.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

from cognee_hooks import Host
from cognee_hooks.configuration import envfile
from tests.support.documents import ROOT, Block, Page
from tests.support.page_shell import PageShell

ANYTHING = "…"
HIDDEN_FILE = ".cognee-hooks.yaml"
_INSTALLS_FOLDER = re.compile(r"pip install .*'?\.(?:'|\[| |$)", re.MULTILINE)
_PROMPT = "$ "
_GOES_ON = "> "
_ELSEWHERE = {"LLM_MODEL"}
"""What a ``.env`` may hold that the server reads, and no setting of ours."""


class PageRunner:
    """Runs one page.

    Args:
        shell: The shell of the page.
        site: A folder for the metadata of packages that the page writes.
    """

    def __init__(self, shell: PageShell, site: Path) -> None:
        self._shell = shell
        self._site = site
        self._tests: list[str] = []
        self._runners: dict[str, Callable[[Block], Iterator[str]]] = {
            "console": self._console,
            "sh": self._sh,
            "python": self._python,
            "toml": self._toml,
            "yaml": self._yaml,
            "dotenv": self._dotenv,
            "json": self._json,
        }

    def problems(self, page: Page) -> list[str]:
        """Run all blocks; return what is wrong, each with its place."""
        found = [f"{block}: {problem}" for block in page.blocks for problem in self._run(block)]
        if self._tests:
            ran = self._shell.run(f"python -m pytest -q {' '.join(self._tests)}")
            found += [f"{page.name}: its tests fail: {ran.output}"] if ran.code else []
        return found

    def _run(self, block: Block) -> Iterator[str]:
        runner = self._runners.get(block.kind)
        if runner is None:
            yield f"nothing runs blocks of kind {block.kind!r}"
        elif block.tested_by:
            yield from tested_elsewhere(block)
            if block.kind == "sh" and _INSTALLS_FOLDER.search(block.text):
                self._install_folder()
        else:
            yield from runner(block)

    def _console(self, block: Block) -> Iterator[str]:
        for command, expected in commands_of(block.text):
            got = self._shell.run(command).output
            if not matches(expected, got):
                yield f"{command}\n--- the page says\n{expected}\n--- it prints\n{got}"

    def _sh(self, block: Block) -> Iterator[str]:
        ran = self._shell.run(block.text)
        if ran.code:
            yield f"it ends with {ran.code}: {ran.output}"

    def _python(self, block: Block) -> Iterator[str]:
        name = block.file_name or "snippet.py"
        path = self._shell.folder / name
        path.write_text(block.text)
        if name.startswith("test_"):
            self._tests.append(str(path))
            return
        ran = self._shell.run(f"python {name}")
        if ran.code:
            yield f"it fails: {ran.output}"

    def _toml(self, block: Block) -> Iterator[str]:
        try:
            tomllib.loads(block.text)
        except tomllib.TOMLDecodeError as error:
            yield f"it cannot be read: {error}"
        if block.file_name:
            (self._shell.folder / block.file_name).write_text(block.text)

    def _install_folder(self) -> None:
        """Have the package in the shell's folder installed as far as plugins are looked for."""
        folder = self._shell.folder
        if not (folder / "pyproject.toml").exists():
            return  # the project's own, which is installed
        project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
        info = (
            self._site / f"{str(project['name']).replace('-', '_')}-{project['version']}.dist-info"
        )
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        )
        lines = [
            f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in entries.items())
            for group, entries in project["entry-points"].items()
        ]
        (info / "entry_points.txt").write_text("\n".join(lines))
        self._shell.export("PYTHONPATH", f"{self._site}{os.pathsep}{folder}")

    def _yaml(self, block: Block) -> Iterator[str]:
        if block.file_name != "config.yaml" and HIDDEN_FILE not in block.text.partition("\n")[0]:
            yield "its first line does not say which file it is"
            return
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            environ = {"HOME": folder, "BILLING_KEY": "made up"}
            file = Host("claude-code", environ=environ, entry_points=()).paths.config_file
            if block.file_name != "config.yaml":
                file = home / "project" / HIDDEN_FILE
            file.parent.mkdir(parents=True)
            file.write_text(block.text)
            file.chmod(0o600)
            made = Host("claude-code", environ=environ, cwd=str(home / "project"), entry_points=())
            yield from (each.message for each in made.settings.problems)

    def _dotenv(self, block: Block) -> Iterator[str]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / ".cognee" / ".env"
            file.parent.mkdir()
            file.write_text(block.text)
            made = Host("claude-code", environ={"HOME": folder}, entry_points=())
            yield from (each.message for each in made.settings.problems)
            known = {row.env for row in made.settings.rows()} | _ELSEWHERE
        values = envfile.parse(block.text)
        if not values:
            yield "nothing is set in it"
        yield from (f"{name} is no setting" for name in values if name not in known)

    def _json(self, block: Block) -> Iterator[str]:
        try:
            json.loads(block.text)
        except json.JSONDecodeError as error:
            yield f"it cannot be read: {error}"


def commands_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a console block with what they print."""
    command: list[str] = []
    output: list[str] = []
    for line in text.splitlines():
        if line.startswith(_PROMPT):
            if command:
                yield "\n".join(command), "\n".join(output)
            command, output = [line.removeprefix(_PROMPT)], []
        elif line.startswith(_GOES_ON) and not output:
            command.append(line.removeprefix(_GOES_ON))
        else:
            output.append(line)
    yield "\n".join(command), "\n".join(output)


def matches(expected: str, got: str) -> bool:
    """Tell whether a command printed what a page says; see the module for ``…``."""
    parts = []
    for line in _lines(expected):
        if line.strip() == ANYTHING:
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append(r"[^\n]*?".join(map(re.escape, line.split(ANYTHING))) + r"\n")
    return re.fullmatch("".join(parts), "".join(f"{line}\n" for line in _lines(got))) is not None


def _lines(text: str) -> list[str]:
    """Return the lines without blank ones around them and spaces at their ends."""
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def tested_elsewhere(block: Block) -> Iterator[str]:
    """Yield what is wrong with a block's word that another file tests it."""
    file = ROOT / block.tested_by
    if not file.is_file():
        yield f"{block.tested_by} is not there"
        return
    source = file.read_text(encoding="utf-8")
    names = sorted(_imported(block.text) if block.kind == "python" else _typed(block.text))
    if not names:
        yield f"nothing in it could be tested by {block.tested_by}"
    yield from (
        f"{block.tested_by} does not name {name!r}"
        for name in names
        if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", source)
    )


def _imported(text: str) -> set[str]:
    """Names that a block imports from us."""
    return {
        alias.name
        for node in ast.walk(ast.parse(text, type_comments=False))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cognee_hooks")
        for alias in node.names
    }


def _typed(text: str) -> set[str]:
    """Words of our commands up to the first option, and the programs of all others."""
    found: set[str] = set()
    for line in text.splitlines():
        for part in re.split(r"&&|\|", line):
            words = shlex.split(part, comments=True)
            if words and Path(words[0]).name == "cognee-hooks":
                for word in words[1:]:
                    if not re.fullmatch(r"[a-z][a-z-]*", word):
                        break
                    found.add(word)
            elif words and words[0] != "cd":
                found.add(Path(words[0]).name)
    return found

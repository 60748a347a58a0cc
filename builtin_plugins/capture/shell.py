"""Reads shell command lines as far as capture needs: which programs, which words."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""(?P<gap>[ \t\r]+)
    |(?P<end>&&|\|\||\|&|[;|&\n(){}`]|\$\()
    |"(?P<double>(?:\\.|[^"\\])*)"
    |'(?P<single>[^']*)'
    |\\(?P<escaped>.)
    |(?P<bare>.)""",
    re.DOTALL | re.VERBOSE,
)
_SUBSTITUTION = re.compile(r"\$\(|`")
_ESCAPE = re.compile(r"""\\(["\\$`\n])""")
_HERE_DOCUMENT = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1")
_BREAKS = re.compile(r"""[\s"'`$(){}\[\];|&<>,=:@]+""")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_NUMBER = re.compile(r"\d+(?:\.\d+)?[smhd]?")
_KEYWORDS = frozenset("! if then elif else while until do".split())
_LAUNCHERS = frozenset(
    "builtin command doas env exec nice nohup sudo time timeout uvx xargs".split()
)
_VALUED = frozenset("-C -I -L -P -d -g -n -p -u --extra --from --group --python --with".split())
"""Options of launchers whose value is the next word."""
_TALKERS = frozenset({"echo", "gh", "git", "printf"})
"""Programs whose quoted arguments are prose, such as commit messages."""
_SHELLS = frozenset({"bash", "dash", "eval", "ksh", "sh", "zsh"})
_OWN_PROGRAMS = frozenset({"cognee", "cognee-cli", "cognee-hooks"})
_OWN_MODULES = frozenset({"cognee", "cognee_hooks"})
_DEPTH = 4


def words(command: str) -> Iterator[str]:
    """Yield the words of a command line without their quotes, and what quoted words are made of.

    Works on broken quoting too. Text that is handed to another program, as in ``bash -c "…"``, is
    taken apart, save for programs to which it is prose.
    """
    for simple in _commands(command, _DEPTH):
        program = _name(_program(simple))
        for word in simple:
            yield word
            if program not in _TALKERS and _BREAKS.search(word):
                yield from filter(None, _BREAKS.split(word))


def runs_own_program(command: str) -> bool:
    """Whether the line runs a program of ours, as opposed to mentioning it in a path or a text."""
    return _runs_own(_without_here_documents(command), _DEPTH)


def _runs_own(command: str, depth: int) -> bool:
    for simple in _commands(command, depth):
        program = _program(simple)
        if _is_own(program):
            return True
        if depth and _name(program) in _SHELLS:
            # What a shell is told to run is a command line itself.
            inner = [word for word in program[1:] if not word.startswith("-")]
            if any(_runs_own(word, depth - 1) for word in inner):
                return True
    return False


def _commands(line: str, depth: int) -> Iterator[list[str]]:
    """Yield the words of each simple command, those of command substitutions among them."""
    simple: list[str] = []
    word: list[str] | None = None
    for token in _TOKEN.finditer(line):
        kind, text = str(token.lastgroup), token[str(token.lastgroup)]
        if kind not in {"gap", "end"}:
            word = [] if word is None else word
            word.append(_plain(kind, text))
            if kind == "double" and depth:
                for inner in _SUBSTITUTION.split(text)[1:]:
                    yield from _commands(inner, depth - 1)
            continue
        if word is not None:
            simple.append("".join(word))
            word = None
        if kind == "end" and simple:
            yield simple
            simple = []
    if word is not None:
        simple.append("".join(word))
    if simple:
        yield simple


def _plain(kind: str, text: str) -> str:
    if kind == "double":
        return _ESCAPE.sub(lambda match: match[1].strip("\n"), text)
    return "" if kind == "escaped" and text == "\n" else text


def _without_here_documents(line: str) -> str:
    """Leave out text that the line only feeds to a program."""
    kept: list[str] = []
    ending = ""
    for each in line.split("\n"):
        if ending:
            ending = "" if each.strip("\t") == ending else ending
            continue
        kept.append(each)
        opened = _HERE_DOCUMENT.search(each)
        ending = opened[2] if opened else ""
    return "\n".join(kept)


def _program(simple: list[str]) -> list[str]:
    """Return the words of a simple command from the program on, without what only starts it."""
    rest = list(simple)
    launched = False
    while rest:
        if rest[:2] in (["uv", "run"], ["poetry", "run"], ["pipx", "run"]):
            launched, rest = True, rest[2:]
        elif rest[0] in _KEYWORDS or _ASSIGNMENT.match(rest[0]):
            rest = rest[1:]
        elif rest[0] in _LAUNCHERS:
            launched, rest = True, rest[1:]
        elif launched and rest[0] in _VALUED:
            rest = rest[2:]
        elif launched and (rest[0].startswith("-") or _NUMBER.fullmatch(rest[0])):
            rest = rest[1:]
        else:
            break
    return rest


def _name(program: list[str]) -> str:
    return program[0].replace("\\", "/").rsplit("/", 1)[-1] if program else ""


def _is_own(program: list[str]) -> bool:
    name = _name(program)
    if name in _OWN_PROGRAMS:
        return True
    module = program[program.index("-m") + 1 :][:1] if "-m" in program else []
    return name.startswith("python") and bool(_OWN_MODULES & set(module))

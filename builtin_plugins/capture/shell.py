"""Reads shell command lines as far as capture needs: which programs, which words."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SEPARATORS = re.compile(r"&&|\|\||\|&|[;|&\n(){}`]|\$\(")
# A word: quoted parts and bare characters, without the blanks between words.
_WORD = re.compile(r"""(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'])+""", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_PREFIXES = frozenset(
    {"builtin", "command", "doas", "env", "exec", "nice", "nohup", "sudo", "time", "uvx", "xargs"}
)
_OWN_PROGRAMS = frozenset({"cognee", "cognee-cli", "cognee-hooks"})
_OWN_MODULES = frozenset({"cognee", "cognee_hooks"})


def words(command: str) -> Iterator[str]:
    """Yield the words of a command line without their quotes; works on broken quoting too."""
    for segment in _SEPARATORS.split(command):
        for word in _WORD.findall(segment):
            yield _unquoted(word)


def runs_own_program(command: str) -> bool:
    """Whether the line runs a program of ours, as opposed to mentioning it in a path or a text."""
    return any(_is_own(_program(segment)) for segment in _SEPARATORS.split(command))


def _program(segment: str) -> list[str]:
    """Return the words of a segment from the program on."""
    found = [_unquoted(word) for word in _WORD.findall(segment)]
    while found and (_ASSIGNMENT.match(found[0]) or found[0] in _PREFIXES or found[0][:1] == "-"):
        found.pop(0)
    if found[:2] in (["uv", "run"], ["poetry", "run"], ["pipx", "run"]):
        return found[2:]
    return found


def _is_own(program: list[str]) -> bool:
    if not program:
        return False
    name = program[0].replace("\\", "/").rsplit("/", 1)[-1]
    if name in _OWN_PROGRAMS:
        return True
    module = program[program.index("-m") + 1 :][:1] if "-m" in program else []
    return name.startswith("python") and bool(_OWN_MODULES & set(module))


def _unquoted(word: str) -> str:
    return re.sub(r"""\\(.)|["']""", lambda match: match.group(1) or "", word, flags=re.DOTALL)

"""Finds what in a prompt is the name of something in code.

Takes the redacted prompt only: a name is sent to the server, and a token may be one. What touches a
tag of redaction is the rest of something that was cut, so it is no name either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from cognee_hooks.redaction import masked

DEFAULT_LIMIT = 2
SHORTEST = 3
LONGEST = 120

CODE_SUFFIXES = frozenset(
    "c cc cpp cs cxx dart fs go h hcl hh hpp java js jsx kt kts php proto py rake rb rs scala "
    "svelte swift tf ts tsx vb vue".split()
)
"""File name endings of languages that the server's indexer reads."""

_CUT = "\0"
_GLUE = frozenset("./:@-_")
_EDGES = " \t.,:;()[]{}"

_SUFFIXES = "|".join(sorted(CODE_SUFFIXES, key=lambda each: (-len(each), each)))
_TICKS = re.compile(r"`([^`\n]{2,120})`")
_IN_TICKS = re.compile(r"[\w./:>#-]+", re.ASCII)
_PATH = re.compile(rf"\b[\w./-]{{1,120}}\.(?:{_SUFFIXES})\b", re.ASCII)
_DOTTED = re.compile(r"\b[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)+\b", re.ASCII)
_WORD = re.compile(r"\b[A-Za-z_]\w{2,119}\b", re.ASCII)
_SNAKE = re.compile(r"[^_]_+[^_]|\A_+[A-Za-z]|[A-Za-z0-9]_+\Z")
_CAMEL = re.compile(r"[a-z][0-9]*[A-Z]|[A-Z]{2,}[a-z]{2}|\A[A-Z][0-9]+[A-Z][a-z]")

_DOMAINS = frozenset("com org net io ai dev".split())
_NOT_CODE = frozenset("md mdx rst txt pdf png jpg svg csv lock".split())
_PRODUCTS = frozenset(
    "asp.net bigquery claude claudecode codex cognee devops d3.js dynamodb express.js facebook "
    "github gitlab graphql iphone ipad javascript linkedin macos mariadb mongodb mysql next.js "
    "nginx node.js nosql nuxt.js oauth openai opencode paypal phpmyadmin postgresql powershell "
    "pytorch rabbitmq react.js readme restful socket.io stackoverflow sqlite tensorflow three.js "
    "todos typescript vscode vue.js webassembly websocket wifi wordpress youtube".split()
)
"""Names of products and of common things that are spelled like names in code."""


def identifiers(prompt: str, limit: int = DEFAULT_LIMIT) -> list[str]:
    """Return the names in a prompt, what was quoted as code first.

    Args:
        prompt: The redacted prompt.
        limit: Names at most.
    """
    text = masked(prompt, _CUT)
    found: dict[str, str] = {}
    for token in _tokens(text):
        name = token.strip(_EDGES)
        folded = name.lower()
        if SHORTEST <= len(name) <= LONGEST and folded not in _PRODUCTS:
            found.setdefault(folded, name)
        if len(found) == limit:
            break
    return list(found.values())


def is_path(name: str) -> bool:
    """Whether a name is that of a source file."""
    return PurePosixPath(name).suffix[1:] in CODE_SUFFIXES


def _tokens(text: str) -> Iterator[str]:
    for match in _TICKS.finditer(text):
        inner = match[1].strip(_EDGES)
        if _IN_TICKS.fullmatch(inner):
            yield inner
    yield from (path for path in _whole(_PATH, text) if _is_file(path))
    yield from (name for name in _whole(_DOTTED, text) if _is_dotted(name))
    words = list(_whole(_WORD, text))
    yield from filter(_SNAKE.search, words)
    yield from filter(_CAMEL.search, words)


def _whole(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """Yield matches that are no remains of something that redaction cut."""
    for match in pattern.finditer(text):
        start, end = match.span()
        while start and text[start - 1] in _GLUE:
            start -= 1
        while end < len(text) and text[end] in _GLUE:
            end += 1
        if _CUT not in (text[start - 1 : start], text[end : end + 1]):
            yield match[0]


def _is_file(path: str) -> bool:
    stem = path.rpartition(".")[0]
    return "/" in path or any(len(part) > 1 for part in stem.split("."))


def _is_dotted(name: str) -> bool:
    parts = name.replace("::", ".").split(".")
    last = parts[-1].lower()
    if last in _NOT_CODE or (last in _DOMAINS and "::" not in name):
        return False
    return len(name) >= 5 and any(len(part) >= SHORTEST for part in parts)  # noqa: PLR2004

"""Adds one table to a TOML file, and takes it out again, and leaves all else as written.

The standard library reads TOML but does not write it; so lines are changed, and the result is read
back: an edit that does not mean exactly what was wanted is refused.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

UNUSUAL = "its tables are written in a way that cannot be edited line by line"
"""Says of a file that an edit would not mean what was wanted."""

_HEADER = re.compile(r"[ \t]*\[{1,2}(?P<name>[^\]\n]+)\]{1,2}[ \t]*(?:\#.*)?\r?\n?\Z")


class ConfigEditError(ValueError):
    """The file cannot be edited line by line; the message says why."""


def read_both(before: str, after: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a file means before and after an edit.

    Raises:
        ConfigEditError: One of them is not TOML.
    """
    try:
        return tomllib.loads(before), tomllib.loads(after)
    except tomllib.TOMLDecodeError as error:
        text = f"it is not TOML that can be edited line by line ({error})"
        raise ConfigEditError(text) from error


def table_of(text: str, path: Sequence[str]) -> Mapping[str, Any] | None:
    """Return a table; None where there is none, or the file cannot be read."""
    try:
        found: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else None


def with_table(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """Return the file with a table, in the place of one of that name.

    Args:
        text: The file.
        path: Keys that lead to the table.
        value: Strings, and lists of strings.

    Raises:
        ConfigEditError: The file is broken, or written in a way that lines cannot be added to.
    """
    if table_of(text, path) == value:
        return text
    rest = without_table(text, path)
    newline = "\r\n" if "\r\n" in rest else "\n"
    start = rest if not rest or rest.endswith("\n") else rest + newline
    lines = [f"[{'.'.join(_key(each) for each in path)}]"]
    lines += [
        f"{_key(name)} = {json.dumps(each, ensure_ascii=False)}" for name, each in value.items()
    ]
    result = start + (newline if start else "") + newline.join(lines) + newline
    return _verified(text, result, path, value)


def without_table(text: str, path: Sequence[str]) -> str:
    """Return the file without a table, what is below it, and the blank line above it.

    Raises:
        ConfigEditError: As `with_table`.
    """
    if table_of(text, path) is None:
        return text
    kept: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        header = _HEADER.match(line)
        if header is not None:
            inside = _parts(header["name"])[: len(path)] == list(path)
            if inside and kept and not kept[-1].strip():
                kept.pop()
        if not inside:
            kept.append(line)
    return _verified(text, "".join(kept), path, None)


def _parts(name: str) -> list[str]:
    """Return the keys of a header."""
    try:
        found: Any = tomllib.loads(f"[{name}]")
    except tomllib.TOMLDecodeError:
        return []
    parts = []
    while isinstance(found, dict) and found:
        key, found = next(iter(found.items()))
        parts.append(key)
    return parts


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _verified(before: str, after: str, path: Sequence[str], value: Mapping[str, Any] | None) -> str:
    wanted, found = read_both(before, after)
    if table_of(after, path) != value or _rest(wanted, path) != _rest(found, path):
        raise ConfigEditError(UNUSUAL)
    return after


def _rest(document: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """Return a document without a table, and without tables that held only it."""
    rest = dict(document)
    inner = rest.pop(path[0], None)
    if len(path) > 1 and isinstance(inner, dict):
        inner = _rest(inner, path[1:]) or None
    elif len(path) == 1:
        inner = None
    if inner is not None:
        rest[path[0]] = inner
    return rest

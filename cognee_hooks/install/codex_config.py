"""Edits which hooks a person trusts in Codex's ``config.toml``, and leaves all else as written.

Codex keeps one table for each hook, ``[hooks.state."<key>"]``, with the hash of what was trusted.
The standard library reads TOML but does not write it; so lines are changed here, and the result is
read back: an edit that does not mean exactly what was wanted is refused.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from copy import deepcopy
from typing import Any

from cognee_hooks.install.tomltable import UNUSUAL, ConfigEditError, read_both

HASH = "trusted_hash"

_TABLE = re.compile(r"[ \t]*\[")
_STATE = re.compile(
    r"""[ \t]*\[[ \t]*hooks[ \t]*\.[ \t]*state[ \t]*"""
    r"""(?:\.[ \t]*(?P<key>"(?:[^"\\]|\\.)*"|'[^']*')[ \t]*)?\][ \t]*(?:\#.*)?\r?\n?\Z"""
)
_HASH_LINE = re.compile(rf"[ \t]*{HASH}[ \t]*=")


def trusted_hashes(text: str) -> dict[str, str]:
    """Return the hash that is trusted under each key; empty where the file cannot be read."""
    try:
        states = _states(tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        return {}
    found = {key: state.get(HASH) for key, state in states.items() if isinstance(state, dict)}
    return {key: value for key, value in found.items() if isinstance(value, str)}


def with_trust(text: str, hashes: Mapping[str, str]) -> str:
    """Return the file with these hashes trusted.

    Args:
        text: The file.
        hashes: Hash by key.

    Raises:
        ConfigEditError: The file is broken, or written in a way that lines cannot be added to.
    """
    trusted = trusted_hashes(text)
    missing = {key: value for key, value in hashes.items() if trusted.get(key) != value}
    newline = "\r\n" if "\r\n" in text else "\n"
    blocks = list(_blocks(text))
    for index, (key, lines) in enumerate(blocks):
        if key is not None and key in missing:
            line = f'{HASH} = "{missing.pop(key)}"{newline}'
            body = [each for each in lines[1:] if not _HASH_LINE.match(each)]
            blocks[index] = (key, [lines[0], line, *body])
    result = "".join(line for _, lines in blocks for line in lines)
    for key, value in missing.items():
        result += "" if not result or result.endswith("\n") else newline
        result += newline if result else ""
        result += f'[hooks.state.{_quoted(key)}]{newline}{HASH} = "{value}"{newline}'

    def change(states: dict[str, Any]) -> None:
        for key, value in hashes.items():
            states.setdefault(key, {})[HASH] = value

    return _verified(text, result, change)


def without_trust(text: str, gone: Collection[str], moved: Mapping[str, str]) -> str:
    """Return the file without some keys, and with others under a new name.

    Args:
        text: The file.
        gone: Keys to remove.
        moved: New key by old key, for hooks of others that now stand at another place.

    Raises:
        ConfigEditError: The file is broken, or written in a way that lines cannot be taken from.
    """
    known = trusted_hashes(text)
    if not (set(gone) | set(moved)) & set(known):
        return text
    kept: list[tuple[str | None, list[str]]] = []
    for key, lines in _blocks(text):
        if key is not None and key in moved:
            kept.append((moved[key], [_renamed(lines[0], moved[key]), *lines[1:]]))
        elif key is not None and key in gone:
            _drop(kept, lines)
        else:
            kept.append((key, lines))
    if not any(key for key, _ in kept):
        blocks, kept = kept, []
        for key, lines in blocks:
            if key == "" and not any(_says_something(each) for each in lines[1:]):
                _drop(kept, lines)
            else:
                kept.append((key, lines))

    def change(states: dict[str, Any]) -> None:
        values = {old: states.pop(old) for old in moved if old in states}
        for key in gone:
            states.pop(key, None)
        states.update((moved[old], value) for old, value in values.items())

    return _verified(text, "".join(line for _, lines in kept for line in lines), change)


def _blocks(text: str) -> Iterator[tuple[str | None, list[str]]]:
    """Yield tables: the key of a hook's state, "" for the table above them, None for others."""
    key: str | None = None
    lines: list[str] = []
    for line in re.findall(r"[^\n]*\n|[^\n]+\Z", text):
        if _TABLE.match(line):
            yield key, lines
            key, lines = _key_of(line), []
        lines.append(line)
    yield key, lines


def _key_of(header: str) -> str | None:
    match = _STATE.match(header)
    if match is None:
        return None
    if match["key"] is None:
        return ""
    try:
        key: str = tomllib.loads(f"key = {match['key']}")["key"]
    except tomllib.TOMLDecodeError:
        return None
    return key


def _renamed(header: str, key: str) -> str:
    return re.sub(r"""("(?:[^"\\\\]|\\\\.)*"|'[^']*')""", lambda _: _quoted(key), header, count=1)


def _drop(kept: list[tuple[str | None, list[str]]], lines: list[str]) -> None:
    """Leave a table out, with the blank line above it; what follows its last entry stays."""
    end = len(lines)
    while end > 1 and not _says_something(lines[end - 1]):
        end -= 1
    before = kept[-1][1] if kept else []
    if before and not before[-1].strip():
        before.pop()
    kept.append((None, lines[end:]))


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _quoted(key: str) -> str:
    # Escapes of JSON are escapes of TOML.
    return json.dumps(key, ensure_ascii=False)


def _states(document: Mapping[str, Any]) -> dict[str, Any]:
    hooks = document.get("hooks")
    states = hooks.get("state") if isinstance(hooks, dict) else None
    return states if isinstance(states, dict) else {}


def _verified(before: str, after: str, change: Callable[[dict[str, Any]], None]) -> str:
    wanted, found = read_both(before, after)
    states = deepcopy(_states(wanted))
    change(states)
    if _states(found) != states or _rest(wanted) != _rest(found):
        raise ConfigEditError(UNUSUAL)
    return after


def _rest(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document without the states of hooks, and without tables that held only them."""
    rest = dict(document)
    hooks = rest.get("hooks")
    if isinstance(hooks, dict):
        left = {key: value for key, value in hooks.items() if key != "state"}
        rest.pop("hooks")
        if left:
            rest["hooks"] = left
    return rest

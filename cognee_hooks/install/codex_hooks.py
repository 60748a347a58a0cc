"""Hooks in a Codex ``hooks.json``: the key and the hash under which each one is trusted.

A key is made of the file's path, the event, and the places of group and handler; a hash covers what
the hook does. Codex 0.171 runs a hook only when its configuration trusts that hash under that key.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cognee_hooks.install.command import MARKER
from cognee_hooks.install.jsontext import JsonKind, JsonTextError, parse

_DEFAULT_TIMEOUT = 600
_SHORT = {"SessionEnd": 1, "Interrupt": 1}
_WITHOUT_MATCHER = frozenset({"UserPromptSubmit", "Stop"})
_HASHED = ("type", "command", "timeout", "async", "statusMessage")
_WORD = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Hook:
    """One handler in a file.

    Attributes:
        event: The event's name.
        key: Under which it is trusted.
        hash: What has to be trusted.
        ours: Whether it calls us.
    """

    event: str
    key: str
    hash: str
    ours: bool


def hooks_of(text: str, path: Path | str) -> list[Hook]:
    """Return all handlers of a file, none where the file cannot be read.

    Args:
        text: The file.
        path: Its path as Codex names it.
    """
    try:
        # The scanner is asked first because it does not care how deep a document is.
        depth_is_fine = parse(text).kind is JsonKind.OBJECT
        document = json.loads(text) if depth_is_fine else {}
    except (JsonTextError, RecursionError):
        return []
    table = document.get("hooks")
    return list(_handlers(table, path)) if isinstance(table, dict) else []


def moved_keys(before: list[Hook], after: list[Hook]) -> dict[str, str]:
    """Return new keys by old keys of the hooks of others that changed their place."""
    moved: dict[str, str] = {}
    for event in {each.event for each in before}:
        old = [each.key for each in before if each.event == event and not each.ours]
        new = [each.key for each in after if each.event == event and not each.ours]
        moved |= {a: b for a, b in zip(old, new, strict=False) if a != b}
    return moved


def _handlers(table: Mapping[str, Any], path: Path | str) -> Iterator[Hook]:
    for event, groups in table.items():
        for group_index, group in enumerate(groups if isinstance(groups, list) else []):
            inner = group.get("hooks") if isinstance(group, dict) else None
            for index, handler in enumerate(inner if isinstance(inner, list) else []):
                if isinstance(handler, dict):
                    name = snake_case(event)
                    yield Hook(
                        event,
                        f"{path}:{name}:{group_index}:{index}",
                        _hash(event, group.get("matcher"), handler),
                        MARKER in str(handler.get("command")),
                    )


def snake_case(event: str) -> str:
    """Return an event's name as keys have it."""
    return _WORD.sub("_", event).lower()


def _hash(event: str, matcher: object, handler: Mapping[str, Any]) -> str:
    known = {"timeout": _SHORT.get(event, _DEFAULT_TIMEOUT), "async": False}
    known |= {key: handler[key] for key in _HASHED if handler.get(key) is not None}
    hashed: dict[str, Any] = {"event_name": snake_case(event), "hooks": [known]}
    if matcher is not None and event not in _WITHOUT_MATCHER:
        hashed["matcher"] = matcher
    text = json.dumps(hashed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

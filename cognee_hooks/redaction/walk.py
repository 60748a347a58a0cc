"""Walks JSON-like values: which strings there are, which values go whole, what is too much."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cognee_hooks.redaction.names import kind_of
from cognee_hooks.redaction.text import cut
from cognee_hooks.redaction.types import Redacted

MAX_DEPTH = 64
MAX_NODES = 50_000
TOO_DEEP = "[left out: nested too deeply]"
TOO_MANY = "[left out: too many values]"

_NAMES = ("name", "Name", "key", "Key", "ParameterKey")
_VALUES = ("value", "Value", "ParameterValue")
_OPTION = re.compile(r"--?[A-Za-z][\w-]*")
_HEADER = re.compile(r"\w+(?:-\w+)+|authorization|cookie", re.IGNORECASE)
_PAIR = 2


class Walker:
    """Collects the strings of a value and puts others in their place.

    The work is done in two passes, because redacting a string may have to wait: `collect` returns
    them, `rebuild` takes what became of them.

    Args:
        by_name: Replace values under secret-looking keys whole.
    """

    def __init__(self, *, by_name: bool) -> None:
        self._by_name = by_name
        self._strings: list[str] = []
        self._nodes = 0

    def collect(self, value: Any) -> tuple[Any, list[str]]:
        """Return a skeleton of the value and the strings that it refers to.

        Args:
            value: Anything. What is no JSON becomes its type's name, never its text.
        """
        return self._skeleton(value, 0), self._strings

    def _skeleton(self, value: Any, depth: int) -> Any:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            return _Done(TOO_MANY)
        if isinstance(value, Redacted):
            return _Done(value.value)
        if isinstance(value, str):
            # Of a subclass only the characters count, not its methods.
            self._strings.append(str.__str__(value))
            return _Slot(len(self._strings) - 1)
        if value is None or isinstance(value, (bool, int)):
            return _Done(value)
        if isinstance(value, float):
            return _Done(value if math.isfinite(value) else None)
        if depth >= MAX_DEPTH:
            return _Done(TOO_DEEP)
        if isinstance(value, Mapping):
            return self._object(value, depth)
        if isinstance(value, (list, tuple)):
            return self._array(value, depth)
        return _Done(f"[{type(value).__name__}]")

    def _array(self, values: Sequence[Any], depth: int) -> list[Any]:
        items: list[Any] = []
        for index, each in enumerate(values):
            kind = self._kind_before(values, index)
            items.append(_tag(kind) if kind else self._skeleton(each, depth + 1))
            if self._nodes > MAX_NODES:
                break
        return items

    def _kind_before(self, values: Sequence[Any], index: int) -> str:
        """Return what the item before promises: an option's name, or a header's in a pair."""
        if not self._by_name or index == 0:
            return ""
        before, value = values[index - 1], values[index]
        if not isinstance(before, str) or not isinstance(value, str) or not value:
            return ""
        option = _OPTION.fullmatch(before) is not None and not value.startswith("-")
        header = len(values) == _PAIR and _HEADER.fullmatch(before) is not None
        return kind_of(before) if (option or header) and not kind_of(value) else ""

    def _object(self, value: Mapping[Any, Any], depth: int) -> _Object:
        pairs: list[tuple[Any, Any]] = []
        named = _kind_of_named(value) if self._by_name else ""
        for key, inner in value.items():
            if self._nodes > MAX_NODES:
                break
            name = key if isinstance(key, str) else str(type(key).__name__)
            name = str(key) if isinstance(key, (int, float, bool)) else name
            kind = kind_of(name) if self._by_name else ""
            kind = kind or (named if name in _VALUES else "")
            goes = kind and not _is_nothing(inner)
            shadow = _tag(kind) if goes else self._skeleton(inner, depth + 1)
            pairs.append((self._skeleton(name, depth + 1), shadow))
        return _Object(pairs)


def _kind_of_named(value: Mapping[Any, Any]) -> str:
    """Return what the name in ``{"name": ..., "value": ...}`` promises of the value."""
    if not any(each in value for each in _VALUES):
        return ""
    names = (value.get(each) for each in _NAMES)
    return next((kind_of(name) for name in names if isinstance(name, str)), "")


def _is_nothing(value: Any) -> bool:
    """Whether a value under a secret's name is no secret."""
    return (
        value is None
        or isinstance(value, (bool, Redacted))
        or (isinstance(value, str) and not value)
    )


def _tag(kind: str) -> _Done:
    return _Done(f"[redacted:{kind}]")


class _Slot:
    """A string's place."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


class _Done:
    """A value that stays as it is."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class _Object:
    """Keys and values of an object."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[Any, Any]]) -> None:
        self.pairs = pairs


def rebuild(skeleton: Any, strings: list[str], finish: Callable[[str], str]) -> Any:
    """Put redacted strings into a skeleton.

    Args:
        skeleton: From `Walker.collect`.
        strings: What became of the strings.
        finish: Last step for each string that is a value, such as a cut.
    """
    if isinstance(skeleton, _Slot):
        return finish(strings[skeleton.index])
    if isinstance(skeleton, _Done):
        value = skeleton.value
        return finish(value) if isinstance(value, str) else value
    if isinstance(skeleton, _Object):
        return {
            rebuild(key, strings, str): rebuild(inner, strings, finish)
            for key, inner in skeleton.pairs
        }
    return [rebuild(each, strings, finish) for each in skeleton]


def flattened(value: Any, max_bytes: int | None) -> Any:
    """Turn the values of an object that are no strings into compact JSON text."""
    if not isinstance(value, dict):
        return value
    flat: dict[str, str] = {}
    for key, inner in value.items():
        text = inner
        if not isinstance(inner, str):
            text = json.dumps(inner, ensure_ascii=False, separators=(",", ":"))
        flat[key] = text if max_bytes is None else cut(text, max_bytes)
    return flat

"""A value that must not be anywhere: found and taken out in every spelling that files use.

A value reaches a file as it is or as Python shows it, escaped in JSON, or in JSON within JSON, in a
quoted address, or in base64 at any of three alignments. What was cut off in the middle of the value
is not found.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar, final
from urllib.parse import quote, quote_plus

MARKER = "[redacted:scrubbed]"
"""Stands where the value stood. It needs no escaping in JSON."""

_FILL = b"*"
_GROUP = 3  # bytes that four characters of base64 hold
_BITS = 6
_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_ESCAPE = re.compile(r"\\u[0-9a-f]{4}|%[0-9A-F]{2}")

T = TypeVar("T")


@final
class Leak:
    """The value; it appears in no representation and cannot be asked for.

    Args:
        value: The value.
    """

    __slots__ = ("_forms", "_pattern", "longest")

    def __init__(self, value: str) -> None:
        raw = value.encode("utf-8", "surrogatepass")
        texts = {each.encode("utf-8", "surrogatepass") for each in _spellings(value)}
        self._forms = dict.fromkeys(texts, MARKER.encode())
        for inner in {raw, json.dumps(value)[1:-1].encode()}:
            self._forms |= dict(_in_base64(inner))
        # Of two that begin alike the longer one, or its end would stay.
        ordered = sorted(self._forms, key=len, reverse=True)
        self._pattern = re.compile(b"|".join(map(re.escape, ordered)))
        self.longest = len(ordered[0])

    def __repr__(self) -> str:
        return "Leak(…)"

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("a leaked value stays inside the process that was told it")

    def is_in(self, data: bytes) -> bool:
        """Tell whether data holds the value in any spelling."""
        return any(form in data for form in self._forms)

    def count(self, data: bytes) -> int:
        """Return how often data holds the value."""
        return len(self._pattern.findall(data)) if self.is_in(data) else 0

    def cleaned_bytes(self, data: bytes) -> bytes:
        """Return data with `MARKER` in the place of the value, or as much base64 of stars."""
        if not self.is_in(data):
            return data
        cleaned = self._pattern.sub(lambda found: self._forms[found[0]], data)
        # Taking something out can bring together what was around it.
        return cleaned if not self.is_in(cleaned) else self.masked(cleaned)

    def masked(self, data: bytes) -> bytes:
        """Return data of the same length with stars in the place of the value."""
        while self.is_in(data):
            data = self._pattern.sub(lambda found: _FILL * len(found[0]), data)
        return data

    def places(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield where the value stands: where it begins, and how many bytes it takes."""
        for found in self._pattern.finditer(data) if self.is_in(data) else ():
            yield found.start(), len(found[0])

    def cleaned_text(self, text: str) -> str:
        """Return a text without the value."""
        data = text.encode("utf-8", "surrogatepass")
        return self.cleaned_bytes(data).decode("utf-8", "surrogatepass")

    def count_in(self, value: object) -> int:
        """Return how often a JSON value holds the value, in keys, texts and numbers."""
        if isinstance(value, dict):
            return sum(self.count_in(name) + self.count_in(each) for name, each in value.items())
        if isinstance(value, (list, tuple)):
            return sum(map(self.count_in, value))
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            return 0
        return self.count(str(value).encode("utf-8", "surrogatepass"))

    def cleaned(self, value: T) -> T:
        """Return a JSON value without the value in keys, texts and numbers."""
        found: Any = value
        if isinstance(found, str):
            found = self.cleaned_text(found)
        elif isinstance(found, dict):
            found = {self.cleaned(name): self.cleaned(each) for name, each in found.items()}
        elif isinstance(found, (list, tuple)):
            found = [self.cleaned(each) for each in found]
        elif self.count_in(found):
            found = MARKER
        return found  # type: ignore[no-any-return]


def _spellings(value: str) -> Iterator[str]:
    """Yield the value as text files spell it."""
    for text in (value, repr(value)[1:-1]):
        yield text
        for ascii_only in (True, False):
            once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
            for form in (once, once.replace("/", "\\/")):
                yield form
                yield _other_case(form)
                yield json.dumps(form, ensure_ascii=ascii_only)[1:-1]
    data = value.encode("utf-8", "surrogatepass")
    for form in (quote(data, safe=""), quote(data, safe="/"), quote_plus(data)):
        yield form
        yield _other_case(form)


def _other_case(text: str) -> str:
    """Return escapes with their digits in the other case."""
    return _ESCAPE.sub(_swapped, text)


def _swapped(found: re.Match[str]) -> str:
    kind = 2 if found[0].startswith("\\u") else 1
    return found[0][:kind] + found[0][kind:].swapcase()


def _in_base64(value: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield what base64 makes of the value wherever it begins, with what takes its place.

    Only the characters are taken that depend on the value alone.
    """
    for before in range(_GROUP):
        first = -(-before * 8 // _BITS)
        last = (before + len(value)) * 8 // _BITS
        forms = [
            base64.b64encode(bytes(before) + each + bytes(_GROUP))[first:last]
            for each in (value, _FILL * len(value))
        ]
        yield forms[0], forms[1]
        yield forms[0].translate(_URL_SAFE), forms[1].translate(_URL_SAFE)

"""Fits segments into one line."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from cognee_hooks.results import StatusSegment

SEPARATOR = " · "
KEPT = 90
"""Segments of this priority and above are never left out, at most cut."""


def fitted(segments: Sequence[StatusSegment], max_width: int) -> str:
    """Join segments to a line that fits, leaving out the least important ones first.

    Args:
        segments: Highest priority first.
        max_width: Terminal cells.
    """
    shown = list(segments)
    while cells(line := SEPARATOR.join(each.text for each in shown)) > max_width:
        spare = [each for each in shown if each.priority < KEPT]
        if not spare:
            return _cut(line, max_width)
        shown.remove(min(reversed(spare), key=lambda each: each.priority))
    return line


def cells(text: str) -> int:
    """Return how many terminal cells a text takes."""
    return sum(_width(each) for each in text)


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"F", "W"} else 1


def _cut(text: str, max_width: int) -> str:
    room = max_width
    for index, character in enumerate(text):
        room -= _width(character)
        if room < 0:
            return text[:index]
    return text

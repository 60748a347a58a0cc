"""Stretches of text that a rule wants cut, and how they become tags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cognee_hooks.redaction.shapes import tags

_REMAINDER = 6
"""Letters and digits beside a tag that may still be a piece of a secret."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch that is a secret.

    Attributes:
        start: First character.
        end: Behind the last.
        rule: Who says so.
        label: Word in the tag.
    """

    start: int
    end: int
    rule: str
    label: str


def merge(text: str, spans: Iterable[Span]) -> list[Span]:
    """Order spans, join those that overlap, and keep them off tags that are there already.

    The widest of overlapping spans gives the name, so that a key inside an assignment is cut whole
    with the rest of the value.
    """
    merged: list[Span] = []
    for span in sorted(_outside(text, spans, tags(text)), key=lambda each: (each.start, -each.end)):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            if span.end > last.end:
                merged[-1] = Span(last.start, span.end, last.rule, last.label)
        else:
            merged.append(span)
    return merged


def replace(text: str, spans: Iterable[Span]) -> str:
    """Put a tag in the place of each span; they must be ordered and apart."""
    parts: list[str] = []
    position = 0
    for span in spans:
        parts += [text[position : span.start], f"[redacted:{span.label}]"]
        position = span.end
    return "".join([*parts, text[position:]])


def _outside(text: str, spans: Iterable[Span], taken: list[tuple[int, int]]) -> Iterator[Span]:
    """Cut tags out of spans; of a span that met one, only a real remainder is kept."""
    for span in spans:
        meets = [(start, end) for start, end in taken if start < span.end and span.start < end]
        if not meets:
            yield span
            continue
        first = span.start
        for start, end in [*meets, (span.end, span.end)]:
            if sum(map(str.isalnum, text[first:start])) >= _REMAINDER:
                yield Span(first, start, span.rule, span.label)
            first = max(first, end)

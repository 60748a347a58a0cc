"""Cuts a document into passages that are small enough to rank and to show whole."""

from __future__ import annotations

import re

_TARGET = 1200
_PARAGRAPH_BREAK = re.compile(r"\n[ \t]*\n")


def passages(text: str) -> list[str]:
    """Cut a text at paragraph ends into passages of at most 1200 characters.

    Short paragraphs share a passage, so that a heading stays with what it heads; a longer one is
    cut at a line end or a space where there is one.

    Args:
        text: The document.

    Returns:
        The passages in order, none blank.
    """
    done: list[str] = []
    current = ""
    for paragraph in _PARAGRAPH_BREAK.split(text):
        for piece in _pieces(paragraph.strip("\n")):
            if current and len(current) + len(piece) + 2 > _TARGET:
                done.append(current)
                current = ""
            current = f"{current}\n\n{piece}" if current else piece
    return [passage for passage in [*done, current] if passage.strip()]


def _pieces(paragraph: str) -> list[str]:
    pieces: list[str] = []
    rest = paragraph
    while len(rest) > _TARGET:
        cut = max(rest.rfind("\n", 0, _TARGET), 0) or max(rest.rfind(" ", 0, _TARGET), 0) or _TARGET
        pieces.append(rest[:cut])
        rest = rest[cut:].lstrip("\n ")
    if rest.strip():
        pieces.append(rest)
    return pieces

"""Writes the anchor: what a conversation was about before its agent compacted it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cognee_hooks.events import Turn
from cognee_hooks.framing import DATA_NOTE, FOOTER, harmless
from cognee_hooks.redaction import cut

HEADER = "=== Cognee memory: from before the compaction ==="
TITLE = "## Cognee Memory Anchor\nWhat this conversation was about before it was compacted:"
TURNS_HEADING = "### Session Memory (recent turns)"
MEMORY_HEADING = "### Cognee Memory"
MAX_TURNS = 5
MAX_TEXT_BYTES = 300
"""Of a question or an answer."""
_BETWEEN = "\n\n"
_WORTHWHILE = 200
"""Bytes below which the beginning of a passage says nothing."""
_TELLING = 40
"""Characters that two texts do not share by chance."""
_FRAME = 200
"""Characters that a server puts around a stored turn."""


def turns_section(turns: Sequence[Turn]) -> str:
    """Return the latest turns, a line for each question and each answer; "" without any."""
    lines = []
    for turn in turns[-MAX_TURNS:]:
        for mark, text in (("Q", turn.question), ("A", turn.answer)):
            if short := cut(" ".join(text.split()), MAX_TEXT_BYTES):
                lines.append(f"- {mark}: {short}")
    return "\n".join([TURNS_HEADING, *lines]) if lines else ""


def anchor_text(turns: Sequence[Turn], passages: Iterable[str], max_bytes: int) -> str:
    """Return the anchor; "" where there are no turns, or none that fits.

    What was said comes first, since a server may find passages for anything; where room is short
    the oldest turns go. Passages fill the room that is left, whole ones before the beginning of one
    that is too long.

    Args:
        turns: Redacted turns, the oldest first.
        passages: What the server remembers about them, best first.
        max_bytes: Longest anchor in UTF-8 bytes.
    """
    kept = list(turns[-MAX_TURNS:])
    while kept and len((anchor := _of_turns(kept)).encode()) > max_bytes:
        kept.pop(0)
    if not kept:
        return ""
    heading = f"{_BETWEEN}{MEMORY_HEADING}"
    telling = [each for each in passages if not _only_repeats(each, kept)]
    chosen = _fitting(telling, max_bytes - len(f"{anchor}{heading}".encode()))
    if chosen:
        anchor += "\n".join([heading, *chosen])
    return anchor


def not_among(turns: Sequence[Turn], passages: Sequence[str]) -> list[Turn]:
    """Return the turns that none of the passages tells."""
    known = [" ".join(passage.split()) for passage in passages]
    return [turn for turn in turns if not any(_told(turn, passage) for passage in known)]


def block(anchor: str, max_bytes: int) -> str:
    """Return an anchor as a section for the model, in which nothing can pose as an order.

    Args:
        anchor: Redacted text.
        max_bytes: Longest section in UTF-8 bytes.
    """
    head, foot = f"{HEADER}\n{DATA_NOTE}\n", f"\n{FOOTER}"
    body = cut(harmless(anchor), max_bytes - len(f"{head}{foot}".encode()))
    return f"{head}{body}{foot}"


def _of_turns(turns: Sequence[Turn]) -> str:
    return f"{TITLE}{_BETWEEN}{turns_section(turns)}"


def _fitting(passages: Iterable[str], room: int) -> list[str]:
    """Choose what fits into ``room`` bytes, a line break before each."""
    chosen: list[str] = []
    too_long = ""
    for passage in filter(None, map(str.strip, passages)):
        size = len(passage.encode()) + 1
        if size <= room:
            chosen.append(passage)
            room -= size
        else:
            too_long = too_long or passage
    if too_long and not chosen and room >= _WORTHWHILE:
        chosen.append(cut(too_long, room - 1))
    return chosen


def _only_repeats(passage: str, turns: Sequence[Turn]) -> bool:
    """Tell whether a passage is one of the turns, as capture stored it."""
    plain = " ".join(passage.split())
    for turn in turns:
        asked, said = (" ".join(text.split()) for text in (turn.question, turn.answer))
        short = len(plain) <= len(asked) + len(said) + _FRAME
        if short and said and asked in plain and said in plain:
            return True
    return False


def _told(turn: Turn, passage: str) -> bool:
    told = " ".join((turn.answer or turn.question).split())
    return len(told) >= _TELLING and told[:MAX_TEXT_BYTES] in passage

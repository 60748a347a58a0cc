"""Fits segments into one line, and colours it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from builtin_plugins.statusline.cells import cells, cut_to_cells
from cognee_hooks.results import StatusSegment

SEPARATOR = " · "
KEPT = 90
"""Segments of this priority and above are never left out, at most cut."""

_GREEN, _YELLOW, _RED, _DIM, _PLAIN = (f"\x1b[{code}m" for code in (32, 33, 31, 2, 0))
_MARKS = {"●": _GREEN, "◐": _YELLOW, "✕": _RED}
"""Colours of the mark that a line begins with."""


@dataclass(slots=True)
class _Part:
    """A segment with the form in which it is shown now."""

    segment: StatusSegment
    form: int = 0

    @property
    def text(self) -> str:
        return (self.segment.text, *self.segment.shorter)[self.form]


def fitted(segments: Sequence[StatusSegment], max_width: int) -> list[str]:
    """Return the texts that make a line that fits, joined by `SEPARATOR`.

    Where it is too long, the least important segment, of equals the last, takes its next shorter
    form, or goes if it has none; and so on until the line fits. Where only segments are left that
    always stay, the line is cut and returned as one text.

    Args:
        segments: Highest priority first.
        max_width: Terminal cells.
    """
    parts = [_Part(each) for each in segments]
    while cells(line := SEPARATOR.join(each.text for each in parts)) > max_width:
        spare = [each for each in parts if _can_shrink(each)]
        if not spare:
            return [cut_to_cells(line, max_width)]
        least = min(reversed(spare), key=lambda each: each.segment.priority)
        if least.form < len(least.segment.shorter):
            least.form += 1
        else:
            parts = [each for each in parts if each is not least]
    return [each.text for each in parts]


def coloured(texts: Sequence[str]) -> str:
    """Return the line with the mark at its beginning in the mark's colour, and a dim rest."""
    head, *rest = texts or [""]
    if head[:1] in _MARKS:
        head = f"{_MARKS[head[0]]}{head[0]}{_PLAIN}{head[1:]}"
    return f"{head}{_DIM}{SEPARATOR}{SEPARATOR.join(rest)}{_PLAIN}" if rest else head


def _can_shrink(part: _Part) -> bool:
    return part.segment.priority < KEPT or part.form < len(part.segment.shorter)

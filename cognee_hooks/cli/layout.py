"""How a table is laid out in the room that there is: in columns, or row by row."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence

from cognee_hooks.services.process import current_environ

WIDE = 200
"""Columns where there is no terminal: another program reads it, or it goes into a file."""
GAP = 2
"""Columns between two columns of a table, and beside the first and the last together."""
LONGEST_WORD = 30
"""Cells; only longer words, such as paths and ids, may be broken to make a table fit."""
_INDENT = "  "
_BETWEEN = " · "
_ROWS = 24

Row = Sequence[str]


def room() -> int:
    """Return how many columns there are: the terminal's, or what ``COLUMNS`` says."""
    if sys.stdout.isatty() or current_environ().get("COLUMNS", "").isdecimal():
        return shutil.get_terminal_size((WIDE, _ROWS)).columns
    return WIDE


def column_widths(headings: Row, rows: Sequence[Row], columns: int) -> list[int] | None:
    """Return how wide each column of a table may be, the widest ones made narrower first.

    Args:
        headings: One for each column.
        rows: The cells.
        columns: Room for the whole table.

    Returns:
        Cells of each column; None where words would have to be broken to make the table fit.
    """
    table = [headings, *rows]
    cells = [[row[index] for row in table] for index in range(len(headings))]
    widths = [max(_widest(text.splitlines()) for text in column) for column in cells]
    least = [min(LONGEST_WORD, max(_widest(text.split()) for text in column)) for column in cells]
    left = columns - GAP * len(headings)
    if sum(least) > left:
        return None
    widths = [min(width, left) for width in widths]
    while sum(widths) > left:
        spare = [(width, index) for index, width in enumerate(widths) if width > least[index]]
        _, index = max(spare)
        widths[index] -= 1
    return widths


def as_records(headings: Row, rows: Sequence[Row], columns: int) -> list[str]:
    """Return lines that tell a table row by row, for a terminal that has no room for columns.

    Args:
        headings: One for each column; the first is left out, its cell heads the row.
        rows: The cells; empty ones are left out.
        columns: Room for a line. Longer words stay whole.
    """
    lines: list[str] = []
    for first, *others in rows:
        named = zip(headings[1:], others, strict=True)
        told = [f"{heading}: {cell}" if heading else cell for heading, cell in named if cell]
        lines += [first, *_packed(told, max(columns, LONGEST_WORD))]
    return lines


def _packed(parts: Sequence[str], columns: int) -> list[str]:
    """Return lines that hold as many parts as have room, so that most parts stay in one piece."""
    lines: list[str] = []
    for part in parts:
        joined = f"{lines[-1]}{_BETWEEN}{part}" if lines else ""
        if joined and "\n" not in part and _widest([joined]) <= columns:
            lines[-1] = joined
            continue
        for line in part.splitlines():
            lines += textwrap.wrap(
                line,
                columns,
                initial_indent=_INDENT,
                subsequent_indent=_INDENT,
                break_long_words=False,
                break_on_hyphens=False,
            )
    return lines


def _widest(texts: Sequence[str]) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, texts), default=0)

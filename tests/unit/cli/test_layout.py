"""Tables in the room that there is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from cognee_hooks.cli.common import print_table
from cognee_hooks.cli.layout import GAP, WIDE, as_records, column_widths, room

HEADINGS = ("session", "", "captured")
ROWS = [("claude_1", "live", "12"), ("claude_2", "", "7")]
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=12)
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)


def test_a_table_that_has_room_is_as_wide_as_its_cells() -> None:
    assert column_widths(HEADINGS, ROWS, 80) == [8, 4, 8]


def test_the_widest_column_is_made_narrower_first() -> None:
    rows = [("a", "some words that go on and on")]

    assert column_widths(("name", "what"), rows, 20) == [4, 20 - 4 - 2 * GAP]


def test_no_word_and_no_heading_is_broken() -> None:
    assert column_widths(HEADINGS, ROWS, 20) is None


def test_a_word_that_is_longer_than_any_sentence_needs_may_be_broken() -> None:
    assert column_widths(("path",), [("/" * 100,)], 50) == [48]


def test_a_cell_without_end_costs_no_time() -> None:
    began = time.monotonic()

    assert column_widths(("a", "b"), [("x", "word " * 400_000)], 80) == [1, 75]

    assert time.monotonic() - began < 5


def test_without_room_for_columns_rows_are_told_one_by_one_without_what_is_empty() -> None:
    assert as_records(HEADINGS, ROWS, 40) == [
        "claude_1",
        "  live · captured: 12",
        "claude_2",
        "  captured: 7",
    ]


def test_what_belongs_together_stays_on_one_line() -> None:
    lines = as_records(("a", "first", "second"), [("x", "1" * 20, "2" * 20)], 40)

    assert lines == ["x", f"  first: {'1' * 20}", f"  second: {'2' * 20}"]


def test_lines_of_a_cell_stay_lines() -> None:
    assert as_records(("a", "b"), [("x", "found\n→ do")], 40) == ["x", "  b: found", "  → do"]


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_a_printed_table_is_never_wider_than_the_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))

    print_table(
        ("setting", "variable", "what it does"),
        [("recall.max_chars", "COGNEE_CONTEXT_MAX_CHARS", "Most characters of memory. " * 9)],
    )

    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    assert "COGNEE_CONTEXT_MAX_CHARS" in "\n".join(lines)
    assert not [line for line in lines if line != line.rstrip()]


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=5), st.integers(40, 200))
def test_widths_fill_no_more_than_the_room_and_hold_every_word(
    rows: list[tuple[str, str, str]], columns: int
) -> None:
    widths = column_widths(("a", "b", "c"), rows, columns)

    if widths is None:
        return
    assert sum(widths) + GAP * 3 <= columns
    for row in rows:
        for cell, width in zip(row, widths, strict=True):
            assert all(cell_len(word) <= width for word in cell.split())


def test_without_a_terminal_a_table_is_as_wide_as_programs_like(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)

    print_table(("a", "b"), [("x", "word " * 30)])

    assert room() == WIDE
    assert "word " * 29 in capsys.readouterr().out

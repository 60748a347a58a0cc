from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from builtin_plugins.statusline.render import KEPT, cells, fitted
from cognee_hooks.results import StatusSegment


def segments(*pairs: tuple[str, int]) -> list[StatusSegment]:
    return [StatusSegment(text=text, priority=priority) for text, priority in pairs]


LINE = segments(("head", 100), ("2 waiting", 90), ("3 hits", 50), ("1/2 turns", 40))


def test_everything_is_shown_where_it_fits():
    assert fitted(LINE, 120) == "head · 2 waiting · 3 hits · 1/2 turns"


def test_the_least_important_goes_first():
    assert fitted(LINE, 30) == "head · 2 waiting · 3 hits"
    assert fitted(LINE, 20) == "head · 2 waiting"


def test_of_equals_the_last_goes_first():
    assert fitted(segments(("a" * 5, 1), ("b" * 5, 1)), 8) == "aaaaa"


def test_what_has_to_stay_is_cut():
    assert fitted(LINE, 6) == "head ·"


def test_no_segments_make_an_empty_line():
    assert fitted([], 10) == ""


def test_width_counts_cells():
    assert cells("記憶") == 4
    assert cells("e\u0301") == 1
    assert fitted(segments(("記憶", 100)), 3) == "記"


@given(
    st.lists(st.tuples(st.text(max_size=12), st.integers(0, 120)), max_size=6), st.integers(0, 40)
)
def test_the_line_always_fits_and_keeps_what_it_must(pairs, width):
    ordered = sorted(segments(*pairs), key=lambda each: -each.priority)
    line = fitted(ordered, width)
    assert cells(line) <= width
    important = " · ".join(each.text for each in ordered if each.priority >= KEPT)
    assert line.startswith(important[: len(line)]) or important.startswith(line)

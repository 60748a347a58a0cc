from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builtin_plugins.statusline.cells import cells
from builtin_plugins.statusline.render import KEPT, SEPARATOR, coloured, fitted
from cognee_hooks.results import StatusSegment


def segment(text: str, priority: int, *shorter: str) -> StatusSegment:
    return StatusSegment(text=text, priority=priority, shorter=shorter)


def line(segments: list[StatusSegment], width: int) -> str:
    return SEPARATOR.join(fitted(segments, width))


LINE = [segment("head", 100), segment("2 waiting", 95), segment("3 hits", 50), segment("1/2", 40)]
CREDITS = segment("$5 (2h ago) last ~$1", 30, "$5 last ~$1", "$5")


def test_everything_is_shown_where_it_fits():
    assert line(LINE, 120) == "head · 2 waiting · 3 hits · 1/2"


def test_the_least_important_goes_first():
    assert line(LINE, 26) == "head · 2 waiting · 3 hits"
    assert line(LINE, 20) == "head · 2 waiting"


def test_a_segment_is_shortened_before_it_is_left_out():
    shown = [line([*LINE, CREDITS], width) for width in (54, 53, 44, 35, 30)]
    assert shown == [
        "head · 2 waiting · 3 hits · 1/2 · $5 (2h ago) last ~$1",
        "head · 2 waiting · 3 hits · 1/2 · $5 last ~$1",
        "head · 2 waiting · 3 hits · 1/2 · $5",
        "head · 2 waiting · 3 hits · 1/2",
        "head · 2 waiting · 3 hits",
    ]


def test_a_form_that_does_not_help_is_passed_over():
    assert line([segment("head", 100), segment("ab", 1, "longer", "c")], 8) == "head · c"


def test_what_always_stays_is_shortened_before_it_is_cut():
    assert line([segment("a long head", 100, "head"), segment("2", 95)], 8) == "head · 2"


def test_of_equals_the_last_goes_first():
    assert line([segment("a" * 5, 1), segment("b" * 5, 1)], 8) == "aaaaa"


def test_what_has_to_stay_is_cut_without_dots():
    assert line(LINE, 6) == "head ·"


def test_no_segments_make_an_empty_line():
    assert line([], 10) == ""
    assert coloured([]) == ""


def test_width_counts_cells():
    assert line([segment("記憶", 100)], 3) == "記"


@pytest.mark.parametrize(("mark", "code"), [("●", 32), ("◐", 33), ("✕", 31)])
def test_the_mark_is_coloured_and_the_rest_dim(mark, code):
    assert coloured([f"{mark} cognee: x", "1 hit", "more"]) == (
        f"\x1b[{code}m{mark}\x1b[0m cognee: x\x1b[2m · 1 hit · more\x1b[0m"
    )


def test_a_line_without_a_mark_has_no_colour():
    assert coloured(["cognee: x"]) == "cognee: x"


@given(
    st.lists(
        st.tuples(
            st.text(max_size=12), st.integers(0, 120), st.lists(st.text(max_size=12), max_size=3)
        ),
        max_size=6,
    ),
    st.integers(0, 40),
)
def test_the_line_always_fits_and_keeps_what_it_must(rows, width):
    made = [segment(text, priority, *shorter) for text, priority, shorter in rows]
    ordered = sorted(made, key=lambda each: -each.priority)
    texts = fitted(ordered, width)
    shown = SEPARATOR.join(texts)
    kept = [each for each in ordered if each.priority >= KEPT]
    assert cells(shown) <= width
    if shown == SEPARATOR.join(each.text for each in ordered):
        return
    # Either all that always stays is there in one of its forms, or the line was cut.
    for each, text in zip(kept, texts, strict=False):
        assert text in {each.text, *each.shorter} or len(texts) == 1

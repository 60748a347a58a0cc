from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builtin_plugins.statusline.cells import cells, cut_to_cells

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
WOMAN_DARK_TECHNOLOGIST = "\U0001f469\U0001f3ff\u200d\U0001f4bb"
FLAG = "\U0001f1e9\U0001f1ea"


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("plain", 5),
        ("● ✕ ◐ · ~", 9),
        ("記憶", 4),
        ("\uff21", 2),
        ("e\u0301", 1),
        ("\u0301", 0),
        ("a\u200bb", 2),
        ("ไก่", 2),
        ("\u1112\u1161\u11ab", 2),
        ("👍", 2),
        ("👍\U0001f3fd", 2),
        ("❤", 1),
        ("❤\ufe0f", 2),
        ("1\ufe0f\u20e3", 2),
        (FAMILY, 2),
        (WOMAN_DARK_TECHNOLOGIST, 2),
        (FLAG, 2),
        (FLAG * 2, 4),
        (FLAG + "\U0001f1e9", 3),
        ("क\u094d\u200dष", 2),
    ],
)
def test_a_text_takes_as_many_cells_as_a_terminal_gives_it(text, width):
    assert cells(text) == width


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("記憶", 3, "記"),
        (f"a{FAMILY}b", 2, "a"),
        (f"a{FAMILY}b", 3, f"a{FAMILY}"),
        (f"{FLAG}{FLAG}", 3, FLAG),
        ("e\u0301e\u0301", 1, "e\u0301"),
        ("ab", 0, ""),
        ("ab", -3, ""),
    ],
)
def test_a_cut_falls_between_characters(text, width, shown):
    assert cut_to_cells(text, width) == shown


@given(st.text(max_size=30), st.integers(0, 40))
def test_what_is_cut_fits_and_is_a_beginning(text, width):
    shown = cut_to_cells(text, width)
    assert text.startswith(shown)
    assert cells(shown) <= width
    assert shown == text or cells(text) > width


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x2FFFF), max_size=30))
def test_no_text_takes_more_than_two_cells_for_a_character_that_takes_any(text):
    visible = [each for each in text if unicodedata.category(each) not in {"Mn", "Me", "Cf"}]
    assert cells(text) <= 2 * len(visible)

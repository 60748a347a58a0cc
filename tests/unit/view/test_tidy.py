from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.view.tidy import (
    MAX_LABEL,
    MAX_TEXT,
    MOST,
    count,
    epoch_seconds,
    label,
    seconds,
    text,
)

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
HOSTILE = st.text(st.sampled_from("a\x1b[2J\x9b\x07\u202e\u2066\ufeff\ud800\r\n\t é🙂<"))
UNPRINTABLE = set("\x1b\x9b\x07\u202e\u2066\ufeff\ud800\r")


@given(HOSTILE)
def test_names_are_one_printable_line(value):
    said = label(value) or ""
    assert not set(said) & (UNPRINTABLE | set("\n\t"))
    assert not set(text(value)) & UNPRINTABLE
    json.dumps([said, text(value)]).encode()


def test_text_keeps_its_lines():
    assert text("a\r\n\tb\x1b[31mc") == "a\n\tbc"


def test_what_is_too_long_is_cut_and_says_so():
    assert len(label("é" * 10**6).encode()) <= MAX_LABEL
    assert len(text("é" * 10**6).encode()) <= MAX_TEXT
    assert label("x" * 1000).endswith("...")


def test_nothing_is_told_as_none():
    assert (label(""), label("\x1b[2J"), text("")) == (None, None, "")


@given(ANYTHING)
def test_anything_becomes_something_that_a_browser_can_read(value):
    made = [label(value), text(value), count(value), seconds(value), epoch_seconds(value)]
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert 0 <= count(value) <= MOST
    assert (seconds(value) or 0) >= 0
    assert 0 <= (epoch_seconds(value) or 0) <= MOST


def test_true_is_no_number():
    assert (count(True), seconds(True), epoch_seconds(True)) == (0, None, None)


def test_numbers_stay_what_they_are():
    assert (count(3), seconds(0.25), seconds(0), epoch_seconds(1.5e9)) == (3, 0.25, 0.0, 1.5e9)
    assert (count(10**400), seconds(10**400), epoch_seconds(10**400)) == (MOST, 0.0, None)

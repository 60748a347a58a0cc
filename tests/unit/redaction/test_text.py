"""Lone surrogates, cuts and private marks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.redaction import cut, sanitise, strip_private

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "max_bytes", "expected"),
    [
        ("short", 100, "short"),
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abc..."),
        ("ééééé", 8, "éé..."),
        ("ééééé", 9, "ééé..."),
        ("ééééé", 10, "ééééé"),
        ("日本語", 8, "日..."),
        ("日本語日", 9, "日本..."),
        ("日本語日", 10, "日本..."),
        ("😀😀", 7, "😀..."),
        ("😀😀😀", 10, "😀..."),
        ("😀😀😀", 11, "😀😀..."),
        ("hello", 3, "..."),
        ("hello", 2, "..."),
        ("hello", 0, ""),
        ("ok \ud800 end", 100, "ok \ufffd end"),
        ("x" * 10_000, 4000, "x" * 3997 + "..."),
        ("ü" * 3000, 4000, "ü" * 1998 + "..."),
    ],
)
def test_cut_counts_bytes_and_splits_no_character(text, max_bytes, expected):
    assert cut(text, max_bytes) == expected


@given(ANY_TEXT, st.integers(3, 60))
def test_cut_never_exceeds_its_limit_and_always_encodes(text, max_bytes):
    assert len(cut(text, max_bytes).encode()) <= max_bytes


@pytest.mark.parametrize("max_bytes", range(3, 30))
def test_a_tag_at_the_cut_goes_as_a_whole(max_bytes):
    after = cut("key [redacted:aws-key] tail of the text", max_bytes)
    head = after.removesuffix("...")
    assert head in {
        "key "[: max_bytes - 3],
        "key [redacted:aws-key] tail of the text"[: max_bytes - 3],
    }
    assert "[" not in head or "]" in head


def test_sanitise_joins_halves_and_replaces_lone_ones():
    assert sanitise("a\ud83d\ude00b\udc00c") == "a😀b\ufffdc"


@given(ANY_TEXT)
def test_sanitised_text_can_be_encoded(text):
    sanitise(text).encode()
    assert sanitise(sanitise(text)) == sanitise(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nothing private", "nothing private"),
        ("a <b>bold</b> c", "a <b>bold</b> c"),
        ("<private>all of it</private>", ""),
        ("  <private>all of it</private>\n", ""),
        ("before <private>inside</private> after", "before  after"),
        ("before <PRIVATE>inside</Private > after", "before  after"),
        ("before < private reason='x'>inside< / private> after", "before  after"),
        ("one <private>a <private>b</private> c</private> two", "one  two"),
        ("one <private>never closed", "one "),
        ("one </private> two", "one  two"),
        ("<private>a</private>mid<private>b</private>", "mid"),
        ("<private>\nmany\nlines\n</private>kept", "kept"),
        ("<privateer>stays</privateer>", "<privateer>stays</privateer>"),
        ("   ", "   "),
    ],
)
def test_private_parts_are_left_out(text, expected):
    assert strip_private(text) == expected


@given(
    st.lists(
        st.sampled_from(["<private>", "</private>", "word ", "INSIDE", "<", ">", "\n"]), max_size=12
    )
)
def test_nothing_that_stands_between_marks_is_left(parts):
    depth = 0
    marked = []
    for part in parts:
        depth = max(0, depth + {"<private>": 1, "</private>": -1}.get(part, 0))
        marked.append("hidden" if depth and part == "INSIDE" else part)
    assert "hidden" not in strip_private("".join(marked))


def test_private_marks_cost_linear_time_and_no_recursion():
    assert strip_private("<private>" * 100_000 + "x" + "</private>" * 100_000) == ""

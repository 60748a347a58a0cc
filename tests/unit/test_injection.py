"""What goes into the model's context, and what is cut out when it comes back."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.injection import WRAPPER, Injected, injected, joined, strip_injected
from cognee_hooks.outcomes import Called, Outcome
from cognee_hooks.results import AdditionalContext

BLOCK = "=== Cognee memory ===\nSome fact.\n=== End Cognee memory ===\n"
CODE = "=== Code graph facts ===\nfoo calls bar\n=== End Code graph facts ===\n"
OUTAGE = "=== Cognee memory: recall skipped (offline); 3 waiting ===\n"
MIXED = "é👩‍👩‍👧 e\u0301\u0327 漢字 🇩🇪 \ud83d x \udc00 مرحبا"


def section(text: str, priority: int = 0) -> AdditionalContext:
    return AdditionalContext(text=text, priority=priority)


def join_sections(sections: list[AdditionalContext], limit: int) -> str:
    outcome = Outcome("plugin", sections)
    return joined(injected(Called(sections, (outcome,)), limit))


# -- joining -------------------------------------------------------------------------------------


def test_sections_are_ordered_by_priority_and_then_as_they_came():
    joined = join_sections([section("b"), section("c"), section("a", 9)], 100)
    assert joined == "a\n\nb\n\nc"


def test_a_section_that_does_not_fit_goes_whole():
    joined = join_sections([section("first", 3), section("x" * 50, 2), section("last", 1)], 13)
    assert joined == "first\n\nlast"


def test_where_not_even_the_first_fits_it_is_cut():
    assert join_sections([section("x" * 50, 2), section("y", 1)], 10) == "x" * 7 + "..."


def test_empty_sections_do_not_count():
    assert join_sections([section("\n\n"), section("\x1b[2J", 4), section("a")], 9) == "a"
    assert join_sections([], 9) == ""


@pytest.mark.parametrize("limit", range(len(MIXED.encode("utf-8", "surrogatepass")) + 4))
def test_a_cut_at_any_byte_leaves_whole_characters(limit):
    joined = join_sections([section(MIXED)], limit)
    assert len(joined.encode()) <= limit
    assert json.loads(json.dumps(joined)) == joined


@given(
    texts=st.lists(st.text(alphabet=st.characters(codec=None), max_size=60), max_size=5),
    limit=st.integers(0, 200),
)
def test_the_cap_holds_for_any_text(texts, limit):
    joined = join_sections([section(text) for text in texts], limit)
    assert len(joined.encode()) <= limit


def test_each_section_is_known_by_its_plugin_and_lane_and_by_what_is_left_of_it():
    mine, theirs, third = section("\x1b[2Jmine\n"), section("theirs", 2), section("x" * 90)
    lane = AdditionalContext(text="noted", lane="notes", priority=1)
    outcomes = (
        Outcome("one", [mine, lane], seconds=0.25),
        Outcome("silent"),
        Outcome("two", theirs, seconds=0.5),
        Outcome("three", third),
    )
    found = injected(Called([[mine, lane], theirs, third], outcomes), 40)
    assert found == [
        Injected(plugin="two", lane="two", text="theirs", seconds=0.5),
        Injected(plugin="one", lane="notes", text="noted", seconds=0.25),
        Injected(plugin="one", lane="one", text="mine", seconds=0.25),
    ]


def test_what_a_wrapper_put_there_belongs_to_no_plugin():
    found = injected(Called([section("new")], (Outcome("one", section("old")),)), 40)
    assert found == [Injected(plugin="", lane=WRAPPER, text="new", seconds=0.0)]


# -- stripping -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        (BLOCK + "my words", "my words"),
        (BLOCK + CODE + "my words", "my words"),
        ("before\n" + BLOCK + "after", "before\nafter"),
        ("before\n" + BLOCK.rstrip("\n"), "before"),
        (OUTAGE + "my words", "my words"),
        (BLOCK.replace("\n", "\r\n") + "my words", "my words"),
        ("why does it say === Cognee memory === there?", None),
        ("=== Cognee memory ===\nwhat does this line mean?", None),
        ("=== End Cognee memory ===\nand this one?", None),
        ("=== Cognee memory ===\nquoted\n" + BLOCK + "end", "=== Cognee memory ===\nquoted\nend"),
        ("=== my own heading ===\ntext", None),
        ("no block at all\r\n", None),
        (BLOCK, ""),
    ],
)
def test_our_blocks_go_and_the_users_words_stay(prompt, expected):
    assert strip_injected(prompt) == (prompt if expected is None else expected)


def test_a_block_with_a_title_goes_too():
    titled = "=== Cognee memory: notes ===\nA.\n=== End Cognee memory ===\nmine"
    assert strip_injected(titled) == "mine"


def test_many_headers_without_an_end_take_no_longer_than_they_are_long():
    prompt = "=== Cognee memory ===\n" * 50_000
    prompt += "=== Cognee memory: recall skipped (" + ")" * 200_000
    started = time.process_time()
    assert strip_injected(prompt) == prompt
    assert time.process_time() - started < 2

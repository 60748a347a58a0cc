"""What goes into the model's context, and what is cut out when it comes back."""

from __future__ import annotations

import json
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.injection import brief, clean, join_sections, one_line, strip_injected
from cognee_hooks.results import AdditionalContext

BLOCK = "=== Cognee memory ===\nSome fact.\n=== End Cognee memory ===\n"
CODE = "=== Code graph facts ===\nfoo calls bar\n=== End Code graph facts ===\n"
OUTAGE = "=== Cognee memory: recall skipped (offline); 3 waiting ===\n"
MIXED = "é👩‍👩‍👧 e\u0301\u0327 漢字 🇩🇪 \ud83d x \udc00 مرحبا"


def section(text: str, priority: int = 0) -> AdditionalContext:
    return AdditionalContext(text=text, priority=priority)


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


# -- cleaning ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x1b[31;1mred\x1b[0m", "ared"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link", "link"),
        ("\x1bMup \x1b", "up "),
        ("bell\x07 null\x00 del\x7f c1\x9b", "bell null del c1"),
        ("\u202eevil\u202c \u2066x\u2069 \u200f\u200e\ufeff", "evil x "),
        ("tab\tstays\nline", "tab\tstays\nline"),
        ("dos\r\nmac\rend", "dos\nmac\nend"),
        ("lone \ud83d half", "lone \ufffd half"),
        ("👩\u200d👧 stays", "👩\u200d👧 stays"),
    ],
)
def test_what_could_mislead_a_terminal_or_a_model_goes(text, expected):
    assert clean(text) == expected


# -- stripping -----------------------------------------------------------------------------------


RED, PLAIN = "\x1b[31m", "\x1b[0m"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  a \r\n\tb\u2028c ", "a b c"),
        (f"{RED}a{PLAIN}", "a"),
        ("a\x1b[2Jb\x1b]0;title\x07c", "abc"),
    ],
)
def test_a_line_is_one_line_of_text(text, expected):
    assert one_line(text) == expected


def test_a_servers_name_is_short_and_cannot_write_to_the_terminal():
    assert brief("a\x1b[31mb\nc\u202e") == "ab c"
    assert len(brief("x" * 900)) == 120


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        (f"{RED}a{PLAIN}", f"{RED}a{PLAIN}"),
        (f"{RED}a", f"{RED}a{PLAIN}"),
        ("\x1b[38;2;1;2;3ma", f"\x1b[38;2;1;2;3ma{PLAIN}"),
        (f"\x1b[2J{RED}a\x1b[1A\x07", f"{RED}a{PLAIN}"),
        (f"\x1b{RED}[2J", f"{RED}[2J{PLAIN}"),
        (f"\x1b]0;{RED}title\x07a", f"{RED}titlea{PLAIN}"),
        ("\x1b[" + "1;" * 100 + "mx", "x"),
    ],
)
def test_colours_alone_may_stay_in_a_line(text, expected):
    assert one_line(text, colour=True) == expected


@given(st.text(st.sampled_from("\x1b[]m;0123 a\x07\n\r\x9b\u202e")))
def test_a_coloured_line_holds_no_other_control_character(text):
    line = one_line(text, colour=True)
    rest = re.sub(r"\x1b\[[0-9;:]*m", "", line)
    assert rest.isprintable()
    assert rest == line or line.endswith(PLAIN)


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

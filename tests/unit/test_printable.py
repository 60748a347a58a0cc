"""Text that is safe to show, whatever it came with."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.printable import brief, clean, one_line

RED, PLAIN = "\x1b[31m", "\x1b[0m"


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

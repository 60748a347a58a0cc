"""The shared ``.env`` file, with the vectors of the data plane's rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.configuration.envfile import parse


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('A="quoted value"', {"A": "quoted value"}),
        ("export B=bare", {"B": "bare"}),
        ("# c", {}),
        ("  C = spaced  ", {"C": "spaced"}),
        ("D='single'", {"D": "single"}),
        ("E=\"mis'", {"E": "\"mis'"}),
        ("F=a=b=c", {"F": "a=b=c"}),
        ("=x", {}),
        ("G", {}),
        ('K=""', {"K": ""}),
        ('L="', {"L": '"'}),
        ("export  M=1", {"M": "1"}),
        (r"N=a\nb", {"N": r"a\nb"}),
        ("A=1\r\nA=second", {"A": "second"}),
        ("PATH=/evil", {}),
        ("PYTHONPATH=/x", {}),
        ("LD_PRELOAD=/x", {}),
        ("DYLD_X=1", {}),
        ("USERNAME=me", {"USERNAME": "me"}),
        ("path=/x", {"path": "/x"}),
    ],
)
def test_lines_as_the_other_cognee_plugins_read_them(text, values):
    assert parse(text) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("export\tH=1", {"H": "1"}),
        ('I="x" # c', {"I": "x"}),
        ("J=1 # c", {"J": "1"}),
        ("J=1\t# c", {"J": "1"}),
        ("J= # c", {"J": ""}),
    ],
)
def test_w40_comments_after_values_and_a_tab_after_export(text, values):
    assert parse(text) == values


@pytest.mark.parametrize("denied", ["HOME", "SHELL", "USER", "PYTHON", "PYTHONHOME", "LD_X"])
def test_names_that_change_how_programs_run_are_left_out(denied):
    assert parse(f"export {denied}=x\nOK=1") == {"OK": "1"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A=#start", "#start"),
        ("A=a#b", "a#b"),
        ("A=p#a ss # c", "p#a ss"),
        ('A="a # b"', "a # b"),
        ("A='x'#c", "x"),
        ('A="say "hi""', 'say "hi"'),
        ('A="x" # say "hi"', "x"),
        ('A="open # kept', '"open # kept'),
    ],
)
def test_a_hash_that_is_part_of_the_value_stays(text, value):
    assert parse(text) == {"A": value}


def test_the_word_export_inside_a_value_stays():
    assert parse("A=please export it") == {"A": "please export it"}
    assert parse("export_dir=/x") == {"export_dir": "/x"}


def test_a_byte_order_mark_is_no_part_of_the_first_name():
    assert parse("\ufeffA=1") == {"A": "1"}


@pytest.mark.parametrize(
    "text", ["A=x" + " " * 250_000 + "y", 'A="' + '"x' * 100_000, "A=" + "#" * 250_000]
)
def test_a_hostile_line_does_not_stall_the_reader(text):
    # A quadratic reader would be at it for minutes.
    assert list(parse(text)) == ["A"]


@given(st.text(st.characters()))
def test_no_text_makes_it_raise(text):
    assert all(name and name == name.strip() for name in parse(text))


@given(st.binary())
def test_no_bytes_make_it_raise(data):
    parse(data.decode("utf-8-sig", "replace"))


@given(
    st.from_regex(r"[A-Z][A-Z0-9_]{2,20}", fullmatch=True),
    st.text(st.characters(min_codepoint=32, max_codepoint=126)),
)
def test_a_quoted_value_without_that_quote_comes_back(name, value):
    name = f"X_{name}"
    assert parse(f"{name}='{value.replace(chr(39), '')}'") == {name: value.replace("'", "")}

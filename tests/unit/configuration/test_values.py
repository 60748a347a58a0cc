"""Parsers of single values, with the vectors of the data plane's rules."""

from __future__ import annotations

import json
from enum import StrEnum
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.configuration.values import (
    MAX_INT,
    to_bool,
    to_choice,
    to_float,
    to_int,
    to_list,
    to_path,
    to_text,
    to_uuid,
    to_uuids,
)

A = "3f2b8ac6-1d5e-4f7a-9c3b-2e8d7a6b5c4f"
B = "01234567-89ab-cdef-0123-456789abcdef"


class Color(StrEnum):
    RED = "red"
    DARK_BLUE = "dark-blue"


PARSERS = {
    "bool": to_bool,
    "float": to_float,
    "int": to_int,
    "text": to_text,
    "uuids": to_uuids,
    "path": partial(to_path, home="/home/u"),
    "choice": partial(to_choice, Color),
    "list": partial(to_list, separator=","),
}


@pytest.mark.parametrize(
    ("raw", "value"),
    [("5", 5), ("1e3", 1000), ("0x10", 16), (" 7 ", 7), ("2.5", 2.5), ("0", 0), (".5", 0.5)],
)
def test_numbers_in_every_accepted_spelling(raw, value):
    assert to_float(raw) == value


@pytest.mark.parametrize(
    "raw",
    ["-1", "abc", "Infinity", "nan", "5s", " ", "", "1_000", "٣", "1e999", "9" * 500, "0x", "--1"],
)
def test_what_is_no_number_is_refused(raw):
    with pytest.raises(ValueError, match="must be a number"):
        to_float(raw)


def test_the_longest_hexadecimal_number_still_fits():
    assert to_float("0x" + "f" * 198) > 0
    with pytest.raises(ValueError, match="must be a number"):
        to_float("0x" + "f" * 300)


@pytest.mark.parametrize("raw", ["2.5", str(MAX_INT + 1), "1e300"])
def test_a_whole_number_has_no_fraction_and_survives_json(raw):
    with pytest.raises(ValueError, match="must be a whole number"):
        to_int(raw)


def test_whole_numbers_come_in_number_spellings():
    assert to_int("1e3") == 1000
    assert to_int(str(MAX_INT)) == MAX_INT
    assert isinstance(to_int("7.0"), int)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("false", False),
        ("FALSE", False),
        ("0", False),
        ("no", False),
        ("Off", False),
        (" false ", False),
        ("true", True),
        ("1", True),
        ("YES", True),
        ("on", True),
    ],
)
def test_a_switch_is_read_in_any_case_with_or_without_spaces(raw, value):
    assert to_bool(raw) is value


@pytest.mark.parametrize("raw", ["n", "banana", "", "2", "y"])
def test_a_word_that_is_no_switch_is_refused_rather_than_true(raw):
    with pytest.raises(ValueError, match="must be true or false"):
        to_bool(raw)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (A.upper(), A),
        (B.replace("-", ""), B),
        ("01234567-89abcdef0123456789abcdef", ""),
        (f"{{{A}}}", ""),
        (f"urn:uuid:{A}", ""),
        (f" {A}", ""),
        ("agent_sessions", ""),
        ("", ""),
        (42, ""),
        (f"{A}\n", ""),
    ],
)
def test_a_uuid_is_read_with_or_without_hyphens_and_nothing_else_is_one(raw, value):
    assert to_uuid(raw) == value


def test_vector_99_a_read_set_is_canonical_and_without_repetitions():
    assert to_uuids(json.dumps([A.upper(), A, B.replace("-", "")])) == (A, B)
    assert to_uuids("   ") == ()


def test_a_read_set_that_is_not_json_says_so():
    with pytest.raises(ValueError, match=r"^is not valid JSON: "):
        to_uuids("[not json")


@pytest.mark.parametrize(
    "raw", ['"a-string"', "[]", '["agent_sessions"]', f'["{A}", 42]', "5", "null", "{}"]
)
def test_vector_100_a_read_set_of_another_shape_says_so(raw):
    with pytest.raises(ValueError, match=r"^must be a nonempty JSON list of UUIDs$"):
        to_uuids(raw)


@pytest.mark.parametrize(
    ("raw", "separator", "value"),
    [
        ("", ",", ()),
        ("  ", ",", ()),
        ("a, b,,c ", ",", ("a", "b", "c")),
        ("a|b", "|", ("a", "b")),
        ("a,b\nc", "\n", ("a,b", "c")),
        ('["a", " b ", ""]', ",", ("a", " b ", "")),
        ("[]", ",", ()),
    ],
)
def test_a_list_is_parts_between_separators_or_an_array_of_strings(raw, separator, value):
    assert to_list(raw, separator) == value


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("[1]", "must be an array of strings"),
        ('["a"', "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        ("[" + "9" * 5000 + "]", "is not valid JSON"),
    ],
)
def test_an_array_that_cannot_be_used_is_refused(raw, message):
    with pytest.raises(ValueError, match=message):
        to_list(raw, ",")


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("~", "/home/u"),
        ("~/x", "/home/u/x"),
        (" /a/b ", "/a/b"),
        ("~other/x", "~other/x"),
        ("a/~", "a/~"),
    ],
)
def test_a_tilde_stands_for_the_given_home(raw, path):
    assert to_path(raw, "/home/u") == Path(path)


def test_a_tilde_without_a_home_stays():
    assert to_path("~/x", "") == Path("~/x")


def test_a_path_with_a_nul_is_refused():
    with pytest.raises(ValueError, match="must be a path"):
        to_path("a\0b", "")


def test_choices_in_any_case():
    assert to_choice(Color, " Dark-BLUE ") is Color.DARK_BLUE
    with pytest.raises(ValueError, match="must be one of red, dark-blue"):
        to_choice(Color, "green")


def test_text_is_trimmed_and_can_be_encoded():
    assert to_text("  a b ") == "a b"
    assert to_text("a\udc80b") == "a\ufffdb"
    assert to_text("\U0001f600") == "\U0001f600"


def refusal(parser, raw):
    """Return the words with which a parser refuses, or an allowed start where it does not."""
    try:
        parser(raw)
    except ValueError as error:
        return str(error)
    return "must be"


@pytest.mark.parametrize("name", PARSERS)
@given(raw=st.text(st.characters()))
def test_parsers_raise_nothing_but_value_errors(name, raw):
    assert refusal(PARSERS[name], raw).startswith(("must be", "is not valid JSON"))


@pytest.mark.parametrize("name", PARSERS)
@given(raw=st.binary())
def test_parsers_take_whatever_an_environment_may_hold(name, raw):
    text = raw.decode("utf-8", "surrogateescape")
    assert refusal(PARSERS[name], text).startswith(("must be", "is not valid JSON"))


@given(st.integers(0, MAX_INT))
def test_every_whole_number_comes_back(number):
    assert to_int(str(number)) == number


@given(st.lists(st.text()))
def test_every_array_of_strings_comes_back(items):
    assert to_list(json.dumps(items), ",") == tuple(items)


@given(st.text(st.characters()))
def test_the_text_of_a_value_is_never_in_a_message(raw):
    secret = "hunter2" + raw
    for parser in (to_bool, to_float, to_int, to_uuids, partial(to_choice, Color)):
        with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is what is looked at
            parser(secret)
        assert "hunter2" not in str(caught.value)

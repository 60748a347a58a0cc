from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builtin_plugins.memory.arguments import parse
from cognee_hooks.errors import UsageError


def test_prose_stays_as_it_is():
    text = 'Don\'t use "smart quotes" -- ever; run `x --force`.'
    assert parse(text, options=("file",), flags=("yes",)).text == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("--file a.md", "a.md"),
        ("--file=a.md", "a.md"),
        ('--file "my notes.md"', "my notes.md"),
        ("--file='my notes.md'", "my notes.md"),
        ("before --file a.md after", "a.md"),
    ],
)
def test_an_option_has_a_value_that_may_be_quoted(text, value):
    assert parse(text, options=("file",)).options == {"file": value}


@pytest.mark.parametrize("text", ["--file", "text --file", "--file --yes"])
def test_an_option_without_its_value_is_refused(text):
    with pytest.raises(UsageError, match="--file needs a value"):
        parse(text, options=("file",), flags=("yes",))


def test_flags_are_taken_out_wherever_they_stand():
    given_ = parse("--yes notes --entire", flags=("yes", "entire"))
    assert given_.words == ["notes"]
    assert given_.flags == {"yes", "entire"}
    assert parse("--yesterday", flags=("yes",)).flags == frozenset()


def test_w9_quotes_around_words_do_not_stay():
    assert parse("'my set' \"other one\" third").words == ["my set", "other one", "third"]


@given(st.text())
def test_any_text_is_survived(text):
    try:
        parse(text, options=("file",), flags=("yes",))
    except UsageError:
        assert "--file" in text


@pytest.mark.parametrize("text", ['"use --file to pass it"', "'use --file to pass it'"])
def test_quotes_around_all_of_a_text_hold_it_together_and_are_no_part_of_it(text):
    found = parse(text, options=("file",))
    assert (found.text, found.options) == ("use --file to pass it", {})
    assert found.words == ["use --file to pass it"]


def test_quotes_around_prose_go_beside_options_and_quotes_inside_it_stay():
    assert parse('"keep it" --file notes.md', options=("file",)).text == "keep it"
    assert parse('"One" is the name of "Two"').text == '"One" is the name of "Two"'

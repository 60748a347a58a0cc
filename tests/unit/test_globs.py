from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.globs import Globs


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("*", "anything", True),
        ("*", "a/b\nc", True),
        ("bash", "bashx", False),
        ("READ", "read", False),
        ("mcp__x__*", "mcp__x__y", True),
        ("mcp__x__*", "mcp__y__x", False),
        ("*/.ssh/*", "/home/u/.ssh/id_rsa", True),
        ("ab?d", "abd", False),
        ("ab?d", "ab\nd", True),
        ("read[me]", "readm", True),
        ("read[!me]", "readz", True),
        ("read[^me]", "readm", False),
        ("a.b", "aXb", False),
        ("x[", "x[", True),
        ("id_rsa*", "id_rsa", True),
        ("[]", "", False),
        ("[]x]", "x]", False),
        ("[-a]", "-", True),
        ("[a--b]", "a", False),
        (r"[\d]", "5", False),
        (r"[\d]", "\\", True),
        ("[[a]", "[", True),
        ("[a&&b]", "&", True),
        ("(a|b)+", "a", False),
    ],
)
def test_a_pattern_matches_whole_names(pattern, text, matches):
    assert Globs([pattern]).match(text) is matches


def test_case_is_ignored_only_where_asked():
    assert Globs(["*.pem"], ignore_case=True).match("SERVER.PEM")
    assert not Globs(["*.pem"]).match("SERVER.PEM")


def test_one_pattern_that_cannot_be_used_is_named_and_costs_no_other():
    globs = Globs(["[z-a]", "bash"])
    assert globs.bad == ["[z-a]"]
    assert globs.match("bash")
    assert not globs.match("z")


def test_no_patterns_match_nothing():
    assert not Globs([]).match("")


@given(st.lists(st.text(alphabet="ab*?[]!^-\\&|~().", max_size=12), max_size=4), st.text())
def test_no_pattern_raises_or_warns(patterns, name):
    Globs(patterns, ignore_case=True).match(name)


@given(st.text(alphabet="ab*?", max_size=9), st.text(alphabet="ab", max_size=9))
def test_stars_mean_any_text_wherever_they_stand(pattern, name):
    expected = fnmatch.fnmatchcase(name, pattern)
    assert Globs([pattern]).match(name) is expected


def test_a_hostile_pattern_is_matched_in_no_time():
    """A project's own file may bring patterns, and its files the names."""
    name = "a/" * 5000
    for pattern in ("*a" * 30 + "*b", "*a*/" * 20 + "x", "*?" * 30 + "b", "*[ab]" * 30 + "c"):
        assert not Globs([pattern]).match(name)


@given(st.text(alphabet=st.characters(exclude_characters="*?[")))
def test_a_name_without_wildcards_matches_itself(name):
    assert Globs([name]).match(name)

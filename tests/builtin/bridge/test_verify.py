from __future__ import annotations

import random

import pytest

from builtin_plugins.bridge.fingerprint import digest
from builtin_plugins.bridge.marks import TAIL, Tail
from builtin_plugins.bridge.verify import listed, was_stored
from cognee_hooks.services.answers import SessionDetail
from tests.support.bridged import entry, trace


def tail(*prints: str) -> Tail:
    made = Tail()
    for each in prints:
        made.add(each)
    return made


def test_what_a_server_lists_is_read_by_kind():
    detail = SessionDetail(
        qas=tuple(entry(number) for number in range(TAIL)),
        traces=(trace(),),
        msg_count=50,
        tool_calls=0,
    )
    questions = listed(detail, "qa")
    assert (questions.total, questions.last[-1]) == (50, digest("qa", entry(TAIL - 1)))
    assert listed(detail, "trace") == Tail(1, [digest("trace", trace())])


@pytest.mark.parametrize(
    ("server", "ours", "stored"),
    [
        ("", "", False),
        ("a", "", True),
        ("a", "a", False),
        ("aa", "a", True),
        ("ab", "ab", False),
        ("aba", "ab", True),
        ("b", "b", False),
        ("", "aa", False),
        ("b", "a", False),
        ("a" * TAIL, "a" * 30, False),
    ],
)
def test_equal_entries_are_counted(server, ours, stored):
    assert was_stored({"a"}, tail(*server), tail(*ours)) is stored


def test_of_an_endless_row_of_equal_entries_the_totals_tell():
    ours = tail(*"a" * 30)
    assert was_stored({"a"}, Tail(31, ["a"] * TAIL), ours)
    assert not was_stored({"a"}, Tail(30, ["a"] * TAIL), ours)


@pytest.mark.parametrize("seed", range(30))
def test_whatever_came_before_it_is_known_whether_the_last_one_was_stored(seed):
    source = random.Random(seed)
    before = [source.choice("ab") for _ in range(source.randrange(60))]
    for stored in (False, True):
        there = tail(*before, *(["a"] if stored else []))
        assert was_stored({"a"}, there, tail(*before)) is stored


def test_an_entry_is_recognised_under_either_of_two_digests():
    assert was_stored({"a", "b"}, tail("b"), tail())

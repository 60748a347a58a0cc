from __future__ import annotations

import time

import pytest

from cognee_hooks.cli.words import ago, counted, local, span


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "0 s"), (0.4, "0 s"), (59.9, "59 s"), (60, "1 min"), (7199, "1 h"), (172_800, "2 d")],
)
def test_a_span_is_told_in_its_largest_unit(seconds, text):
    assert span(seconds) == text


@pytest.mark.parametrize(
    ("moment", "text"), [(940.0, "1 min ago"), (1001.0, "0 s ago"), (None, "?"), (0.0, "?")]
)
def test_an_age_that_is_not_known_is_a_question_mark(moment, text):
    assert ago(moment, 1000.0) == text


def test_a_moment_is_told_in_local_time():
    assert local(1_750_000_000) == time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(1_750_000_000))


@pytest.mark.parametrize("moment", [1e300, -1e300, 1e17])
def test_a_moment_that_no_calendar_has_is_a_question_mark(moment):
    assert local(moment) == "?"


def test_one_thing_is_no_plural():
    assert [counted(1, "entry", "entries"), counted(2, "entry", "entries"), counted(0, "file")] == [
        "1 entry",
        "2 entries",
        "0 files",
    ]

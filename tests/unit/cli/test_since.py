from __future__ import annotations

from contextlib import suppress
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.cli.since import since
from cognee_hooks.errors import UsageError

NOW = 1_750_000_000.0
HOUR = 3600


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("24h", 24 * HOUR),
        ("7d", 7 * 24 * HOUR),
        ("2w", 14 * 24 * HOUR),
        ("2 d", 48 * HOUR),
        (" 1D ", 24 * HOUR),
        ("day", 24 * HOUR),
        ("week", 7 * 24 * HOUR),
        ("month", 30 * 24 * HOUR),
        ("all", NOW),
    ],
)
def test_how_far_back_is_told_in_the_usual_words(text, back):
    assert since(text, NOW) == NOW - back


def test_a_date_is_its_beginning_in_the_persons_own_time():
    assert since("2026-01-31", NOW) == datetime(2026, 1, 31).astimezone().timestamp()
    assert since("2026-01-31T12:00:00+00:00", NOW) == 1_769_860_800


@pytest.mark.parametrize("text", ["fortnight", "", "7", "d", "-1d", "1e3d", "٣d", "2026-13-01"])
def test_anything_else_is_wrong_usage_and_says_what_is_right(text):
    with pytest.raises(UsageError, match="24h, 7d, 2w, month, all, or a date"):
        since(text, NOW)


@given(st.text(max_size=20))
def test_no_text_does_worse_than_wrong_usage(text):
    with suppress(UsageError):
        assert isinstance(since(text, NOW), float)

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.services.retry import Backoff, backoff_window_ms, jittered, parse_retry_after


@pytest.mark.parametrize(
    ("failures", "milliseconds"),
    [
        (0, 0),
        (1, 60_000),
        (2, 120_000),
        (3, 240_000),
        (6, 1_920_000),
        (7, 3_600_000),
        (8, 3_600_000),
        (-3, 0),
        (10**9, 3_600_000),
    ],
)
def test_the_window_doubles_up_to_an_hour(failures, milliseconds):
    assert backoff_window_ms(failures) == milliseconds


def test_jitter_stays_within_its_spread():
    source = random.Random(1)
    waits = [jittered(10.0, source) for _ in range(500)]
    assert 8.0 <= min(waits) < 8.5
    assert 11.5 < max(waits) <= 12.0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0.0),
        (" 120 ", 120.0),
        ("999999999999999999999", 3600.0),
        ("Mon, 30 Nov 2026 00:00:30 GMT", 30.0),
        ("Sun, 29 Nov 2026 00:00:00 GMT", 0.0),
        ("Fri, 31 Dec 2100 00:00:00 GMT", 3600.0),
        (None, None),
        ("", None),
        ("-5", None),
        ("soon", None),
        ("nan", None),
        ("1e3", None),
        ("٣", None),
        ("Mon, 99 Nov 2026 00:00:30 GMT", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_date_and_bounded(header, seconds):
    midnight = 1_795_996_800.0  # 30 November 2026
    assert parse_retry_after(header, now=lambda: midnight) == seconds


@given(st.text(max_size=60))
def test_no_retry_after_header_raises(header):
    seconds = parse_retry_after(header)
    assert seconds is None or 0 <= seconds <= 3600


def test_a_backoff_waits_longer_after_each_failure_until_it_is_reset():
    now = [0.0]
    backoff = Backoff(2.0, 5.0, lambda: now[0])
    assert backoff.ready
    for window in (2.0, 4.0, 5.0):
        backoff.failed()
        now[0] += window - 0.1
        assert not backoff.ready
        now[0] += 0.1
        assert backoff.ready
    backoff.failed()
    backoff.hurry()
    assert backoff.ready
    backoff.reset()
    backoff.failed()
    now[0] += 2.0
    assert backoff.ready

from __future__ import annotations

import pytest

from builtin_plugins.bridge.backoff import SKEW_MS, resting_until, window_ms

O_VECTORS = {
    "O1": (0, 0),
    "O2": (1, 60_000),
    "O3": (2, 120_000),
    "O4": (3, 240_000),
    "O5": (6, 1_920_000),
    "O6": (7, 3_600_000),
    "O7": (8, 3_600_000),
}
NOW = 1_700_000_000_000


@pytest.mark.parametrize(("count", "window"), O_VECTORS.values(), ids=O_VECTORS)
def test_the_pause_doubles_up_to_an_hour(count, window):
    assert window_ms(count) == window


def test_any_number_of_failures_has_a_pause():
    assert window_ms(1 << 50) == 3_600_000
    assert window_ms(3, first=100) == 400


@pytest.mark.parametrize(
    ("count", "ago", "rests"),
    [
        (0, 0, False),
        (1, 0, True),
        (1, 59_999, True),
        (1, 60_000, False),
        (2, 61_000, True),
        (2, 121_000, False),
        (1, -SKEW_MS, True),
        (1, -SKEW_MS - 1, False),
        (9, -(10**15), False),
    ],
)
def test_a_file_rests_until_its_pause_is_over_and_no_nonsense_makes_it_rest_for_ever(
    count, ago, rests
):
    until = resting_until(count, NOW - ago, NOW)
    assert bool(until) is rests
    assert until in {0, NOW - ago + window_ms(count)}

from __future__ import annotations

import pytest

from builtin_plugins.sync.record import SyncRecord
from builtin_plugins.sync.throttle import NEEDS_USER_SECONDS, Hold, Reason, hold

NOW = 1_800_000_000.0
HOUR = 3600.0
R = Reason


def good(ago, count=3):
    return SyncRecord().accepted(NOW - ago, count, "idle", confirmed=True)


def bad(record, ago, **fields):
    return record.failed(NOW - ago, "HTTP 503", "idle", **fields)


NONE = SyncRecord()
Y7 = bad(good(2 * HOUR), 60)


@pytest.mark.parametrize(
    ("record", "stored", "cooldown", "reason"),
    [
        pytest.param(NONE, 1, HOUR, None, id="Y1"),
        # The reference runs for a session of which nothing is stored.
        pytest.param(NONE, 0, HOUR, R.NO_NEW_ENTRIES, id="Y1-W35"),
        pytest.param(good(0), 9, HOUR, R.COOLDOWN, id="Y2"),
        pytest.param(good(0), 4, 0.0, None, id="Y3"),
        pytest.param(good(2 * HOUR), 0, HOUR, R.NO_NEW_ENTRIES, id="Y4"),
        pytest.param(good(2 * HOUR), 3, HOUR, R.NO_NEW_ENTRIES, id="Y5"),
        pytest.param(good(2 * HOUR), 4, HOUR, None, id="Y6"),
        pytest.param(Y7, 4, HOUR, R.BACKOFF, id="Y7"),
        pytest.param(bad(NONE, 1), 1, HOUR, R.BACKOFF, id="Y8"),
        # The reference runs here, too.
        pytest.param(bad(NONE, 2 * HOUR), 0, HOUR, R.NO_NEW_ENTRIES, id="Y9-W35"),
        pytest.param(bad(NONE, 2 * HOUR), 1, HOUR, None, id="Y9-stored"),
    ],
)
def test_an_automatic_sync_waits_for_a_reason(record, stored, cooldown, reason):
    held = hold(record, stored, NOW, cooldown)
    assert (held.reason if held else None) == reason


def test_y7_a_failure_keeps_what_is_known_of_the_last_good_sync():
    assert (Y7.improved_at, Y7.count, Y7.failures) == (NOW - 2 * HOUR, 3, 1)


def test_y10_a_success_forgets_failures():
    after = Y7.accepted(NOW, 5, "auto", confirmed=True)
    assert (after.failures, after.failed_at, after.failure_reason) == (0, 0.0, "")
    assert not {"last_failed_at", "failure_count"} & after.to_json().keys()


@pytest.mark.parametrize(
    ("record", "seconds"),
    [(good(600), HOUR - 600), (bad(good(2 * HOUR), 60), HOUR - 60), (good(0), HOUR)],
)
def test_a_hold_says_for_how_long(record, seconds):
    assert hold(record, 9, NOW, HOUR).seconds == pytest.approx(seconds)


def test_the_cooldown_ends_to_the_second():
    assert hold(good(HOUR), 9, NOW, HOUR) is None
    assert hold(good(HOUR - 0.001), 9, NOW, HOUR) is not None


@pytest.mark.parametrize("record", [good(-HOUR), bad(NONE, -HOUR), bad(NONE, -1, needs_user=True)])
def test_a_clock_that_was_set_back_holds_nobody_for_ever(record):
    assert hold(record, 9, NOW, HOUR) is None


def test_what_only_a_person_can_mend_pauses_for_a_day_whatever_the_cooldown():
    record = bad(NONE, 2 * HOUR, needs_user=True)
    assert hold(record, 9, NOW, 0.0) == Hold(R.NEEDS_USER, NEEDS_USER_SECONDS - 2 * HOUR)
    assert hold(record, 9, NOW + NEEDS_USER_SECONDS, 0.0) is None


def test_w34_a_sync_that_was_only_taken_on_is_done_again_when_the_cooldown_is_over():
    record = SyncRecord().accepted(NOW - 2 * HOUR, 3, "idle", confirmed=False)
    assert hold(record, 3, NOW, HOUR) is None
    assert hold(record.ended_well(), 3, NOW, HOUR).reason is R.NO_NEW_ENTRIES

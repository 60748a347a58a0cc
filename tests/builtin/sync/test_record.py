from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builtin_plugins.sync.record import SyncRecord
from cognee_hooks.services.session_state import KEPT_SECONDS

NAMES = [
    "session_id",
    "dataset",
    "last_improved_at",
    "turn_count_at_improve",
    "trigger",
    "outcome",
    "confirmed_count",
    "last_failed_at",
    "last_failure_reason",
    "last_failure_trigger",
    "failure_count",
    "needs_user",
    "waiting_since",
    "server",
]
VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.lists(st.integers(), max_size=2)
    | st.just({})
    | st.just("submitted")
)
EMPTY = SyncRecord(session_id="s", dataset="d")
TIMES = st.integers(1, 2**42).map(lambda ms: ms / 1000)


@given(st.dictionaries(st.sampled_from(NAMES), VALUES))
def test_any_file_is_read_and_can_be_written_again(content):
    record = SyncRecord.of_json(content)
    again = SyncRecord.of_json(json.loads(json.dumps(record.to_json())))
    assert again.new_entries(5) == record.new_entries(5)
    assert again.failures == record.failures
    assert again.waits(7.0).waiting_since == record.waits(7.0).waiting_since
    assert again.waits(7.0).waiting_since > 0


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["good", "taken", "bad", "end", "busy"]), TIMES, st.integers(0, 1000)
        ),
        max_size=6,
    )
)
def test_a_record_is_read_as_it_was_written(story):
    record = EMPTY
    for what, now, count in story:
        if what == "bad":
            record = record.failed(now, "timeout", "idle", needs_user=count % 2 == 0)
        elif what == "end":
            record = record.ended_well()
        elif what == "busy":
            record = record.waits(now)
        else:
            record = record.accepted(now, count, "auto", confirmed=what == "good")
    content = json.loads(json.dumps(record.to_json()))
    read = SyncRecord.of_json(content)
    assert read.to_json() == content
    assert read.new_entries(500) == record.new_entries(500)


def test_the_file_is_the_one_of_the_other_plugins():
    good = EMPTY.accepted(1.5, 7, "idle", confirmed=True)
    theirs = {
        "session_id": "s",
        "dataset": "d",
        "last_improved_at": 1500,
        "turn_count_at_improve": 7,
        "trigger": "idle",
    }
    assert theirs.items() <= good.to_json().items()
    assert SyncRecord.of_json(theirs) == good
    bad = good.failed(2.5, "timeout", "final")
    theirs |= {
        "last_failed_at": 2500,
        "last_failure_reason": "timeout",
        "last_failure_trigger": "final",
        "failure_count": 1,
    }
    assert theirs.items() <= bad.to_json().items()
    assert SyncRecord.of_json(theirs) == bad


def test_a_server_that_stays_busy_is_remembered_since_the_first_time():
    record = EMPTY.waits(1.0).waits(2.0)
    assert record.waiting_since == 1.0
    for after in (record.accepted(4.0, 1, "sweep", confirmed=False), record.failed(4.0, "x", "x")):
        assert after.waiting_since == 0.0


def test_a_session_that_waited_for_a_month_is_given_up_until_it_waits_anew():
    record = EMPTY.waits(1.0)
    assert not record.given_up(KEPT_SECONDS)
    assert record.given_up(1.0 + KEPT_SECONDS)
    assert not record.waits(1.0 + KEPT_SECONDS).given_up(1.0 + KEPT_SECONDS)
    assert not EMPTY.given_up(1.0 + KEPT_SECONDS)


def test_an_empty_record_is_a_file_without_times():
    assert EMPTY.to_json() == {"session_id": "s", "dataset": "d"}
    assert SyncRecord.of_json(EMPTY.to_json()) == EMPTY


@pytest.mark.parametrize(
    ("count", "stored", "new"), [(0, 0, 0), (0, 4, 4), (3, 3, 0), (3, 5, 2), (3, 0, 0), (3, 2, 2)]
)
def test_new_entries_are_those_beyond_the_last_good_sync_or_all_of_a_new_counter(
    count, stored, new
):
    assert EMPTY.accepted(1, count, "idle", confirmed=True).new_entries(stored) == new


def test_entries_of_a_sync_that_is_not_confirmed_stay_new_but_are_not_counted_twice():
    record = EMPTY.accepted(1, 10, "auto", confirmed=True).accepted(2, 25, "auto", confirmed=False)
    assert record.new_entries(30) == 20
    assert record.since_last(30) == 5
    assert record.ended_well().new_entries(30) == 5
    failed = record.failed(3, "run failed", "auto")
    assert failed.since_last(30) == failed.new_entries(30) == 20
    twice = record.accepted(3, 30, "auto", confirmed=False)
    assert twice.new_entries(30) == 20


def test_a_reason_is_short():
    assert len(EMPTY.failed(1, "x" * 1000, "idle").failure_reason) == 120

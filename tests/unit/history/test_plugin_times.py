"""What plugins took, from ledgers and from a daemon."""

from __future__ import annotations

import json
import os
import time
from datetime import datetime

import pytest

from cognee_hooks.history.plugin_times import live_reports, plugin_times, ran
from cognee_hooks.history.sessions import known_sessions
from cognee_hooks.history.usage import entries, stretches
from cognee_hooks.results import Act
from tests.support.ledgers import DAY, LedgerWriter

NOON = datetime(2026, 3, 10, 12).astimezone().timestamp()


@pytest.fixture
def record(isolated_environment, monkeypatch) -> LedgerWriter:
    monkeypatch.setattr(time, "time", lambda: NOON)
    return LedgerWriter()


def alive(session_id: str, name: str, **hook: object) -> dict[str, object]:
    hooks = [{"hook": "cognee_stop", **hook}]
    return {"session_id": session_id, "plugins": [{"name": name, "hooks": hooks}]}


def test_sessions_that_ended_and_those_that_live_are_added_up(record):
    record("claude_1", Act.RAN, "recall", at=NOON - DAY, count=10, seconds=2.0)
    record("claude_2", Act.RAN, "recall", at=NOON, count=5, seconds=1.0)
    record("claude_2", Act.RAN, "notes", at=NOON, count=1, seconds=0.25)
    told = {"sessions": [alive("claude_3", "recall", calls=5, seconds=1.0, slowest=0.5)]}
    times = plugin_times(ran(known_sessions(os.environ), 0.0), told)
    recall, notes = times["recall"], times["notes"]
    assert (recall.calls, recall.seconds, len(recall.sessions)) == (20, 4.0, 3)
    assert recall.mean == 0.2
    assert recall.live is not None
    assert (recall.live.calls, recall.live.slowest) == (5, 0.5)
    assert (notes.calls, notes.seconds, notes.live) == (1, 0.25, None)


def test_a_session_that_goes_on_after_it_ended_is_one_session(record):
    record("claude_1", Act.RAN, "recall", at=NOON, count=10, seconds=2.0)
    told = {"sessions": [alive("claude_1", "recall", calls=5, seconds=1.0)]}
    times = plugin_times(ran(known_sessions(os.environ), 0.0), told)["recall"]
    assert (times.calls, times.sessions) == (15, {"claude_1"})


def test_what_ended_before_does_not_count(record):
    record("claude_1", Act.RAN, "recall", at=NOON - 2 * DAY, count=10, seconds=2.0)
    record("claude_1", Act.RAN, "recall", at=NOON, count=1, seconds=0.5)
    assert plugin_times(ran(known_sessions(os.environ), NOON - DAY), None)["recall"].calls == 1


def test_rows_of_other_programs_do_no_harm(record):
    record("claude_1", Act.RAN, "ok", at=NOON)
    [session] = known_sessions(os.environ)
    strange = [
        {"what": "\x1b[2Jred\n", "count": -3, "seconds": -1.0},
        {"what": None, "count": 1, "seconds": None},
        {"what": "n" * 2000, "count": 2, "seconds": 1e400},
    ]
    with session.ledger.path.open("a") as file:
        for each in strange:
            file.write(json.dumps({"time": NOON, "act": "ran", **each}) + "\n")
    times = plugin_times(ran([session], 0.0), {"sessions": [3, {"plugins": "x"}]})
    assert (times["red"].calls, times["red"].seconds, times["red"].mean) == (0, 0.0, 0.0)
    assert max(map(len, times)) < 200


def test_to_have_been_called_is_no_event_of_a_session(record):
    record("claude_1", Act.CAPTURED, at=NOON - DAY)
    record("claude_1", Act.RAN, "recall", at=NOON, count=10, seconds=2.0)
    sessions = known_sessions(os.environ)
    assert [row.act for _, row in entries(sessions)] == [Act.CAPTURED]
    [stretch] = stretches(sessions)
    assert stretch.usage.last == NOON - DAY


@pytest.mark.parametrize("told", [None, {}, {"error": "no such request"}, {"sessions": {}}])
def test_a_daemon_that_does_not_know_tells_nothing(told):
    assert live_reports(told) == {}

from __future__ import annotations

import pytest

from builtin_plugins.sync.improver import SyncOutcome, SyncTarget
from builtin_plugins.sync.record import SyncRecord
from builtin_plugins.sync.texts import KEPT, last_sync, told
from builtin_plugins.sync.throttle import Hold, Reason
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.improve import ImproveResult, ImproveState

S = ImproveState
HERE = SyncTarget("s", "notes")


def said(outcome, *, waiting=0, ended_well=None):
    return told(HERE, outcome, waiting=waiting, ended_well=ended_well)


def result(state, reason="", **fields):
    return SyncOutcome(result=ImproveResult(state, reason, **fields))


@pytest.mark.parametrize("state", list(S))
def test_everything_that_an_improve_can_do_is_told_without_gaps(state):
    text = said(result(state, "a {reason}"))
    assert text.endswith(".")
    assert "{dataset" not in text
    assert "{because" not in text


@pytest.mark.parametrize("state", [S.SKIPPED, S.PARTIAL, S.ERRORED, S.BUDGET, S.BUSY])
def test_where_nothing_was_done_it_says_that_nothing_is_lost(state):
    assert KEPT in said(result(state, "why"))


def test_a_busy_session_is_told_from_a_busy_dataset():
    assert "'notes' for another session" in said(result(S.BUSY))
    assert "There is nothing to do" in said(result(S.BUSY, rerun_requested=True))


def test_the_servers_reason_is_told():
    assert "did nothing (disabled_by_config)." in said(result(S.SKIPPED, "disabled_by_config"))
    assert "did nothing. " in said(result(S.SKIPPED))


@pytest.mark.parametrize(
    ("failure", "why"),
    [
        (ServerFailure(FailureKind.REFUSED, "nothing listens"), "(nothing listens)"),
        (ServerFailure(FailureKind.TIMED_OUT), "(timeout)"),
    ],
)
def test_a_failure_is_told_with_what_to_do(failure, why):
    text = said(SyncOutcome(failure=failure))
    assert why in text
    assert KEPT in text
    assert "cognee-hooks doctor" in text


def test_a_sync_in_flight_is_told():
    assert "at this moment" in said(SyncOutcome())


@pytest.mark.parametrize(
    ("ended_well", "words"),
    [(None, "has begun"), (True, "are lasting memory"), (False, "could not turn")],
)
def test_the_end_of_a_run_is_told_where_it_is_known(ended_well, words):
    assert words in said(result(S.SUBMITTED), ended_well=ended_well)


@pytest.mark.parametrize(
    ("waiting", "words"), [(1, "1 captured entry waits"), (2, "2 captured entries wait")]
)
def test_what_waits_for_the_server_is_told(waiting, words):
    assert words in said(result(S.PROMOTED), waiting=waiting)


GOOD = SyncRecord().accepted(1000.0, 3, "idle", confirmed=True)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-50, "just now"),
        (59, "just now"),
        (60, "1 min ago"),
        (7199, "119 min ago"),
        (7200, "2 h ago"),
        (172_799, "47 h ago"),
        (172_800, "2 days ago"),
    ],
)
def test_how_long_ago_the_last_sync_was(seconds, words):
    assert last_sync(GOOD, None, 1000.0 + seconds) == f"last sync {words} (idle)"


def test_what_the_next_one_waits_for():
    taken = SyncRecord().accepted(1000.0, 3, "final", confirmed=False)
    held = Hold(Reason.COOLDOWN, 10.0)
    assert last_sync(taken, held, 1000.0) == (
        "last sync just now (final, end not known); the next one can come in 1 min"
    )
    assert last_sync(GOOD, Hold(Reason.NO_NEW_ENTRIES), 1000.0).endswith("; nothing new since")
    assert last_sync(SyncRecord(), held, 1000.0) == "no sync yet"

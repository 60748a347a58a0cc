from __future__ import annotations

from datetime import UTC, datetime

import pytest

from builtin_plugins.code_lane.follow import Before, Ending, Follower, look_before
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from tests.support.code_session import RUNS, STATUS, UUID, CodeServer

K = FailureKind
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()


@pytest.fixture
def server():
    return CodeServer()


def soon(seconds=5.0):
    return Deadline.after(seconds)


def follow(server, before):
    return Follower(server, UUID, before, first_pause=0.001)


async def test_w7_the_end_of_an_earlier_run_is_not_taken_for_ones_own(server):
    server.run("DATASET_PROCESSING_COMPLETED")
    before = await look_before(server, UUID, soon(), NOW)
    assert await follow(server, before).until(soon(0.05)) is Ending.UNSEEN
    server.run("DATASET_PROCESSING_STARTED")
    assert await follow(server, before).until(soon(0.05)) is Ending.RUNNING
    server.runs.insert(0, server.runs[0] | {"status": "DATASET_PROCESSING_COMPLETED"})
    assert await follow(server, before).until(soon()) is Ending.COMPLETED


async def test_w7_a_run_that_was_under_way_before_is_not_ones_own_when_it_ends(server):
    server.run("DATASET_PROCESSING_STARTED")
    before = await look_before(server, UUID, soon(), NOW)
    server.runs.insert(0, server.runs[0] | {"status": "DATASET_PROCESSING_COMPLETED"})
    assert await follow(server, before).until(soon(0.05)) is Ending.UNSEEN


async def test_a_run_that_fails_is_seen_to(server):
    server.run("DATASET_PROCESSING_ERRORED")
    assert await follow(server, Before()).until(soon()) is Ending.ERRORED


async def test_a_dataset_that_is_not_there_yet_had_no_runs(server):
    assert await look_before(server, "", soon(), NOW) == Before(unseen_at=NOW)
    server.scripts[RUNS] = failing(K.FORBIDDEN)
    assert await look_before(server, UUID, soon(), NOW) == Before(unseen_at=NOW)
    assert server.bodies("/never") == []


async def test_w7_a_dataset_that_is_made_again_has_an_old_end_in_its_log(server):
    server.run("DATASET_PROCESSING_COMPLETED", at="2026-11-30T10:00:00")
    made_again = follow(server, Before(unseen_at=NOW))
    assert await made_again.until(soon(0.05)) is Ending.UNSEEN
    server.run("DATASET_PROCESSING_STARTED", at="2026-11-30T12:00:01")
    assert await made_again.until(soon(0.05)) is Ending.RUNNING
    server.runs.insert(0, server.runs[0] | {"status": "DATASET_PROCESSING_COMPLETED"})
    assert await made_again.until(soon()) is Ending.COMPLETED


@pytest.mark.parametrize("at", ["2026-11-30T12:00:01", "2026-11-30T11:30:00"])
async def test_a_run_in_a_new_dataset_is_seen_to_its_end_whatever_the_servers_clock_says(
    server, at
):
    server.run("DATASET_PROCESSING_STARTED", at=at)
    follower = follow(server, Before(unseen_at=NOW))
    assert await follower.until(soon(0.05)) is Ending.RUNNING
    server.runs.insert(0, server.runs[0] | {"status": "DATASET_PROCESSING_COMPLETED"})
    assert await follower.until(soon()) is Ending.COMPLETED


async def test_w7_without_a_log_the_old_status_of_a_dataset_made_again_is_not_believed(server):
    server.scripts[RUNS] = failing(K.NOT_FOUND)
    words = ["X_COMPLETED"]
    server.scripts[STATUS] = lambda _: {UUID: words[0]}
    follower = follow(server, Before(unseen_at=NOW))
    assert await follower.until(soon(0.05)) is Ending.UNSEEN
    words[0] = "X_STARTED"
    assert await follower.until(soon(0.05)) is Ending.RUNNING
    words[0] = "X_COMPLETED"
    assert await follower.until(soon()) is Ending.COMPLETED


async def test_before_a_server_that_does_not_answer_nothing_is_known(server):
    server.scripts[RUNS] = failing(K.TIMED_OUT)
    with pytest.raises(ServerFailure):
        await look_before(server, UUID, soon(), NOW)


async def test_a_look_that_fails_is_only_a_look(server):
    kinds = [K.TIMED_OUT, K.UNAVAILABLE]
    server.run("DATASET_PROCESSING_COMPLETED")

    def script(_):
        if kinds:
            raise ServerFailure(kinds.pop())
        return server.runs

    server.scripts[RUNS] = script
    assert await follow(server, Before()).until(soon()) is Ending.COMPLETED


async def test_w7_without_a_log_a_status_counts_once_it_was_another(server):
    server.scripts[RUNS] = failing(K.NOT_FOUND)
    words = ["X_COMPLETED"] * 3 + ["X_STARTED", "X_COMPLETED"]
    server.scripts[STATUS] = lambda _: {UUID: words.pop(0) if len(words) > 1 else words[0]}
    before = await look_before(server, UUID, soon(), NOW)
    assert before == Before(status="X_COMPLETED", logged=False)
    assert await follow(server, before).until(soon()) is Ending.COMPLETED


async def test_w7_without_a_log_an_old_status_alone_is_never_believed(server):
    server.scripts[RUNS] = failing(K.NOT_FOUND)
    server.scripts[STATUS] = lambda _: {UUID: "X_COMPLETED"}
    before = await look_before(server, UUID, soon(), NOW)
    assert await follow(server, before).until(soon(0.05)) is Ending.UNSEEN


def failing(kind):
    def script(_):
        raise ServerFailure(kind)

    return script

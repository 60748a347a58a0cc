from __future__ import annotations

import pytest

from builtin_plugins.code_lane.follow import Before, Ending, Follower, look_before
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from tests.support.code_session import RUNS, STATUS, UUID, CodeServer

K = FailureKind


@pytest.fixture
def server():
    return CodeServer()


def soon(seconds=5.0):
    return Deadline.after(seconds)


def follow(server, before):
    return Follower(server, UUID, before, first_pause=0.001)


async def test_w7_the_end_of_an_earlier_run_is_not_taken_for_ones_own(server):
    server.run("DATASET_PROCESSING_COMPLETED")
    before = await look_before(server, UUID, soon())
    assert await follow(server, before).until(soon(0.05)) is Ending.UNSEEN
    server.run("DATASET_PROCESSING_STARTED")
    assert await follow(server, before).until(soon(0.05)) is Ending.RUNNING
    server.runs.insert(0, server.runs[0] | {"status": "DATASET_PROCESSING_COMPLETED"})
    assert await follow(server, before).until(soon()) is Ending.COMPLETED


async def test_w7_a_run_that_was_under_way_before_is_not_ones_own_when_it_ends(server):
    server.run("DATASET_PROCESSING_STARTED")
    before = await look_before(server, UUID, soon())
    server.runs.insert(0, server.runs[0] | {"status": "DATASET_PROCESSING_COMPLETED"})
    assert await follow(server, before).until(soon(0.05)) is Ending.UNSEEN


async def test_a_run_that_fails_is_seen_to(server):
    server.run("DATASET_PROCESSING_ERRORED")
    assert await follow(server, Before()).until(soon()) is Ending.ERRORED


async def test_a_dataset_that_is_not_there_yet_had_no_runs(server):
    assert await look_before(server, "", soon()) == Before()
    server.scripts[RUNS] = failing(K.FORBIDDEN)
    assert await look_before(server, UUID, soon()) == Before()
    assert server.bodies("/never") == []


async def test_before_a_server_that_does_not_answer_nothing_is_known(server):
    server.scripts[RUNS] = failing(K.TIMED_OUT)
    with pytest.raises(ServerFailure):
        await look_before(server, UUID, soon())


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
    before = await look_before(server, UUID, soon())
    assert before == Before(status="X_COMPLETED", logged=False)
    assert await follow(server, before).until(soon()) is Ending.COMPLETED


async def test_w7_without_a_log_an_old_status_alone_is_never_believed(server):
    server.scripts[RUNS] = failing(K.NOT_FOUND)
    server.scripts[STATUS] = lambda _: {UUID: "X_COMPLETED"}
    before = await look_before(server, UUID, soon())
    assert await follow(server, before).until(soon(0.05)) is Ending.UNSEEN


def failing(kind):
    def script(_):
        raise ServerFailure(kind)

    return script

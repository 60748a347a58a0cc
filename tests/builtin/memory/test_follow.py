from __future__ import annotations

import asyncio

import pytest

from builtin_plugins.memory.follow import ENDED, Fate, follow_document
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure

DONE, STARTED = "DATASET_PROCESSING_COMPLETED", "DATASET_PROCESSING_STARTED"
ERRORED, FAILED = "X_ERRORED", "GRAPH_BUILD_FAILED"


class Pipelines:
    """Answers with one status after another; the last one stays."""

    def __init__(self, *statuses):
        self.statuses = list(statuses)
        self.asked = 0

    async def status(self, dataset_id, pipeline, deadline):
        self.asked += 1
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        if status is None:
            raise ServerFailure(FailureKind.TIMED_OUT)
        return status


async def run(*statuses, before="", there=True, seconds=2.0, settled=0.05):
    async def listed():
        if there is None:
            raise ServerFailure(FailureKind.TIMED_OUT)
        return there

    pipelines = Pipelines(*statuses)
    limit = Deadline.after(seconds)
    async with asyncio.timeout(5.0):
        return await follow_document(
            pipelines, "id", listed, before=before, deadline=limit, settled_seconds=settled
        )


@pytest.mark.parametrize(
    ("status", "fate"),
    [(DONE, Fate.READY), ("COMPLETED", Fate.READY), (ERRORED, Fate.FAILED), (FAILED, Fate.FAILED)],
)
async def test_vector_63_a_run_is_over_by_the_end_of_its_status(status, fate):
    assert await run("", STARTED, status) is fate


@pytest.mark.parametrize("before", [DONE, ERRORED, None])
async def test_w7_the_end_of_an_earlier_run_does_not_count(before):
    assert await run(DONE, before=before, there=False, seconds=0.3) is Fate.UNSEEN
    expected = Fate.READY if before else Fate.UNSEEN
    assert await run(DONE, STARTED, DONE, before=before, there=False, seconds=0.9) is expected


async def test_w7_what_a_dataset_that_is_gone_left_behind_does_not_count():
    assert await run(DONE, before=ENDED, there=False, seconds=0.3) is Fate.UNSEEN
    assert await run("", DONE, before=ENDED, there=False) is Fate.READY
    assert await run(STARTED, ERRORED, before=ENDED, there=False) is Fate.FAILED
    assert await run(DONE, before=ENDED, there=True) is Fate.READY


async def test_w7_a_run_of_somebody_else_does_not_count():
    assert await run(STARTED, DONE, before=STARTED, there=False, seconds=0.5) is Fate.UNSEEN
    assert await run(STARTED, DONE, before=STARTED, there=True) is Fate.READY


async def test_a_run_that_was_too_short_to_be_seen_counts_once_the_document_is_listed():
    assert await run(DONE, before=DONE, there=True) is Fate.READY
    assert await run(DONE, before=DONE, there=True, seconds=0.3, settled=9.0) is Fate.BUILDING


@pytest.mark.parametrize(
    ("there", "fate"), [(True, Fate.BUILDING), (False, Fate.UNSEEN), (None, Fate.UNSEEN)]
)
async def test_when_the_time_is_up_the_list_decides(there, fate):
    assert await run(STARTED, there=there, seconds=0.3) is fate
    assert await run(STARTED, there=there, seconds=0.0) is fate


async def test_a_server_that_does_not_answer_meanwhile_is_asked_again():
    assert await run(None, "", None, STARTED, DONE) is Fate.READY

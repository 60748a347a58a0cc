"""Recall lanes of plugins: asked at once, each on its own account."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.faults import QUARANTINE_AFTER, Faults, FaultType
from cognee_hooks.host_parts.lanes import search_lanes
from cognee_hooks.results import Lane
from cognee_hooks.timings import Timings
from tests.support.plugins import HANG, cancels_itself, swallows
from tests.support.waiting import PATIENCE


async def found(query: str) -> list[str]:
    return [query.upper()]


async def search(faults: Faults, seconds: float = PATIENCE, **searches: Any) -> list[Any]:
    lanes = [Lane(name=name, search=each) for name, each in searches.items()]
    owners = {name: f"plugin {name}" for name in searches}
    answers = await search_lanes(lanes, owners, faults, Timings(), "query", Deadline.after(seconds))
    return [(lane.name, texts) for lane, texts in answers]


async def test_lanes_answer_in_their_order():
    async def slow(query: str) -> list[str]:
        await asyncio.sleep(0.02)
        return ["slow"]

    answers = await search(Faults(), a=slow, b=found)
    assert answers == [("a", ["slow"]), ("b", ["QUERY"])]


async def test_without_lanes_nothing_is_asked():
    assert await search(Faults()) == []


async def raises(_: str) -> Any:
    raise ValueError


def raises_at_once(_: str) -> Any:
    raise ValueError


async def leaves(_: str) -> Any:
    raise SystemExit


async def tuples(_: str) -> Any:
    return ("a",)


async def numbers(_: str) -> Any:
    return ["a", 1]


async def hangs(_: str) -> Any:
    await asyncio.sleep(HANG)


async def stubborn(_: str) -> Any:
    await swallows()


async def suicidal(_: str) -> Any:
    await cancels_itself()


@pytest.mark.expects_faults
@pytest.mark.parametrize(
    ("lane", "fault"),
    [
        (raises, "ValueError"),
        (raises_at_once, "ValueError"),
        (leaves, "SystemExit"),
        (tuples, FaultType.RUBBISH),
        (numbers, FaultType.RUBBISH),
        (hangs, FaultType.TIMEOUT),
        (stubborn, FaultType.TIMEOUT),
        (suicidal, "CancelledError"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
async def test_a_lane_that_fails_costs_the_others_nothing(lane, fault):
    faults = Faults()
    started = time.monotonic()
    assert await search(faults, 0.2, bad=lane, good=found) == [("good", ["QUERY"])]
    assert time.monotonic() - started < PATIENCE
    assert [(row.plugin, row.error_type) for row in faults.rows()] == [("plugin bad", fault)]


@pytest.mark.expects_faults
async def test_a_lane_in_quarantine_is_not_asked():
    faults = Faults()
    asked: list[str] = []

    async def broken(query: str) -> Any:
        asked.append(query)
        raise ValueError

    for _ in range(QUARANTINE_AFTER + 2):
        await search(faults, bad=broken)
    assert len(asked) == QUARANTINE_AFTER


async def test_our_own_cancellation_ends_the_lanes():
    begun, ended = asyncio.Event(), asyncio.Event()

    async def patient(_: str) -> Any:
        begun.set()
        try:
            await asyncio.sleep(HANG)
        finally:
            ended.set()

    task = asyncio.create_task(search(Faults(), HANG, a=patient))
    await asyncio.wait_for(begun.wait(), PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(ended.wait(), PATIENCE)

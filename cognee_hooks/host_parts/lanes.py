"""Asks the recall lanes that plugins registered, all at once and each on its own account."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping

from cognee_hooks.deadline import Deadline
from cognee_hooks.dispatch import GRACE
from cognee_hooks.faults import Faults, FaultType, innermost
from cognee_hooks.guard import Attempt, attempt_await
from cognee_hooks.results import Lane
from cognee_hooks.timings import Timings

_HOOK = "lane"


async def search_lanes(
    lanes: Iterable[Lane],
    owners: Mapping[str, str],
    faults: Faults,
    timings: Timings,
    query: str,
    deadline: Deadline,
) -> list[tuple[Lane, list[str]]]:
    """Search all lanes.

    Args:
        lanes: The lanes.
        owners: Plugin of each lane by lane name, to whom its faults are counted.
        faults: Where faults are counted; a lane that is quarantined is not asked.
        timings: Where the time of each lane is counted, to its plugin.
        query: The redacted prompt.
        deadline: When to go on without those that have not answered.

    Returns:
        What was found, lane by lane, in the order of the lanes.
    """
    room = deadline.remaining()

    async def search(lane: Lane) -> Attempt:
        began = time.monotonic()
        try:
            return await attempt_await(_asked(lane, query))
        finally:
            timings.add(owners[lane.name], _HOOK, time.monotonic() - began, room)

    asked = [
        (lane, asyncio.create_task(search(lane), name=lane.name))
        for lane in lanes
        if not faults.is_quarantined(owners[lane.name], _HOOK)
    ]
    if not asked:
        return []
    tasks = [task for _, task in asked]
    try:
        _, late = await asyncio.wait(tasks, timeout=deadline.remaining())
    finally:
        for task in tasks:
            task.cancel()
    if late:
        await asyncio.wait(late, timeout=GRACE)
    found: list[tuple[Lane, list[str]]] = []
    for lane, task in asked:
        if task in late:
            faults.record(owners[lane.name], _HOOK, FaultType.TIMEOUT)
        elif (texts := _judged(_ended(task), owners[lane.name], faults)) is not None:
            found.append((lane, texts))
    return found


def _ended(task: asyncio.Task[Attempt]) -> Attempt:
    # A lane can cancel the task that it runs in; that must not look like our own cancellation.
    return Attempt(error=asyncio.CancelledError()) if task.cancelled() else task.result()


async def _asked(lane: Lane, query: str) -> list[str]:
    # Calling may raise already, if the lane's function is no coroutine function.
    return await lane.search(query)


def _judged(done: Attempt, owner: str, faults: Faults) -> list[str] | None:
    if done.error is not None:
        where = innermost(done.error.__traceback__)
        faults.record(owner, _HOOK, type(done.error).__name__, where)
        return None
    if not isinstance(done.result, list) or not all(isinstance(e, str) for e in done.result):
        faults.record(owner, _HOOK, FaultType.RUBBISH, f"returned {type(done.result).__name__}")
        return None
    faults.success(owner, _HOOK)
    return done.result

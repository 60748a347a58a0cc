"""Work that nobody waits for: it ends, or is ended, and its faults have an owner."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.faults import Faults
from cognee_hooks.host_parts.background import Background
from tests.support.plugins import HANG, swallows
from tests.support.waiting import PATIENCE, turns, until


@pytest.fixture
def faults() -> Faults:
    return Faults()


@pytest.fixture
def background(faults) -> Background:
    return Background(faults)


async def test_settling_waits_for_work_and_for_what_it_starts(background):
    done: list[str] = []

    async def inner() -> None:
        await asyncio.sleep(0.01)
        done.append("inner")

    async def outer() -> None:
        await asyncio.sleep(0.01)
        background.spawn("a", inner())
        done.append("outer")

    background.spawn("a", outer())
    assert await background.settle(Deadline.after(PATIENCE))
    assert done == ["outer", "inner"]


async def test_settling_ends_at_its_deadline_and_closing_cancels(background):
    background.spawn("a", asyncio.sleep(HANG))
    started = time.monotonic()
    assert not await background.settle(Deadline.after(0.05))
    assert await background.close() == 0
    assert time.monotonic() - started < PATIENCE


@pytest.mark.expects_faults
@pytest.mark.parametrize("error", [ValueError, SystemExit, asyncio.CancelledError])
async def test_what_work_raises_is_a_fault_of_its_owner(background, faults, error):
    async def broken() -> None:
        raise error

    background.spawn("a", broken())
    assert await background.settle(Deadline.after(PATIENCE))
    [fault] = faults.rows()
    assert (fault.plugin, fault.hook, fault.error_type) == ("a", "background", error.__name__)


async def test_work_that_lasts_is_not_waited_for_and_ends_with_the_host(background):
    cancelled: list[str] = []

    async def timer() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.append("timer")

    background.spawn("a", timer(), lasting=True)
    await asyncio.to_thread(background.spawn, "a", timer(), lasting=True)
    background.spawn("a", asyncio.sleep(0.01))
    assert await background.settle(Deadline.after(30))
    assert cancelled == []
    assert await background.close() == 0
    assert cancelled == ["timer"] * 2


async def test_work_that_outlasts_a_session_is_told_of_and_not_waited_for(background):
    done = asyncio.Event()

    async def work() -> None:
        await done.wait()

    assert not background.outlasts
    background.spawn("a", work(), outlasting=True)
    await asyncio.to_thread(background.spawn, "a", asyncio.sleep(HANG), outlasting=True)
    assert await background.settle(Deadline.after(30))
    assert background.outlasts
    done.set()
    await asyncio.sleep(0)
    assert background.outlasts  # there is another one
    assert await background.close() == 0
    assert not background.outlasts


async def test_work_that_never_began_is_closed_without_a_warning(background):
    async def never() -> None:
        raise AssertionError

    background.spawn("a", never())
    assert await background.close() == 0


async def test_work_that_comes_late_is_closed_unrun(background):
    work = asyncio.sleep(0)
    await background.close()
    background.spawn("a", work)
    await asyncio.to_thread(background.spawn, "a", asyncio.sleep(0))
    await asyncio.sleep(0)
    with pytest.raises(RuntimeError, match="cannot reuse"):
        await work


async def test_work_that_was_on_its_way_when_the_host_closed_is_closed_unrun(background):
    background.attach()
    work = asyncio.sleep(0)
    # Waited for without giving the loop a turn, so that what the thread hands over is still queued.
    thread = threading.Thread(target=background.spawn, args=("a", work))
    thread.start()
    thread.join(PATIENCE)
    await background.close()
    await turns()
    with pytest.raises(RuntimeError, match="cannot reuse"):
        await work


async def test_work_that_will_not_end_is_counted(background):
    background.spawn("a", swallows())
    await asyncio.sleep(0)
    assert await background.close() == 1


async def test_a_thread_may_start_work(background):
    background.attach()
    done = asyncio.Event()

    async def work() -> None:
        done.set()

    await asyncio.to_thread(lambda: background.spawn("a", work()))
    await asyncio.wait_for(done.wait(), PATIENCE)


async def test_a_loop_of_the_plugins_own_still_hands_work_to_the_hosts(background):
    background.attach()
    loops: list[asyncio.AbstractEventLoop] = []

    async def work() -> None:
        loops.append(asyncio.get_running_loop())

    async def elsewhere() -> None:
        background.spawn("a", work())

    await asyncio.to_thread(lambda: asyncio.run(elsewhere()))
    await until(lambda: loops)
    assert loops == [asyncio.get_running_loop()]


def test_without_an_event_loop_work_is_refused(background):
    with pytest.raises(RuntimeError, match="started host"):
        background.spawn("a", asyncio.sleep(0))


async def test_what_is_no_coroutine_is_refused(background):
    with pytest.raises(TypeError, match="not NoneType"):
        background.spawn("a", None)

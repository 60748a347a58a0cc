from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from cognee_hooks.daemon import processes
from cognee_hooks.daemon.processes import ProcessWatch
from tests.support.waiting import PATIENCE, until

NOBODY = 2**22 + 12345


@pytest.fixture
def child():
    """A process that lives until somebody ends it."""
    with subprocess.Popen(["sleep", "90"]) as process:
        yield process
        process.kill()


@pytest.fixture
def zombie():
    """A process that has ended and whose exit status nobody has taken."""
    with subprocess.Popen(["true"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        yield process


@pytest.fixture
def calls():
    """What a watch has called; waits for the first call."""
    return Calls()


class Calls:
    def __init__(self):
        self.count = 0
        self._happened = asyncio.Event()

    def __call__(self):
        self.count += 1
        self._happened.set()

    async def within(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._happened.wait()
        # Time for a second call, which would be one too many.
        await asyncio.sleep(0.05)
        return self.count > 0


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _forbidden(pid):
    raise PermissionError(errno.EPERM, "forbidden")


@pytest.fixture(params=["told by the system", "forbidden", "no linux"])
def way(request, monkeypatch):
    """The ways in which a watch learns of an end."""
    monkeypatch.setattr(processes, "POLL_SECONDS", 0.02)
    if request.param == "forbidden":
        monkeypatch.setattr(os, "pidfd_open", _forbidden)
    elif request.param == "no linux":
        monkeypatch.setattr(sys, "platform", "darwin")
    return request.param


async def test_the_end_of_a_process_is_told_once(way, child, calls):
    watch = ProcessWatch(child.pid, calls)
    assert not await calls.within(0.1)
    child.kill()
    assert await calls.within(PATIENCE)
    assert calls.count == 1
    watch.stop()


async def test_a_process_of_which_only_its_exit_status_is_left_has_ended(way, zombie, calls):
    ProcessWatch(zombie.pid, calls)
    assert await calls.within(PATIENCE)
    assert calls.count == 1


@pytest.mark.parametrize("pid", [NOBODY, 0, -1, 2**31, 9_999_999_999])
async def test_a_process_that_is_not_there_has_ended(way, calls, pid):
    ProcessWatch(pid, calls)
    assert calls.count == 0, "the callback may need the watch that is just being made"
    assert await calls.within(PATIENCE)
    assert calls.count == 1


async def test_after_a_stop_nothing_is_told(way, child, calls):
    watch = ProcessWatch(child.pid, calls)
    await asyncio.sleep(0.05)
    watch.stop()
    child.kill()
    child.wait()
    assert not await calls.within(0.1)
    watch.stop()


async def test_a_stop_before_the_loop_runs_keeps_even_an_end_before_it_silent(way, calls):
    ProcessWatch(NOBODY, calls).stop()
    assert not await calls.within(0.1)


async def test_a_watch_that_is_stopped_in_the_turn_of_the_loop_in_which_it_is_due_is_silent(
    way, child, calls
):
    watches = []

    def first():
        for each in watches:  # itself as well
            each.stop()
        calls()

    watches += [ProcessWatch(child.pid, first) for _ in range(2)]
    await asyncio.sleep(0.05)
    child.kill()
    child.wait()
    time.sleep(0.1)  # noqa: ASYNC251 -- so that both are due when the loop goes on
    assert await calls.within(PATIENCE)
    assert calls.count == 1


async def test_watches_of_one_process_are_told_each(way, child):
    every = [Calls() for _ in range(3)]
    for each in every:
        ProcessWatch(child.pid, each)
    child.kill()
    assert [await each.within(PATIENCE) for each in every] == [True] * 3


async def test_a_later_process_of_the_same_id_is_another_one(way, child, calls, monkeypatch):
    watch = ProcessWatch(child.pid, calls)
    assert watch.is_of(child.pid)
    assert not watch.is_of(os.getpid())
    monkeypatch.setattr(processes, "start_time", lambda pid: "later")
    assert not watch.is_of(child.pid)
    watch.stop()


async def test_an_id_that_was_given_away_while_nobody_looked_means_an_end(
    child, calls, monkeypatch
):
    monkeypatch.setattr(processes, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(os, "pidfd_open", _forbidden)
    monkeypatch.setattr(processes, "start_time", lambda pid: "1")
    ProcessWatch(child.pid, calls)  # that started at another time
    assert await calls.within(PATIENCE)


async def test_a_loop_that_can_watch_no_more_files_leaves_it_to_looking(child, calls, monkeypatch):
    monkeypatch.setattr(processes, "POLL_SECONDS", 0.02)

    def full(descriptor, callback):
        raise OSError(errno.ENOSPC, "no more")

    monkeypatch.setattr(asyncio.get_running_loop(), "add_reader", full)
    before = open_files()
    ProcessWatch(child.pid, calls)
    assert open_files() == before
    child.kill()
    assert await calls.within(PATIENCE)


async def test_nothing_stays_open_behind_a_watch(child, calls):
    before = open_files()
    watches = [ProcessWatch(child.pid, calls) for _ in range(10)]
    for watch in watches[:5]:
        watch.stop()
    child.send_signal(signal.SIGTERM)
    await until(lambda: calls.count == 5)
    assert open_files() == before


async def test_to_watch_who_is_gone_starts_no_program(calls, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", None)
    watch = ProcessWatch(NOBODY, calls)
    assert watch.is_of(NOBODY)
    assert await calls.within(PATIENCE)

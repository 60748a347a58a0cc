from __future__ import annotations

import asyncio

import pytest

from builtin_plugins.sync.timer import Timer
from tests.support.waiting import turns, until


class Work:
    """Background work of a session, and what the timer called."""

    def __init__(self):
        self.tasks = []
        self.calls = []

    def spawn(self, work, *, lasting):
        assert lasting
        self.tasks.append(asyncio.create_task(work))

    def action(self, name):
        async def act():
            self.calls.append(name)

        return act


@pytest.fixture
def work():
    return Work()


async def test_it_calls_after_a_while(work):
    timer = Timer(work.spawn)
    timer.arm(0.01, work.action("a"))
    assert timer.armed
    await until(lambda: work.calls)
    assert work.calls == ["a"]
    assert not timer.armed


async def test_called_off_it_ends_at_once_and_calls_nothing(work):
    timer = Timer(work.spawn)
    timer.arm(3600, work.action("a"))
    await turns()
    timer.disarm()
    timer.disarm()
    assert not timer.armed
    await asyncio.gather(*work.tasks)
    assert work.calls == []


async def test_set_again_the_first_call_is_off(work):
    timer = Timer(work.spawn)
    timer.arm(3600, work.action("a"))
    timer.arm(0, work.action("b"))
    await asyncio.gather(*work.tasks)
    assert work.calls == ["b"]


async def test_called_off_in_the_moment_of_going_off_it_calls_nothing(work):
    timer = Timer(work.spawn)
    timer.arm(0, work.action("a"))
    await asyncio.sleep(0)  # the time is up, and the task has not heard of it
    timer.disarm()
    await asyncio.gather(*work.tasks)
    assert work.calls == []


async def test_what_it_calls_can_set_it_again(work):
    timer = Timer(work.spawn)

    async def again():
        work.calls.append("a")
        timer.arm(0, work.action("b"))

    timer.arm(0, again)
    await until(lambda: len(work.calls) == 2)
    assert work.calls == ["a", "b"]

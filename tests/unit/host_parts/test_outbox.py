"""What waits to be sent, by the core and by plugins."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace
from typing import Any

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.host_parts.outbox import Outbox
from tests.support.waiting import PATIENCE


class Queue:
    """The core's own queue; what is drained is at the server."""

    def __init__(self) -> None:
        self.waiting = 0
        self.sending = False

    def accept(self, _request: object) -> str:
        self.waiting += 1
        return "queued"

    async def drain(self, _deadline: Deadline) -> None:
        self.waiting = 0

    def abandon(self) -> int:
        left, self.waiting = self.waiting, 0
        return left


class Tasks:
    """Background work, done when the test says so."""

    def __init__(self) -> None:
        self.given: list[Any] = []

    def spawn(self, owner: str, work: Any, *, lasting: bool) -> None:
        assert (owner, lasting) == ("core", True)
        self.given.append(work)

    async def work(self) -> None:
        while self.given:
            await self.given.pop()


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def tasks() -> Tasks:
    return Tasks()


@pytest.fixture
def health() -> SimpleNamespace:
    return SimpleNamespace(state="ok")


@pytest.fixture
def outbox(queue: Any, health: Any, tasks: Any) -> Outbox:
    return Outbox(queue, health, tasks, time.monotonic)


async def test_an_entry_that_no_plugin_takes_is_queued_and_sent_in_the_background(outbox, tasks):
    assert outbox.accept(object()) == "queued"
    assert (outbox.queued, outbox.waiting, outbox.volatile) == (1, 1, 1)
    await tasks.work()
    assert (outbox.queued, outbox.waiting, outbox.volatile) == (0, 0, 0)


def test_nothing_is_sent_while_the_server_is_away_or_sending_goes_on(outbox, tasks, queue, health):
    health.state = "offline"
    outbox.accept(object())
    health.state, queue.sending = "ok", True
    outbox.drain_soon()
    assert tasks.given == []


def test_what_plugins_keep_counts_as_waiting_and_never_less_than_nothing(outbox):
    outbox.report("bridge", 3, volatile=1)
    outbox.report("other", -5, volatile=-5)
    assert (outbox.queued, outbox.waiting, outbox.volatile) == (0, 3, 1)
    outbox.report("bridge", 2, volatile=0)
    assert (outbox.waiting, outbox.volatile) == (2, 0)


async def test_a_flush_waits_for_plugins_as_long_as_they_get_on(outbox):
    outbox.report("bridge", 2, volatile=0)
    flushing = asyncio.create_task(outbox.flush(Deadline.after(PATIENCE)))
    for left in (1, 0):
        await asyncio.sleep(0.01)
        assert not flushing.done()
        outbox.report("bridge", left, volatile=0)
    await asyncio.wait_for(flushing, PATIENCE)


@pytest.mark.parametrize("state", ["ok", "offline"])
async def test_a_flush_does_not_wait_for_a_plugin_that_gets_nowhere(outbox, health, state):
    health.state = state
    outbox.report("bridge", 2, volatile=0)
    began = time.monotonic()
    await outbox.flush(Deadline.after(PATIENCE))
    assert time.monotonic() - began < PATIENCE / 2
    assert outbox.waiting == 2


async def test_a_flush_sends_the_queue_and_has_no_time_left_at_its_deadline(outbox, queue):
    queue.waiting = 2
    outbox.report("bridge", 1, volatile=1)
    await outbox.flush(Deadline.after(0))
    assert (outbox.queued, outbox.waiting) == (0, 1)


def test_what_is_given_up_is_counted_with_what_plugins_have_in_memory(outbox, queue):
    queue.waiting = 2
    outbox.report("bridge", 5, volatile=3)
    assert outbox.abandon() == 5
    assert outbox.waiting == 5

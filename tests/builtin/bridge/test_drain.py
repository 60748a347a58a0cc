"""The loop: who is sent first, when it pauses, what wakes it, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from builtin_plugins.bridge.buffer import Buffer
from builtin_plugins.bridge.drain import Drain, Pacing
from builtin_plugins.bridge.folder import BufferFolder
from builtin_plugins.bridge.fresh import Fresh
from builtin_plugins.bridge.limits import BufferLimits
from builtin_plugins.bridge.sender import Sender, Settling
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind
from tests.support.bridged import ListServer, failing, payload
from tests.support.waiting import until

K = FailureKind
SOON = Pacing(first=0.01, longest=0.04, after_change=0.001, round=5)
NEVER = Pacing(first=1000, longest=1000, after_change=0.001, round=5)


class Health:
    """What the drain asks about the connection."""

    def __init__(self) -> None:
        self.state = "ok"
        self.retry_in = 0.0
        self.waited = 0

    def note(self, failure: Any) -> None:
        pass

    async def wait_ready(self, deadline: Deadline) -> bool:
        self.waited += 1
        return self.state == "ok"


class Slow(ListServer):
    """Takes entries when it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()
        self.go = asyncio.Event()
        self.running = 0
        self.most = 0

    async def store_entry(self, entry: Any, **options: Any) -> Any:
        self.running += 1
        self.most = max(self.most, self.running)
        self.asked.set()
        try:
            await self.go.wait()
            return await super().store_entry(entry, **options)
        finally:
            self.running -= 1


@pytest.fixture
def health(context) -> Health:
    context.services.health = Health()
    return context.services.health


@pytest.fixture
def buffers(folder, sealer, clock) -> BufferFolder:
    made = BufferFolder(folder, sealer, BufferLimits(100), now=clock)
    made.prepare()
    return made


@pytest.fixture
def own(buffers) -> Buffer:
    return buffers.of("s1")


@pytest.fixture
def drain_of(context, health, folder, sealer, clock) -> Callable[..., Drain]:
    """Make the drain of a host; each has buffers of its own, as another process would."""

    def make(pacing: Pacing = NEVER, session: str = "s1", settling: float = 0.0) -> Drain:
        buffers = BufferFolder(folder, sealer, BufferLimits(100), now=clock)
        own = buffers.of(session)
        return Drain(
            context,
            buffers,
            Sender(
                context,
                Settling(after_timeout=settling, after_break=settling),
                fresh=Fresh(context),
            ),
            own=lambda: [own],
            pacing=pacing,
            changed=lambda: None,
        )

    return make


@contextlib.asynccontextmanager
async def running(drain: Drain) -> AsyncIterator[None]:
    task = asyncio.create_task(drain.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def test_what_waits_is_sent_at_once_and_in_order(drain_of, own, server):
    for number in range(3):
        own.enqueue(payload(number))
    async with running(drain_of()):
        await until(lambda: len(server.stored) == 3)
    assert server.questions == ["question 0", "question 1", "question 2"]


async def test_a_capture_wakes_it(drain_of, own, server):
    drain = drain_of()
    async with running(drain):
        await asyncio.sleep(0.02)
        own.enqueue(payload(1))
        drain.captured()
        await until(lambda: server.stored)


async def test_our_own_entries_go_first_then_the_oldest(drain_of, buffers, own, server):
    buffers.of("b").enqueue(payload("b new", session_id="b", captured_at=30))
    buffers.of("c").enqueue(payload("c old", session_id="c", captured_at=10))
    buffers.of("b").enqueue(payload("b newer", session_id="b", captured_at=40))
    buffers.of("c").enqueue(payload("c between", session_id="c", captured_at=35))
    own.enqueue(payload("own", captured_at=99))
    async with running(drain_of()):
        await until(lambda: len(server.stored) == 5)
    assert [each.removeprefix("question ") for each in server.questions] == [
        "own",
        "c old",
        "b new",
        "c between",
        "b newer",
    ]


async def test_a_head_that_is_refused_blocks_its_own_session_only(drain_of, buffers, own, server):
    own.enqueue(payload("own"))
    own.enqueue(payload("behind"))
    buffers.of("b").enqueue(payload("other", session_id="b"))
    server.answers = [failing(K.FORBIDDEN, status=403)]
    async with running(drain_of()):
        await until(lambda: server.stored)
        await asyncio.sleep(0.02)
    assert server.questions == ["question other"]
    assert own.count == 2


async def test_after_a_failure_it_tries_again_with_pauses_w2(drain_of, own, server):
    own.enqueue(payload(1))
    server.answers = [failing(K.REFUSED)] * 4
    async with running(drain_of(SOON)):
        await until(lambda: server.stored)
    assert server.calls.count("entry") == 5


async def test_captures_do_not_hurry_a_server_that_has_just_failed(drain_of, own, server):
    drain = drain_of()
    own.enqueue(payload(1))
    server.answers = [failing(K.REFUSED)] * 99
    async with running(drain):
        await until(lambda: server.calls)
        for number in range(5):
            own.enqueue(payload(number))
            drain.captured()
            await asyncio.sleep(0.005)
        assert server.calls == ["entry"]
        server.answers = []
        drain.server_works()
        await until(lambda: len(server.stored) == 6)


async def test_captures_go_out_although_another_session_is_blocked(drain_of, buffers, own, server):
    drain = drain_of()
    buffers.of("b").enqueue(payload("other", session_id="b"))
    server.answers = [failing(K.FORBIDDEN, status=403)]
    async with running(drain):
        await until(lambda: server.calls)
        await asyncio.sleep(0.01)
        own.enqueue(payload("own"))
        drain.captured()
        await until(lambda: server.stored)
    assert server.questions == ["question own"]


@pytest.mark.parametrize("state", ["offline", "auth", "server-error"])
async def test_a_server_that_does_not_work_is_not_asked(drain_of, own, server, health, state):
    drain = drain_of()
    health.state = state
    own.enqueue(payload(1))
    async with running(drain):
        await until(lambda: health.waited)
        await asyncio.sleep(0.01)
        assert server.calls == []
        health.state = "ok"
        drain.server_works()
        await until(lambda: server.stored)


async def test_a_server_that_asked_to_be_left_alone_is(drain_of, own, server, health):
    health.retry_in = 0.05
    own.enqueue(payload(1))
    async with running(drain_of(SOON)):
        await until(lambda: health.waited)
        assert server.calls == []
        health.retry_in = 0.0
        await until(lambda: server.stored)


async def test_what_a_server_asks_for_makes_no_later_pause_longer(drain_of, own, server, health):
    own.enqueue(payload(1))
    health.retry_in = 0.001
    # Were the pauses doubled, the sixth of them would be longer than the test.
    drain = drain_of(Pacing(first=0.05, longest=1000, after_change=0.001, round=5))
    async with running(drain):
        await until(lambda: health.waited > 6)
        health.retry_in = 0.0
        async with asyncio.timeout(1.0):
            await until(lambda: server.stored)


async def test_pauses_begin_anew_when_the_server_is_back(drain_of, own, server):
    own.enqueue(payload(1))
    server.answers += [failing(K.REFUSED)] * 4
    drain = drain_of(Pacing(first=0.5, longest=1000, after_change=0.001, round=5))
    async with running(drain):
        for refused in range(1, 4):
            await until(lambda: server.calls.count("entry") == refused)  # noqa: B023 - at once
            drain.server_works()
        async with asyncio.timeout(2.5):  # the fifth pause of doubled ones is as long as eight
            await until(lambda: server.stored)


async def test_a_head_in_doubt_is_tried_when_its_time_has_come(drain_of, own, server, context):
    # The pause is endless, so it is the moment of the head that wakes the loop.
    context.now = asyncio.get_running_loop().time
    own.enqueue(payload(1))
    server.answers = [failing(K.TIMED_OUT)]
    async with running(drain_of(settling=0.05)):
        await until(lambda: server.stored)
    assert server.calls[-1] == "entry"


async def test_two_hosts_never_send_from_one_file_at_once(drain_of, buffers, own, context):
    server = Slow()
    context.services.client = server
    for number in range(4):
        own.enqueue(payload(number))
    async with running(drain_of(SOON)), running(drain_of(SOON)), running(drain_of(SOON, "b")):
        await server.asked.wait()
        await asyncio.sleep(0.05)
        assert server.running == 1
        server.go.set()
        await until(lambda: len(server.stored) == 4)
    assert server.most == 1
    assert server.questions == [f"question {number}" for number in range(4)]


async def test_our_own_file_is_ours_while_something_waits_in_it(drain_of, own, server, buffers):
    drain = drain_of()
    own.enqueue(payload(1))
    server.answers = [failing(K.REFUSED)]
    async with running(drain):
        await until(lambda: server.calls)
        await asyncio.sleep(0.01)
        assert not own.drain_lock.try_acquire()
        drain.server_works()
        await until(lambda: server.stored)
        await until(own.drain_lock.try_acquire)
        own.drain_lock.release()
    own.enqueue(payload(2))
    assert own.drain_lock.try_acquire()


async def test_a_loop_that_ends_gives_its_file_back(drain_of, own, server):
    own.enqueue(payload(1))
    server.answers = [failing(K.REFUSED)]
    async with running(drain_of()):
        await until(lambda: server.calls)
        await asyncio.sleep(0.01)
    assert own.drain_lock.try_acquire()


async def test_a_round_that_took_its_time_goes_on_in_the_next(drain_of, own, server):
    for number in range(5):
        own.enqueue(payload(number))
    hurried = Pacing(first=1000, longest=1000, after_change=0.001, round=0.0)
    async with running(drain_of(hurried)):
        await asyncio.sleep(0.02)
        assert server.calls == []
    server.answers = [lambda store: (time.sleep(0.1), store())[1]] * 5
    some = Pacing(first=1000, longest=1000, after_change=0.001, round=0.15)
    async with running(drain_of(some)):
        await until(lambda: len(server.stored) == 5)


# -- trouble with files ------------------------------------------------------------------------


async def test_a_file_that_cannot_be_read_blocks_nobody(drain_of, buffers, own, server):
    buffers.of("b").enqueue(payload("closed", session_id="b"))
    buffers.of("b").path.chmod(0o622)
    own.enqueue(payload("own"))
    async with running(drain_of()):
        await until(lambda: server.stored)
    assert server.questions == ["question own"]


async def test_a_file_that_cannot_be_written_blocks_nobody(
    drain_of, buffers, own, server, monkeypatch
):
    buffers.of("b").enqueue(payload("other", session_id="b"))
    own.enqueue(payload("own"))
    begin = Buffer.begin

    def full(self: Buffer, seq: int) -> None:
        if self.stem == own.stem:
            raise OSError(28, "no space")
        begin(self, seq)

    monkeypatch.setattr(Buffer, "begin", full)
    async with running(drain_of()):
        await until(lambda: server.stored)
    assert server.questions == ["question other"]


# -- the end -----------------------------------------------------------------------------------


async def test_at_the_end_our_own_entries_are_sent_and_no_others(drain_of, buffers, own, server):
    buffers.of("b").enqueue(payload("other", session_id="b"))
    for number in range(3):
        own.enqueue(payload(number))
    await drain_of().finish(Deadline.after(5))
    assert server.questions == ["question 0", "question 1", "question 2"]


async def test_the_end_stops_at_the_first_that_cannot_be_sent_w30(drain_of, own, server):
    own.enqueue(payload(1))
    own.enqueue(payload(2))
    server.answers = [failing(K.FORBIDDEN, status=403)] * 99
    await drain_of().finish(Deadline.after(5))
    assert server.calls == ["entry"]
    assert own.count == 2


async def test_the_end_waits_for_a_round_that_is_under_way_w29(drain_of, buffers, own, context):
    server = Slow()
    context.services.client = server
    drain = drain_of()
    buffers.of("b").enqueue(payload("other 1", session_id="b"))
    buffers.of("b").enqueue(payload("other 2", session_id="b"))
    async with running(drain):
        await server.asked.wait()
        own.enqueue(payload("own"))
        ending = asyncio.create_task(drain.finish(Deadline.after(60)))
        await asyncio.sleep(0.01)
        server.go.set()
        await ending
    # The round ends after its request, and what is ours goes out before the rest.
    assert server.questions[:2] == ["question other 1", "question own"]
    assert server.most == 1


async def test_the_end_does_not_wait_beyond_its_time(drain_of, buffers, own, context):
    server = Slow()
    context.services.client = server
    drain = drain_of()
    buffers.of("b").enqueue(payload("other", session_id="b"))
    async with running(drain):
        await server.asked.wait()
        own.enqueue(payload("own"))
        await drain.finish(Deadline.after(0.02))
        assert server.stored == []
        server.go.set()
        await until(lambda: len(server.stored) == 2)

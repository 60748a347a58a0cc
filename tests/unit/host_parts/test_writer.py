"""The core's own way of sending entries: in order, never twice, never silently lost."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.faults import DropReason
from cognee_hooks.host_parts.writer import DirectWriter
from cognee_hooks.results import StoreRequest, StoreState
from cognee_hooks.services.answers import StoredEntry
from tests.support.redacted import redacted
from tests.support.waiting import PATIENCE, until


class Server:
    """Stores entries once it is ready, or fails as it is told."""

    def __init__(self) -> None:
        self.stored: list[int] = []
        self.failures: list[ServerFailure | None] = []
        self.ready = asyncio.Event()
        self.ready.set()

    async def store_entry(self, entry: Any, *, deadline: Deadline, **_: Any) -> StoredEntry:
        await self.ready.wait()
        failure = self.failures.pop(0) if self.failures else None
        if failure is not None:
            raise failure
        self.stored.append(entry.value["n"])
        return StoredEntry(entry_id=str(entry.value["n"]), dataset_id="d")


class Health:
    def __init__(self) -> None:
        self.noted: list[ServerFailure | None] = []

    def note(self, failure: ServerFailure | None) -> None:
        self.noted.append(failure)


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def health() -> Health:
    return Health()


@pytest.fixture
def drops() -> list[DropReason]:
    return []


@pytest.fixture
def writer(server, health, drops) -> DirectWriter:
    return DirectWriter(
        server, health, drops.append, request_seconds=PATIENCE, limit=3, clock=time.monotonic
    )


def give(writer: DirectWriter, *numbers: int) -> None:
    for number in numbers:
        receipt = writer.accept(
            StoreRequest(entry=redacted({"n": number}), session_id="s", dataset="d")
        )
        assert receipt.state is StoreState.BUFFERED


async def test_entries_go_in_the_order_of_capture(writer, server, health):
    give(writer, 1, 2, 3)
    await writer.drain(Deadline.after(PATIENCE))
    assert server.stored == [1, 2, 3]
    assert writer.waiting == 0
    assert health.noted == [None] * 3


@pytest.mark.parametrize(
    "kind",
    [
        kind
        for kind in FailureKind
        if ServerFailure(kind).retryable and not ServerFailure(kind).ambiguous
    ],
)
async def test_what_was_surely_not_stored_stays_at_the_head(writer, server, drops, kind):
    server.failures = [ServerFailure(kind)]
    give(writer, 1, 2)
    await writer.drain(Deadline.after(PATIENCE))
    assert (server.stored, writer.waiting) == ([], 2)
    await writer.drain(Deadline.after(PATIENCE))
    assert server.stored == [1, 2]
    assert drops == []


@pytest.mark.parametrize("kind", [kind for kind in FailureKind if ServerFailure(kind).ambiguous])
async def test_what_may_have_been_stored_is_not_sent_again(writer, server, drops, kind):
    server.failures = [ServerFailure(kind)]
    give(writer, 1, 2)
    await writer.drain(Deadline.after(PATIENCE))
    await writer.drain(Deadline.after(PATIENCE))
    assert server.stored == [2]
    assert writer.waiting == 0
    assert drops == []


@pytest.mark.parametrize("kind", [FailureKind.REJECTED, FailureKind.NO_MEMORY])
async def test_what_will_never_be_accepted_is_dropped_and_counted(writer, server, drops, kind):
    server.failures = [ServerFailure(kind)]
    give(writer, 1, 2)
    await writer.drain(Deadline.after(PATIENCE))
    assert server.stored == [2]
    assert drops == [DropReason.REJECTED]


async def test_beyond_the_limit_the_oldest_goes_and_is_counted(writer, server, drops):
    give(writer, 1, 2, 3, 4)
    assert drops == [DropReason.QUEUE_OVERFLOW]
    await writer.drain(Deadline.after(PATIENCE))
    assert server.stored == [2, 3, 4]


async def test_the_entry_that_is_on_its_way_is_not_counted_as_dropped(writer, server, drops):
    server.ready.clear()
    give(writer, 1, 2, 3)
    draining = asyncio.create_task(writer.drain(Deadline.after(PATIENCE)))
    await until(lambda: writer.sending)
    give(writer, 4)
    server.ready.set()
    await draining
    assert server.stored == [1, 3, 4]
    assert drops == [DropReason.QUEUE_OVERFLOW]


async def test_with_room_for_one_the_entry_on_its_way_gives_way(server, health, drops):
    writer = DirectWriter(
        server, health, drops.append, request_seconds=PATIENCE, limit=1, clock=time.monotonic
    )
    server.ready.clear()
    give(writer, 1)
    draining = asyncio.create_task(writer.drain(Deadline.after(PATIENCE)))
    await until(lambda: writer.sending)
    give(writer, 2)
    server.ready.set()
    await draining
    assert server.stored == [1, 2]


async def test_a_drain_does_not_wait_beyond_its_deadline_for_another(writer, server):
    server.ready.clear()
    give(writer, 1)
    longer = asyncio.create_task(writer.drain(Deadline.after(PATIENCE)))
    await until(lambda: writer.sending)
    await writer.drain(Deadline.after(0.05))
    assert not longer.done()
    server.ready.set()
    await longer
    assert server.stored == [1]


async def test_after_the_deadline_nothing_more_is_sent(writer, server):
    give(writer, 1)
    await writer.drain(Deadline.after(0))
    assert (server.stored, writer.waiting) == ([], 1)


async def test_what_is_given_up_is_counted(writer, drops):
    give(writer, 1, 2)
    assert writer.abandon() == 2
    assert writer.abandon() == 0
    assert drops == [DropReason.SERVER_DOWN] * 2

from __future__ import annotations

import asyncio
import errno
import os
from typing import Any

import pytest

from builtin_plugins.bridge import envelope, log
from builtin_plugins.bridge import late as module
from builtin_plugins.bridge.late import Late, passes
from builtin_plugins.bridge.log import Untrusted
from cognee_hooks.deadline import Deadline
from cognee_hooks.host import Host
from cognee_hooks.results import StoreRequest, StoreState
from tests.support.redacted import redacted
from tests.support.scripted import ScriptedClient, scripted_host
from tests.support.waiting import until

SID = "claude_s1"
FULL = OSError(errno.ENOSPC, "No space left on device")


def request(number: object) -> StoreRequest:
    entry = {"type": "qa", "question": f"{number}", "answer": "", "context": ""}
    return StoreRequest(entry=redacted(entry), session_id=SID, dataset="d")


class Disk:
    """A disk that is full, or not, and what is on it."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.held: list[str] = []

    def write(self, request: StoreRequest) -> None:
        if self.error is not None:
            raise self.error
        self.held.append(request.entry.value["question"])


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
def gone() -> list[int]:
    return []


@pytest.fixture
def late(disk, gone) -> Late:
    return Late(disk.write, gone.append, 3)


def test_what_could_not_be_written_is_written_in_order(disk, late):
    disk.error = FULL
    for number in range(3):
        late.add(request(number))
    assert not late.write()
    assert len(late) == 3
    disk.error = None
    assert late.write()
    assert disk.held == ["0", "1", "2"]


def test_beyond_the_limit_the_oldest_is_given_up_and_counted(disk, late, gone):
    disk.error = FULL
    for number in range(5):
        late.add(request(number))
    disk.error = None
    late.write()
    assert disk.held == ["2", "3", "4"]
    assert gone == [1, 1]


def test_what_can_never_be_written_is_counted_and_holds_up_nothing(disk, late, gone):
    disk.error = ValueError("no JSON")
    late.add(request(1))
    assert late.write()
    assert gone == [1]


async def test_writing_is_tried_until_it_works(disk, late, monkeypatch):
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(module, "LONGEST_PAUSE", 0.002)
    disk.error = FULL
    late.add(request(1))
    trying = asyncio.create_task(late.until_written())
    await asyncio.sleep(0.02)
    assert not trying.done()
    disk.error = None
    async with asyncio.timeout(10):
        await trying
    assert disk.held == ["1"]


@pytest.mark.parametrize(
    ("error", "soon"),
    [
        (FULL, True),
        (OSError(errno.EFBIG, ""), True),
        (TimeoutError("a lock is held"), True),
        (PermissionError(errno.EACCES, ""), False),
        (OSError(errno.EROFS, ""), False),
        (Untrusted("others can change it"), False),
        (ValueError("no JSON"), False),
    ],
)
def test_a_full_disk_is_over_some_time_and_a_foreign_file_is_not(error, soon):
    assert passes(error) is soon


# -- in its host -------------------------------------------------------------------------------


@pytest.fixture
def client() -> ScriptedClient:
    return ScriptedClient()


@pytest.fixture
def host(isolated_environment, client) -> Host:
    return scripted_host(isolated_environment, client, SID)


def fill(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise FULL

    for name in ("write", "pwrite"):
        monkeypatch.setattr(os, name, full)
    for writer in (envelope, log):
        monkeypatch.setattr(writer, "write_atomic", full)


async def test_on_a_full_disk_nothing_passes_what_waits_and_nothing_is_lost(
    host, client, monkeypatch
):
    await host.start()
    with monkeypatch.context() as patch:
        fill(patch)
        for number in range(3):
            receipt = await host.store(request(number))
            assert receipt.state is StoreState.BUFFERED
        assert (host.waiting, host.volatile) == (3, 3)
        assert client.entries == []
    await host.store(request(3))
    assert host.volatile == 0
    await until(lambda: not host.waiting)
    assert [entry["question"] for entry in client.entries] == ["0", "1", "2", "3"]
    await host.close(Deadline.after(0))


async def test_when_the_disk_has_room_again_what_waits_is_written_by_itself(
    host, client, monkeypatch
):
    await host.start()
    with monkeypatch.context() as patch:
        fill(patch)
        await host.store(request(1))
    await until(lambda: not host.waiting)
    assert [entry["question"] for entry in client.entries] == ["1"]
    await host.close(Deadline.after(0))


async def test_a_host_that_closes_on_a_full_disk_says_what_is_lost_with_it(host, monkeypatch):
    await host.start()
    with monkeypatch.context() as patch:
        fill(patch)
        await host.store(request(1))
        assert await host.close(Deadline.after(0)) == 1

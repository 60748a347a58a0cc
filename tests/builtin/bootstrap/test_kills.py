"""Workers that are killed at any instant, with the small server as what they start."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from contextlib import suppress

import pytest

from builtin_plugins.bootstrap.local_server import LocalServer
from builtin_plugins.bootstrap.locks import SharedLock
from builtin_plugins.bootstrap.state import Phase
from cognee_hooks.deadline import Deadline
from cognee_hooks.services.process_table import is_alive
from tests.support.waiting import until

EMBEDDED = {"COGNEE_LOCAL_SERVER": "embedded", "COGNEE_PRESENCE_REPROBE_DELAY": "0"}
LONGEST = 1.2
"""Seconds in which a worker that nobody kills has started the server."""


def spawned(machine) -> set[int]:
    """Every server that was ever started."""
    lines = machine.places.log.read_text().splitlines() if machine.places.log.exists() else []
    events = [json.loads(line) for line in lines]
    return {each["pid"] for each in events if each["event"] == "server_spawned"}


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.boots_servers
async def test_however_often_workers_are_killed_one_server_is_left_and_known(machine):
    host = machine.host(**EMBEDDED)
    server: LocalServer = host.registry.manager.get_plugin("bootstrap")._server
    source = random.Random(20)
    for _ in range(6):
        worker = server.launch()
        await asyncio.sleep(source.uniform(0.0, LONGEST))
        kill(worker.pid)
        await until(lambda worker=worker: not worker.alive, "the worker's end")
        if await server.probe.healthy():
            # So that the next worker has something to do.
            for pid in spawned(machine):
                kill(pid)
    record = await server.bring_up(lambda _: None, Deadline.after(60))
    assert record.phase is Phase.READY, record.detail
    assert await server.probe.healthy()
    living = [pid for pid in spawned(machine) if is_alive(pid)]
    assert living == [machine.record.server.pid]
    await host.registered.commands["down"].run("")
    assert not [pid for pid in spawned(machine) if is_alive(pid)]
    # What a killed worker has left holds nobody up.
    assert SharedLock(machine.places.boot_lock, owner="t", stale_after=60.0).try_acquire()


@pytest.mark.boots_servers
async def test_of_many_workers_at_once_one_starts_one_server(machine):
    host = machine.host(**EMBEDDED)
    server: LocalServer = host.registry.manager.get_plugin("bootstrap")._server
    limit = Deadline.after(90)
    records = await asyncio.gather(*(server.bring_up(lambda _: None, limit) for _ in range(5)))
    assert {each.phase for each in records} == {Phase.READY}
    assert len(spawned(machine)) == 1

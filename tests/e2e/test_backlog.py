"""What waits for the server never holds up the agent that waits for its memory."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cognee_hooks.agents import BUILT_IN
from cognee_hooks.daemon import control
from cognee_hooks.events import PostToolUse, UserPromptSubmit
from tests.support.agent_samples import samples_of
from tests.support.daemon import agent_environment, daemon_of, folder_of, hook, running, start
from tests.support.fake_server import Connection, FakeServer, Request, slow, status
from tests.support.scripted import remembers
from tests.support.waiting import until

RECALL = "/api/v1/recall"
ENTRY = "/api/v1/remember/entry"
BACKLOG = 12
WRITE_SECONDS = 5.0
LIMIT = 20.0
"""Seconds; draining what waits before the prompt would take three times as long."""


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async def recalls(connection: Connection, request: Request) -> None:
        await asyncio.sleep(0.05)
        await connection.answer(200, remembers("a fact in memory")(request.json))

    async with FakeServer() as fake:
        fake.on(RECALL, recalls)
        yield fake


@pytest.fixture
async def environ(isolated_environment: Path, server: FakeServer) -> AsyncIterator[dict[str, str]]:
    made = agent_environment(isolated_environment, server.url, COGNEE_CAPTURE_TOOLS="*")
    async with daemon_of(made):
        yield made


def event_of(agent: str, kind: type, text: str) -> tuple[str, dict]:
    """An event of an agent that becomes one of ours and holds a text, with its payload."""
    for event, payloads in samples_of(agent).items():
        for payload in payloads:
            read = BUILT_IN[agent].read(event, payload, session_id="s")
            if type(read) is kind and not read.agent_id and text in json.dumps(payload):
                return event, dict(payload)
    raise AssertionError(f"{agent} has no sample for {kind.__name__}")


def waiting(folder: Path) -> int:
    """How many captured entries wait for the server."""
    reply = control.ask(folder, "status") or {"sessions": ()}
    return sum(row["waiting"] for row in reply["sessions"])


@pytest.mark.parametrize("agent", sorted(set(BUILT_IN) - {"pi"}))
async def test_a_prompt_does_not_wait_for_a_backlog(agent, environ, server):
    tool, call = event_of(agent, PostToolUse, "echo 3 passed")
    prompt, question = event_of(agent, UserPromptSubmit, "run the tests")
    server.on(ENTRY, status(503))
    for _ in range(BACKLOG):
        await hook(tool, call, environ, agent=agent)
    folder = folder_of(environ)
    await until(lambda: waiting(folder) == BACKLOG)
    os.kill(running(folder)["pid"], signal.SIGKILL)
    server.on(ENTRY, slow(WRITE_SECONDS))
    # How long a daemon takes to come up is not the subject here.
    await asyncio.to_thread(start, environ)
    done = await hook(prompt, question, environ, agent=agent)
    assert done.code == 0
    assert done.seconds < LIMIT
    read = BUILT_IN[agent].read(prompt, question, session_id="s")
    # An agent that takes nothing for a prompt has nothing to wait for.
    assert (RECALL in server.paths()) is not read.replayed
    # The rest goes on behind it, and is kept where it did not get to.
    assert server.paths().count(ENTRY) < BACKLOG
    server.on(ENTRY, status(200, {"status": "session_stored", "entry_id": "e"}))

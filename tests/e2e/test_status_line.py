"""The status line as Claude Code asks for it: a shell command with a document on standard input."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cognee_hooks.daemon import thin_client
from cognee_hooks.install.command import hook_argv
from tests.support.command import payload
from tests.support.daemon import agent_environment, daemon_of, hook, start
from tests.support.fake_server import Connection, FakeServer, Request
from tests.support.scripted import remembers

RECALL = "/api/v1/recall"
PROMPT = payload("UserPromptSubmit", prompt="Which port does the billing service use?")
ASKS = {
    "session_id": PROMPT["session_id"],
    "cwd": "/work/shop",
    "model": {"id": "m", "display_name": "Model"},
    "workspace": {"current_dir": "/work/shop"},
    "version": "2.1.332",
    "cost": {"total_cost_usd": 0.1},
    "context_window": {"used_percentage": None},
}


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async def answer(connection: Connection, request: Request) -> None:
        await connection.answer(200, remembers("a fact in memory")(request.json))

    async with FakeServer() as fake:
        fake.on(RECALL, answer)
        yield fake


@pytest.fixture
async def environ(isolated_environment: Path, server: FakeServer) -> AsyncIterator[dict[str, str]]:
    made = agent_environment(isolated_environment, server.url)
    async with daemon_of(made):
        yield made


async def status_line(environ: dict[str, str], **more: str) -> str:
    """Run what the installer writes into the agent's settings, as the agent does."""
    process = await asyncio.create_subprocess_shell(
        shlex.join(hook_argv("claude-code", thin_client.STATUS)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environ | more,
    )
    out, err = await asyncio.wait_for(process.communicate(json.dumps(ASKS).encode()), 60)
    assert (process.returncode, err) == (0, b"")
    return out.decode()


async def test_the_line_tells_what_memory_did_in_the_width_of_the_terminal(environ, server):
    await asyncio.to_thread(start, environ)
    await hook("SessionStart", payload("SessionStart.startup"), environ)
    assert "a fact" in (await hook("UserPromptSubmit", PROMPT, environ)).out
    asked = len(server.requests)
    plain = "● cognee: cloud · agent_sessions · 1 memory hits · 1/1 turns had hits this session"
    whole = await status_line(environ, COLUMNS="200", NO_COLOR="1")
    assert re.fullmatch(rf"{plain} · ~[1-9]\d tokens of memory", whole)
    assert await status_line(environ, COLUMNS="60", NO_COLOR="1") == (
        "● cognee: cloud · agent_sessions · 1 memory hits"
    )
    assert (await status_line(environ)).startswith("\x1b[32m●\x1b[0m cognee: cloud")
    assert len(server.requests) == asked


async def test_a_server_that_stands_still_costs_the_line_nothing(environ, server):
    environ["COGNEE_RECALL_TIMEOUT_MS"] = "60000"
    await asyncio.to_thread(start, environ)
    await hook("UserPromptSubmit", PROMPT, environ)
    stands, go = asyncio.Event(), asyncio.Event()

    async def stand(connection: Connection, request: Request) -> None:
        stands.set()
        await go.wait()
        await connection.answer(200, [])

    server.on(RECALL, stand)
    prompt = asyncio.create_task(hook("UserPromptSubmit", PROMPT, environ))
    await stands.wait()
    asked = len(server.requests)
    assert "memory hits" in await status_line(environ)
    assert not prompt.done()
    assert len(server.requests) == asked
    go.set()
    await prompt


async def test_without_a_daemon_there_is_no_line_and_no_fuss(environ):
    assert await status_line(environ) == ""

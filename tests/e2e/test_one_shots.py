"""Short sessions that follow each other: each becomes lasting memory, and nobody waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cognee_hooks.embedded.memory import EmbeddedMemory
from tests.faults.memory_server import PASSWORD, Embedded, Misbehaving
from tests.support.command import payload
from tests.support.daemon import agent_environment, daemon_of, folder_of, hook, running, stop_daemon
from tests.support.fake_server import FakeServer
from tests.support.waiting import until

DATASET = "shots"
IMPROVE = "/api/v1/improve"


@pytest.fixture
def memory(tmp_path: Path):
    opened = EmbeddedMemory(tmp_path / "memory.db", PASSWORD)
    yield opened
    opened.close()


@pytest.fixture
async def server(memory: EmbeddedMemory) -> AsyncIterator[FakeServer]:
    async with FakeServer() as front:
        front.always(Misbehaving(Embedded(memory)))
        yield front


@pytest.fixture
async def environ(
    isolated_environment: Path, server: FakeServer, memory: EmbeddedMemory
) -> AsyncIterator[dict[str, str]]:
    key = memory.accounts.create_key("one-shots")["key"]
    made = agent_environment(
        isolated_environment, server.url, COGNEE_API_KEY=key, COGNEE_PLUGIN_DATASET=DATASET
    )
    async with daemon_of(made):
        yield made


async def one_shot(environ: dict[str, str], session: str) -> None:
    """A session of one turn."""
    who = {"session_id": session, "prompt_id": f"{session}-1"}
    begins = {**payload("SessionStart.startup"), "session_id": session}
    await hook("SessionStart", begins, environ)
    asked = payload("UserPromptSubmit", prompt=f"Where does {session} keep its table?")
    await hook("UserPromptSubmit", {**asked, **who}, environ)
    done = payload("Stop", last_assistant_message=f"In november_{session}.sql.")
    await hook("Stop", {**done, **who}, environ)
    await hook("SessionEnd", {**payload("SessionEnd.other"), **who}, environ)


def improves_of(server: FakeServer, session: str) -> int:
    return sum(
        each.json["session_ids"] == [f"claude_{session}"]
        for each in server.requests
        if each.path == IMPROVE
    )


def lasting(memory: EmbeddedMemory, session: str) -> bool:
    """Whether all that a session stored was made lasting memory."""
    found = memory.database.rows(
        "SELECT promoted FROM entries WHERE session_id = ?", (f"claude_{session}",)
    )
    return bool(found) and all(row["promoted"] for row in found)


async def test_what_found_the_server_busy_gets_its_turn_although_nobody_rests(
    environ, server, memory
):
    dataset = memory.datasets.create(DATASET).id
    memory.claims.claim(dataset, ["somebody else's"])
    await one_shot(environ, "first")
    await one_shot(environ, "second")
    await until(lambda: improves_of(server, "first") and improves_of(server, "second"))
    assert not lasting(memory, "first")
    memory.claims.release(dataset, ["somebody else's"])
    await until(lambda: lasting(memory, "first") and lasting(memory, "second"), seconds=60)
    # Then nobody is kept any longer.
    await until(lambda: running(folder_of(environ))["sessions"] == [], seconds=60)


async def test_it_is_not_forgotten_with_the_daemon(environ, server, memory):
    dataset = memory.datasets.create(DATASET).id
    memory.claims.claim(dataset, ["somebody else's"])
    await one_shot(environ, "first")
    await until(lambda: improves_of(server, "first"))
    await asyncio.to_thread(stop_daemon, environ)
    memory.claims.release(dataset, ["somebody else's"])
    assert not lasting(memory, "first")
    begins = {**payload("SessionStart.startup"), "session_id": "second"}
    await hook("SessionStart", begins, environ)
    await until(lambda: lasting(memory, "first"), seconds=60)

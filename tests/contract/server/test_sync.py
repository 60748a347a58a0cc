"""A whole session, from its first prompt to the lasting memory that it leaves behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from builtin_plugins.sync.plugin import SyncPlugin
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import ServerFailure
from cognee_hooks.events import SessionEnd, Stop, UserPromptSubmit
from cognee_hooks.host import Host
from cognee_hooks.results import Act
from cognee_hooks.services.answers import DatasetRef
from tests.support.api import question
from tests.support.servers import Server
from tests.support.waiting import until

SECONDS = 60.0


@asynccontextmanager
async def session(server: Server, home: Path, name: str, **environ: str) -> AsyncIterator[Host]:
    made = Host(
        "claude-code",
        environ={
            "HOME": str(home),
            "COGNEE_BASE_URL": server.url,
            "COGNEE_API_KEY": server.key,
            "COGNEE_PLUGIN_DATASET": name,
            **environ,
        },
        session_id=name,
        arguments={"plugins": ["no:sync"]},
        plugins={"sync-under-test": SyncPlugin},
        entry_points=(),
    )
    await made.start()
    yield made
    await made.close(Deadline.after(5))


@pytest.fixture
async def host(server: Server, isolated_environment: Path, name: str):
    rests_soon = {"COGNEE_IDLE_THRESHOLD_MS": "200"}
    async with session(server, isolated_environment, name, **rests_soon) as made:
        yield made


async def turn(host: Host) -> None:
    session = host.session.session_id
    prompt = UserPromptSubmit(session_id=session, prompt=f"Where is the {session} table kept?")
    await host.user_prompt_submit(prompt)
    await host.stop(Stop(session_id=session, last_assistant_message="In november.sql"))
    await until(lambda: host.ledger.totals(session).get(Act.DELIVERED), "the entry")


async def promoted(host: Host) -> None:
    """Wait until the graph of the dataset holds the session's answer."""
    query = await host.redact("november table")
    dataset = DatasetRef(name=host.session.dataset)
    limit = Deadline.after(SECONDS)
    while not limit.expired:
        with suppress(ServerFailure):
            found = await host.services.client.recall(query, dataset=dataset, deadline=limit)
            if any("november.sql" in item.body for item in found):
                return
        await asyncio.sleep(0.3)
    raise AssertionError("the session is not in the graph")


async def test_the_end_of_a_session_makes_it_lasting_memory_and_does_not_wait_for_it(
    host: Host, name: str
):
    await turn(host)
    await host.session_end(SessionEnd(session_id=name), Deadline.after(9))
    await promoted(host)


@pytest.mark.real_cognee
async def test_an_end_that_finds_the_server_busy_becomes_lasting_memory_behind_it(
    real_cognee_165: Server, isolated_environment: Path, name: str
):
    other, dataset = f"{name}_other", DatasetRef(name=name)
    limit = Deadline.after(SECONDS)
    async with session(real_cognee_165, isolated_environment, name) as host:
        client = host.services.client
        entry = await host.redact(question(f"Where is {other}?", "In a drawer."))
        await client.store_entry(entry, session_id=other, dataset=dataset, deadline=limit)
        await turn(host)
        await client.improve([other], dataset=dataset, deadline=limit)
        await host.session_end(SessionEnd(session_id=name), Deadline.after(9))
        assert host.unfinished, "the server was not busy"
        await promoted(host)
        await until(lambda: not host.unfinished, "the end of it", seconds=30)


async def test_a_session_at_rest_becomes_lasting_memory_and_that_is_confirmed(
    host: Host, name: str
):
    await turn(host)
    await promoted(host)
    folder = host.paths.state_dir / "improve-state"
    await until(
        lambda: any('"promoted"' in each.read_text() for each in folder.glob("*.json")),
        "the end of the run",
    )
    assert host.ledger.totals(name)[Act.SYNCED] == 1

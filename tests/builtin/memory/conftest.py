from __future__ import annotations

import functools
import uuid
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from builtin_plugins.memory import remember
from builtin_plugins.memory.follow import follow_document
from cognee_hooks.deadline import Deadline
from cognee_hooks.host import Host
from tests.support.asking import Asking
from tests.support.remembered import (
    ACCOUNT,
    FIRST,
    HERE,
    LISTED,
    REMEMBER,
    RUNNING,
    UPDATE,
    row,
)
from tests.support.scripted import ScriptedClient
from tests.support.servers import ServerPool


class Session:
    """One session with its tools, its commands, and somebody at the agent.

    Attributes:
        host: The host.
        person: Who answers questions.
    """

    def __init__(self, host: Host) -> None:
        self.host = host
        self.person = Asking()
        host.dialogs = self.person

    async def tool(self, name: str, **arguments: Any) -> str:
        """Call a tool."""
        return await self.host.registered.tools[f"cognee_{name}"].run(arguments)

    async def command(self, name: str, text: str = "") -> str:
        """Run a command."""
        return await self.host.registered.commands[name].run(text)


@pytest.fixture
async def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Callable]:
    """Make sessions that nobody else shares anything with."""
    monkeypatch.setattr(
        remember, "follow_document", functools.partial(follow_document, settled_seconds=0.1)
    )
    hosts: list[Host] = []

    def build(client: ScriptedClient | None = None, **environ: str) -> Session:
        host = Host(
            "pi",
            environ={"HOME": str(tmp_path / "home"), **environ},
            session_id="pi_s1",
            cwd=str(tmp_path),
            client=client,
            entry_points=(),
        )
        hosts.append(host)
        return Session(host)

    yield build
    for host in hosts:
        await host.close(Deadline.after(1.0))


@pytest.fixture
def session(start: Callable, servers: ServerPool) -> Session:
    """A session at a running embedded server, in a dataset of its own."""
    server = servers.get("embedded")
    return start(
        COGNEE_BASE_URL=server.url,
        COGNEE_API_KEY=server.key,
        COGNEE_PLUGIN_DATASET=f"t_{uuid.uuid4().hex[:12]}",
    )


@pytest.fixture
def client() -> ScriptedClient:
    """A server that is a script; it knows one account."""
    client = ScriptedClient()
    client.scripts["/api/v1/users/me"] = lambda _: {"id": ACCOUNT, "email": "a@b.c"}
    client.scripts["/api/v1/datasets"] = lambda _: []
    return client


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A file."""
    path = tmp_path / "notes.md"
    path.write_text("# Notes\n\nOscarService uses the PapaStore.\n")
    return path


@pytest.fixture
def scripted(start: Callable, client: ScriptedClient, notes: Path) -> Session:
    """A session at a server that holds an older copy of the file."""
    client.scripts |= {
        "/api/v1/datasets": lambda _: [HERE],
        LISTED: lambda _: [row()],
        f"{LISTED}/{FIRST}/raw": lambda _: b"old",
        REMEMBER: lambda _: RUNNING,
        UPDATE: lambda _: {"status": "incremental"},
        "/api/v1/datasets/status": lambda _: {},
    }
    return start(client, COGNEE_REMEMBER_WAIT_SECONDS="0")

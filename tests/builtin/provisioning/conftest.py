"""A server that can make accounts, and sessions of agents with it."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from builtin_plugins.provisioning.plugin import ProvisioningPlugin
from builtin_plugins.provisioning.provisioner import Provisioner
from cognee_hooks.deadline import Deadline
from cognee_hooks.events import SessionStart
from cognee_hooks.host import Host
from tests.support.sharing_server import SharingServer
from tests.support.waiting import until


@pytest.fixture
def sharing(tmp_path: Path) -> Iterator[SharingServer]:
    with SharingServer(tmp_path / "server.db") as server:
        yield server


class Agent:
    """One session of an agent.

    Attributes:
        host: Its host.
        plugin: Its plugin.
    """

    def __init__(self, host: Host) -> None:
        self.host = host
        self.plugin: ProvisioningPlugin = host.registry.manager.get_plugin("provisioning")

    @property
    def account(self) -> Any:
        return self.plugin._account

    @property
    def said(self) -> list[str]:
        return [each.text for each in self.host.notices.take()]

    async def provision(self) -> bool:
        """Do what the start of a session does, and wait for it."""
        return await Provisioner(self.account._context, self.plugin._settings, self.account).run()

    async def start(self) -> None:
        """Begin the session, and wait for what happens in the background."""
        await self.host.start()
        session = self.host.session
        await self.host.session_start(SessionStart(session_id=session.session_id, agent="pi"))
        await until(lambda: self.host.services.health.state == "ok")
        assert await self.host.background.settle(Deadline.after(10.0))

    async def who(self) -> str:
        """The account that the session speaks as."""
        return (await self.host.services.client.whoami(Deadline.after(5.0))).id

    def file(self, name: str) -> dict[str, Any]:
        path = self.host.paths.state_dir / name
        return json.loads(path.read_text()) if path.exists() else {}

    @property
    def marker(self) -> dict[str, Any]:
        return self.file("shared-memory.json")

    @property
    def key(self) -> dict[str, Any]:
        return self.file("agent-key.json")


@pytest.fixture
async def agent(
    sharing: SharingServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> AsyncIterator[Callable[..., Agent]]:
    caplog.set_level(logging.DEBUG, "cognee_hooks")
    hosts: list[Host] = []

    def build(session_id: str = "pi_s1", name: str = "pi", **environ: str) -> Agent:
        host = Host(
            name,
            environ={
                "HOME": str(tmp_path / "home"),
                "COGNEE_BASE_URL": sharing.url,
                "COGNEE_API_KEY": sharing.owner.key,
                **environ,
            },
            session_id=session_id,
            entry_points=(),
        )
        hosts.append(host)
        return Agent(host)

    yield build
    for host in hosts:
        await host.close(Deadline.after(2.0))

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import cognee_hooks.host
from builtin_plugins.bootstrap import state
from builtin_plugins.bootstrap.plan import Places
from cognee_hooks.core_settings import Mode
from cognee_hooks.deadline import Deadline
from cognee_hooks.events import SessionStart
from cognee_hooks.host import Host
from cognee_hooks.services.process_table import end
from tests.support.real_cognee import free_port


class Machine:
    """A home folder and a port of its own that stands for the default address."""

    def __init__(self, home: Path, port: int) -> None:
        self.home = home
        self.url = f"http://127.0.0.1:{port}"
        self.places = Places(home / ".cognee-plugin", port)
        self._hosts: list[Host] = []

    @property
    def record(self) -> state.ServerRecord:
        return state.read(self.places.state)

    def put(self, record: state.ServerRecord) -> None:
        state.write(self.places.state, record)

    @property
    def launched(self) -> bool:
        """Whether a worker was ever started."""
        return (self.places.own / "worker.log").exists()

    def host(self, **environ: str) -> Host:
        fixed = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "COGNEE_PRESENCE_REPROBE_DELAY": "0.05",
            "COGNEE_HEALTH_TIMEOUT_MS": "1000",
        }
        host = Host("claude-code", environ=fixed | environ, session_id="claude_s", entry_points=())
        self._hosts.append(host)
        return host

    async def started(self, **environ: str) -> Host:
        host = self.host(**environ)
        await host.start()
        await host.session_start(SessionStart(session_id="claude_s", source="startup"))
        return host

    async def close(self) -> None:
        for host in self._hosts:
            await host.close(Deadline.after(2))
        # The worker first: it may be about to start a server.
        for find in (lambda: self.record.worker, lambda: self.record.server):
            process = find()
            if process.pid == os.getpid():
                continue  # a test said that it is its own worker
            await end(process.pid, process.started, Deadline.after(15), Deadline.after(20))


@pytest.fixture
async def machine(
    isolated_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Machine]:
    made = Machine(isolated_environment, free_port())
    reason = "no other server is set"
    mode = Mode(backend="local", url=made.url, reason=reason, explicit_url=False)
    monkeypatch.setattr(cognee_hooks.host, "decide_mode", lambda *_: mode)
    try:
        yield made
    finally:
        await made.close()

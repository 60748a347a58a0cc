"""A machine with a model and nothing else: starting an agent ends with a memory that works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import cognee_hooks.host
from builtin_plugins.bootstrap import state
from builtin_plugins.bootstrap.plan import Places
from builtin_plugins.bootstrap.state import Phase
from builtin_plugins.bootstrap.version import PIN
from cognee_hooks.core_settings import Mode
from cognee_hooks.deadline import Deadline
from cognee_hooks.events import SessionStart, UserPromptSubmit
from cognee_hooks.host import Host
from cognee_hooks.services.process import end, is_alive
from tests.support.model_endpoint import ModelEndpoint
from tests.support.real_cognee import RealCognee, free_port, install
from tests.support.waiting import until

FACT = "The invoice archive is kept in the granite bucket, never in the basalt one."
BOOT_SECONDS = 900.0

# Before a test has a home of its own: what was downloaded once is not downloaded again, and the
# way to the package index is the one of this machine.
UV_CACHE = subprocess.run(
    [sys.executable, "-m", "uv", "cache", "dir"], capture_output=True, text=True, check=True
).stdout.strip()
WAY_OUT = {
    name: value
    for name, value in os.environ.items()
    if name.startswith(("UV_", "SSL_CERT_")) or name.upper().endswith("_PROXY")
}


class Machine:
    """A home folder, the port that stands for the default one, and agents' sessions."""

    def __init__(self, home: Path, environ: dict[str, str]) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environ = environ
        self.places = Places(home / ".cognee-plugin", self.port)
        self._hosts: list[Host] = []

    @property
    def record(self) -> state.Record:
        return state.read(self.places.state)

    async def session(self, name: str) -> Host:
        host = Host("claude-code", environ=self.environ, session_id=f"claude_{name}")
        self._hosts.append(host)
        await host.start()
        await host.session_start(SessionStart(session_id=host.session.session_id, source="startup"))
        return host

    async def close(self) -> None:
        for host in self._hosts:
            await host.close(Deadline.after(2))
        # The worker first: it may be about to start a server.
        for find in (lambda: self.record.worker, lambda: self.record.server):
            process = find()
            await end(process.pid, process.started, Deadline.after(15), Deadline.after(20))


@pytest.fixture
async def machine(
    isolated_environment: Path, model_endpoint: ModelEndpoint, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Machine]:
    home = isolated_environment
    # Everything that makes a cognee server work without a network, as a person would set it.
    environ = RealCognee(PIN, home, model_endpoint.url)._environment(install(PIN))
    environ |= {**WAY_OUT, "UV_CACHE_DIR": UV_CACHE, "COGNEE_PLUGIN_PYTHON": sys.executable}
    environ |= {"COGNEE_PRESENCE_REPROBE_DELAY": "0.1", "COGNEE_RECALL_TIMEOUT_MS": "9000"}
    made = Machine(home, environ)
    mode = Mode(backend="local", url=made.url, reason="no other server is set", explicit_url=False)
    monkeypatch.setattr(cognee_hooks.host, "decide_mode", lambda *_: mode)
    try:
        yield made
    finally:
        await made.close()


async def prompt(host: Host, text: str) -> str:
    event = UserPromptSubmit(session_id=host.session.session_id, prompt=text)
    return (await host.user_prompt_submit(event)).context


async def remember(host: Host, url: str) -> None:
    key = await host.credentials.key(Deadline.after(10))
    assert key is not None
    async with httpx.AsyncClient(timeout=120) as client:
        answer = await client.post(
            f"{url}/api/v1/remember",
            headers={"X-Api-Key": key.value},
            data={"datasetName": host.session.dataset, "run_in_background": "false"},
            files={"data": ("facts.txt", FACT.encode(), "text/plain")},
        )
    assert answer.status_code == 200, answer.text


def healthy(host: Host) -> bool:
    return host.services.health.state == "ok"


def healthy_or_failed(machine: Machine, host: Host) -> bool:
    assert machine.record.phase is not Phase.FAILED, machine.record.detail
    return healthy(host)


@pytest.mark.real_cognee
@pytest.mark.boots_servers
async def test_a_session_ends_with_a_server_that_was_installed_and_remembers(machine: Machine):
    first = await machine.session("first")
    await until(lambda: machine.record.phase is Phase.INSTALLING, "installing", 120)
    line: Any = await first.status_line()
    assert line.startswith("◐ cognee: starting (local · agent_sessions)")
    assert "offline" not in line

    await until(lambda: healthy_or_failed(machine, first), "a healthy server", BOOT_SECONDS)
    assert first.services.health.version == PIN
    assert (await first.status_line()).startswith("● cognee: local · agent_sessions")
    server = machine.record.server
    assert server.alive
    assert "Uvicorn running" in machine.places.console.read_text()

    await remember(first, machine.url)
    assert FACT in await prompt(first, "Where is the invoice archive kept?")

    # Another session takes the server that is there.
    second = await machine.session("second")
    await until(lambda: healthy(second), "the same server")
    assert machine.record.server == server

    # One that dies is noticed, and started again.
    os.kill(server.pid, signal.SIGKILL)
    await until(lambda: not is_alive(server.pid), "its end")
    await prompt(first, "Where is the invoice archive kept now?")
    await until(lambda: machine.record.server.pid not in {0, server.pid}, "another server", 300)
    await until(lambda: healthy(first), "its health", 300)
    assert FACT in await prompt(first, "In which bucket is the invoice archive?")

    # Put down by hand it stays down, and its data stays.
    again = machine.record.server
    said = await first.registered.commands["down"].run("")
    assert said.startswith("The server is stopped.")
    assert not again.alive
    await prompt(first, "Where is the invoice archive now?")
    third = await machine.session("third")
    await until(lambda: third.services.health.state == "offline", "the outage")
    assert machine.record.phase is Phase.STOPPED
    assert not machine.record.worker.alive

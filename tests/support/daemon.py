"""Runs the thin client as an agent does, and the daemon that it starts."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cognee_hooks.daemon import client as installed
from cognee_hooks.daemon import control
from cognee_hooks.daemon.thin_client import is_starting
from cognee_hooks.deadline import Deadline
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.process_table import is_alive
from tests.support.command import Done
from tests.support.waiting import wait_until

CLIENT = str(Path(installed.__file__))
STOP_SECONDS = 60.0


def agent_environment(home: Path, url: str = "", **more: str) -> dict[str, str]:
    """The environment of an agent: nothing of the developer's, and what coverage needs."""
    keep = ("PATH", "COVERAGE_", "XDG_", "PYTHON")
    environ = {name: value for name, value in os.environ.items() if name.startswith(keep)}
    environ |= {"HOME": str(home), "LANG": "C.UTF-8"}
    if url:
        environ |= {"COGNEE_BASE_URL": url, "COGNEE_API_KEY": "k3" * 20}
        # How long an answer takes on a busy machine is no subject of any test of the daemon.
        environ |= {"COGNEE_RECALL_TIMEOUT_MS": "9000"}
    return environ | more


def folder_of(environ: Mapping[str, str]) -> Path:
    """The daemon's folder."""
    return Paths.of(environ, "daemon").daemon_dir


def argv(event: str, agent: str = "claude-code", empty: str | None = None) -> list[str]:
    """What an agent runs for an event."""
    rest = [] if empty is None else [empty]
    return [sys.executable, "-I", "-S", CLIENT, agent, event, *rest]


async def hook(
    event: str,
    payload: object,
    environ: Mapping[str, str],
    *,
    agent: str = "claude-code",
    empty: str | None = None,
    limit: float = 60.0,
    cwd: Path | None = None,
) -> Done:
    """Run the thin client for an event.

    Args:
        event: The agent's name of the event.
        payload: Bytes, or a value that becomes JSON.
        environ: The agent's environment.
        agent: Its name.
        empty: Its answer that changes nothing.
        limit: Seconds after which it counts as hanging.
        cwd: Its working directory.
    """
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    started = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        *argv(event, agent, empty),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=dict(environ),
        cwd=cwd,
    )
    try:
        async with asyncio.timeout(limit):
            out, err = await process.communicate(data)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise
    seconds = time.monotonic() - started
    return Done(process.returncode, out.decode(), err.decode(), seconds)


def stop_daemon(environ: Mapping[str, str]) -> None:
    """Make sure that no daemon outlives a test, one that is just being started included."""
    folder = folder_of(environ)
    limit = time.monotonic() + STOP_SECONDS
    while (reply := control.ask(folder, "stop")) is None and is_starting(os.fsencode(folder)):
        assert time.monotonic() < limit, "a daemon neither comes up nor ends"
        time.sleep(0.05)
    pid = int((reply or {}).get("pid") or 0)
    while is_alive(pid) and time.monotonic() < limit:
        time.sleep(0.02)
    if is_alive(pid):
        os.kill(pid, signal.SIGKILL)


@asynccontextmanager
async def daemon_of(environ: Mapping[str, str]) -> AsyncIterator[Path]:
    """Make sure that no daemon outlives a test; gives the daemon's folder."""
    try:
        yield folder_of(environ)
    finally:
        # A server of the test has to go on answering meanwhile.
        await asyncio.to_thread(stop_daemon, environ)


def running(folder: Path) -> Mapping[str, Any]:
    """The status of the daemon that runs or is just coming up; fails without one."""
    reply = wait_until(lambda: control.ask(folder, "status"), "a daemon")
    assert reply is not None
    return reply


def start(environ: Mapping[str, str]) -> Mapping[str, Any]:
    """Start a daemon, or find it running, and return its status."""
    reply = control.start(folder_of(environ), environ, Deadline.after(60))
    assert reply is not None, "the daemon does not come up"
    return reply

"""A plugin that fails and one that is slow, seen from outside while their session lives."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cognee_hooks.daemon import control
from cognee_hooks.faults import QUARANTINE_AFTER
from tests.support.command import command, install_plugin, payload
from tests.support.daemon import agent_environment, daemon_of, folder_of, hook
from tests.support.fake_server import FakeServer
from tests.support.waiting import PATIENCE, until, wait_until

START = payload("SessionStart.startup")
END = payload("SessionEnd.prompt_input_exit", session_id=START["session_id"])
SESSION = f"claude_{START['session_id']}"
STOPPED, STARTED = "cognee_stop", "cognee_session_start"
SHAKY = """\
import asyncio

from cognee_hooks import hookimpl


class Plugin:
    @hookimpl
    def cognee_stop(self):
        raise ValueError("never shown")

    @hookimpl
    async def cognee_session_start(self):
        await asyncio.sleep(1.5)  # of 2.5 seconds


def plugin(context):
    return Plugin()
"""


@contextmanager
def installed_daemon(environ: dict[str, str]) -> Iterator[None]:
    """A daemon that has the plugin; one that a client starts reads no ``PYTHON`` variable."""
    with subprocess.Popen([sys.executable, "-m", "cognee_hooks.daemon"], env=environ) as process:
        try:
            wait_until(lambda: control.ask(folder_of(environ), "status"), "the daemon")
            yield
        finally:
            process.terminate()


async def told(*arguments: str, **environ: str) -> Any:
    done = await command(*arguments, "--json", **environ)
    assert "never shown" not in done.out + done.err
    return json.loads(done.out)


@pytest.fixture
async def environ(isolated_environment: Path) -> AsyncIterator[dict[str, str]]:
    folder = isolated_environment / "installed"
    folder.mkdir()
    installed = {"PYTHONPATH": install_plugin(folder, "shaky", SHAKY)}
    async with FakeServer() as server:
        made = agent_environment(isolated_environment, server.url, **installed)
        with installed_daemon(made):
            async with daemon_of(made):
                yield made


async def test_who_fails_and_who_is_slow_is_seen_and_remembered(environ: dict[str, str]):
    daemon = folder_of(environ)
    for _ in range(3):
        await hook("SessionStart", START, environ)
    await hook("UserPromptSubmit", payload("UserPromptSubmit"), environ)
    for _ in range(QUARANTINE_AFTER + 1):
        await hook("Stop", payload("Stop"), environ)

    def hooks() -> dict[str, Any]:
        [session] = control.ask(daemon, "plugins")["sessions"]
        mine = [each for each in session["plugins"] if each["name"] == "shaky"]
        found = {each["hook"]: each for each in mine[0]["hooks"]} if mine else {}
        return found if found.get(STARTED, {}).get("slow") == 3 and STOPPED in found else {}

    seen = await until(hooks, "what the plugin did")
    assert (seen[STOPPED]["calls"], seen[STOPPED]["faults"]) == (QUARANTINE_AFTER,) * 2
    assert seen[STOPPED]["quarantined"]

    rows = {row["name"]: row for row in await told("plugins", **environ)}
    assert rows["shaky"]["live"]["quarantined"] == [STOPPED]
    assert rows["shaky"]["live"]["slowest_ms"] >= 1500
    assert rows["recall"]["live"]["quarantined"] == []

    doctor = await told("doctor", **environ)
    [row] = [row for row in doctor if "shaky" in row["detail"]]
    assert (row["name"], row["status"]) == ("live plugins", "warning")
    assert "switched off until its session ends: stop" in row["detail"]
    assert "is slow" in row["detail"]
    assert "cognee-hooks plugins disable shaky" in row["remedy"]

    [prompt] = control.ask(daemon, "prompts", session_id=SESSION)["prompts"]
    assert prompt["prompt"] == payload("UserPromptSubmit")["prompt"]

    live = await times(environ)
    assert live["live"]["quarantined"] == [STOPPED]
    await hook("SessionEnd", END, environ)
    await until(lambda: not control.ask(daemon, "plugins")["sessions"], "the end")
    async with asyncio.timeout(PATIENCE):
        while not (after := await times(environ)):
            pass
    assert after["live"] is None
    assert live["calls"] <= after["calls"] < 2 * live["calls"]


async def times(environ: dict[str, str]) -> Any:
    return (await told("stats", "--by", "plugin", **environ))["groups"].get("shaky")

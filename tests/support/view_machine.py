"""A person's machine with sessions on it, made by real hooks and a real daemon, and its page.

Everything that the page shows came about as it does for a person: hook commands ran, a server
remembered, refused or was away, a plugin failed.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cognee_hooks.daemon import control
from tests.support.command import install_plugin, payload
from tests.support.daemon import folder_of, hook
from tests.support.fake_server import Connection, FakeServer, Request
from tests.support.installation import Installation
from tests.support.scripted import remembers
from tests.support.waiting import PATIENCE, until

RECALL = "/api/v1/recall"
ENTRY = "/api/v1/remember/entry"
LIVE = "5f0c1d52-7b1e-4a77-9c0b-2f7d0a61be14"
ENDED = "b81e7aa0-33c4-4a0e-8d0f-6d1f5e0f9a27"
OUTAGE = "2c94e6d1-90ab-4f3c-b1de-0a7c5d8e4f60"
REFUSED = "e07d3b9f-5c12-4d68-a3b4-71f2c6a8d905"
SECRET = "ghp_" + "Ab3dEf7hIj1kLm5nOp9qRs2tUv6xYz4wQ8Za"
"""Looks like a GitHub token, and is none."""
PASSWORD = "correct-horse-" + "battery-9417"

_ROOT = Path(__file__).parents[2]
_STOP_SECONDS = 30
_MEMORY = {
    "port": (
        "The billing service listens on port 7431 in every environment; on staging on 7432, too.",
        "BILLING_PORT is read once, at start, in billing/settings.py; a change needs a restart.",
    ),
    "health": (
        "Health checks never ask the database: they have to answer while a migration runs.",
    ),
    "retry": (
        "Webhooks come at least once; the event's id, kept for 30 days, tells them apart.",
        "Retries back off from 1 s to 5 min with jitter; after 24 h somebody is paged.",
    ),
    "markup": ("Use <b>bold</b> sparingly. <img src=x onerror=window.taken=1>",),
}
"""What the server remembers, by a word that a question holds."""

_FAILING = """
from cognee_hooks import hookimpl
from cognee_hooks.results import Lane

class Jira:
    @hookimpl
    def cognee_register_lanes(self):
        return Lane(name="tickets", search=self.search)

    async def search(self, query):
        raise ConnectionError("jira.example.com does not answer")

plugin = Jira()
"""
_NOTES = """
import asyncio
from cognee_hooks import hookimpl
from cognee_hooks.results import Lane

class Notes:
    @hookimpl
    def cognee_register_lanes(self):
        return Lane(name="notes", search=self.search)

    async def search(self, query):
        await asyncio.sleep(0.012)
        return ["Team notes, week 47: the payment provider moves to API version 2 on 15 January."]

plugin = Notes()
"""


class ViewMachine:
    """The machine of one person.

    Args:
        home: Throw-away home.
        installed: What is installed on it.
        server: What remembers.

    Attributes:
        environ: What agents and commands see.
    """

    def __init__(self, home: Path, installed: Installation, server: FakeServer) -> None:
        project = home / "billing"
        project.mkdir()
        runtime = home / "run"
        runtime.mkdir(mode=0o700)
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(runtime),
            "COGNEE_BASE_URL": server.url,
            "COGNEE_API_KEY": "k3" * 20,
            "COGNEE_PLUGIN_DATASET": "billing_service",
            "COGNEE_RECALL_TIMEOUT_MS": "9000",
        }
        self._installed = installed
        self._project = project
        self._turns = 0
        server.on(RECALL, _recall)
        server.on(ENTRY, _entry)

    def program(self, name: str) -> str:
        """Where an installed program lies."""
        return str(self._installed.folder / "bin" / name)

    async def prompt(self, session: str, text: str) -> str:
        """Say something to the agent, and return what was put into the model's context."""
        self._turns += 1
        done = await self._hook("UserPromptSubmit", "UserPromptSubmit", session, prompt=text)
        return done and json.loads(done)["hookSpecificOutput"]["additionalContext"]

    async def tool(self, session: str, command: str, output: str) -> None:
        """Have the agent run a command."""
        tool_input = {"command": command, "description": "Run a command"}
        response = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        await self._hook(
            "PostToolUse",
            "PostToolUse.Bash",
            session,
            tool_input=tool_input,
            tool_response=response,
            tool_use_id=f"toolu_{self._turns}_{len(command)}",
        )

    async def answer(self, session: str, text: str) -> None:
        """Have the agent answer the latest prompt."""
        await self._hook("Stop", "Stop", session, last_assistant_message=text)

    async def begin(self, session: str) -> None:
        """Begin a session."""
        await self._hook("SessionStart", "SessionStart.startup", session)

    async def end(self, session: str) -> None:
        """End a session."""
        await self._hook("SessionEnd", "SessionEnd.other", session)

    def daemon(self, do: str) -> Mapping[str, Any]:
        """Ask the daemon for something."""
        return control.ask(folder_of(self.environ), do) or {}

    async def _hook(self, event: str, sample: str, session: str, **changes: Any) -> str:
        who = {"session_id": session, "prompt_id": f"p{self._turns}", "cwd": str(self._project)}
        done = await hook(event, payload(sample, **who, **changes), self.environ)
        assert (done.code, done.err) == (0, ""), done
        return done.out


async def _recall(connection: Connection, request: Request) -> None:
    query = request.json["query"].lower()
    found = [text for word, texts in _MEMORY.items() if word in query for text in texts]
    await connection.answer(200, remembers(*found)(request.json) if found else [])


async def _entry(connection: Connection, request: Request) -> None:
    session = request.json["session_id"]
    if OUTAGE in session:
        await connection.answer(503, {"detail": "down for maintenance"})
    elif REFUSED in session:
        await connection.answer(422, {"detail": "entry is not acceptable"})
    else:
        await connection.answer(200, {"status": "session_stored", "entry_id": "e1"})


@asynccontextmanager
async def view_machine() -> AsyncIterator[ViewMachine]:
    """A machine with a running daemon and the sessions of a morning."""
    # A short path: the daemon's socket lies below it.
    with tempfile.TemporaryDirectory(prefix="ch-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        installed = await asyncio.to_thread(_installed, home)
        async with FakeServer() as server:
            machine = ViewMachine(home, installed, server)
            async with _daemon(machine):
                await _work(machine)
                yield machine


def _installed(home: Path) -> Installation:
    """Install what users install, and two plugins."""
    made = Installation.fresh(home)
    made.install(f"cognee-hooks[embedded] @ {_ROOT.as_uri()}")
    packages = next(made.folder.glob("lib/python*/site-packages"))
    install_plugin(packages, "jira_lane", _FAILING)
    install_plugin(packages, "team_notes", _NOTES)
    return made


@asynccontextmanager
async def _daemon(machine: ViewMachine) -> AsyncIterator[None]:
    """The daemon of the installation, which knows the plugins there."""
    process = await asyncio.create_subprocess_exec(
        *(machine.program("python"), "-P", "-m", "cognee_hooks.daemon"), env=machine.environ
    )
    try:
        await until(lambda: machine.daemon("status"), "a daemon")
        yield
    finally:
        await asyncio.to_thread(machine.daemon, "stop")
        await asyncio.wait_for(process.wait(), _STOP_SECONDS)


async def _work(machine: ViewMachine) -> None:
    await machine.begin(ENDED)
    await machine.prompt(ENDED, "How are webhooks tried again? Add the retry to the handler.")
    await machine.tool(ENDED, "grep -rn backoff billing/", "billing/retry.py:14: backoff = 1.0")
    await machine.answer(ENDED, "The handler now backs off from 1 s to 5 min, with jitter.")
    await machine.end(ENDED)
    for session in (OUTAGE, REFUSED):
        await machine.begin(session)
        await machine.prompt(session, "Write a migration that drops the column legacy_ref.")
        await machine.tool(session, "alembic revision -m 'drop legacy_ref'", "Generating 4c1f.py")
        await machine.answer(session, "The migration is in migrations/4c1f_drop_legacy_ref.py.")
    await machine.begin(LIVE)
    for question, command, output, answer in _MORNING:
        await machine.prompt(LIVE, question)
        await machine.tool(LIVE, command, output)
        await machine.answer(LIVE, answer)
    await machine.prompt(LIVE, "Which port does the billing service use on staging?")
    await until(lambda: _settled(machine), "what was captured at the server", 2 * PATIENCE)


def _settled(machine: ViewMachine) -> bool:
    """Whether only those wait that the server does not take, and a prompt for its answer."""
    return machine.daemon("status").get("kept", 9) <= 1


_MORNING = (
    (
        "The health check fails while a migration runs. Why?",
        "curl -s -w '%{time_total}' localhost:7431/healthz",
        "504 Gateway Timeout 30.01",
        "It asks the database, which is locked then. It has to answer from memory.",
    ),
    (
        "Show me how the service is configured",
        "printenv | sort",
        f"BILLING_PORT=7431\nGITHUB_TOKEN={SECRET}\nDB_PASSWORD={PASSWORD}\n",
        "It reads five variables, all in billing/settings.py.",
    ),
    (
        "Move the settings into one place and fix the health check",
        "pytest -q tests/test_health.py",
        "3 passed in 0.41s",
        "Done: /healthz answers in 2 ms, also during a migration; the test fails without it.",
    ),
    (
        "What happens on a retry of a webhook?",
        "git log --oneline -3 -- billing/retry.py",
        "91ac2f1 Back off with jitter\n0d7e1b3 Keep events for 30 days",
        "It is handled once: the event's id lies in webhook_events for 30 days.",
    ),
)


class ViewServer:
    """A running ``cognee-hooks view``.

    Attributes:
        process: The process.
        address: What it printed: where the page opens, once.
        origin: Where the page is, without the slash at its end.
        port: Its port.
    """

    def __init__(self, process: asyncio.subprocess.Process, address: str) -> None:
        self.process = process
        self.address = address
        self.origin = address.partition("/open")[0]
        self.port = address.split("/")[2].rpartition(":")[2]


@asynccontextmanager
async def view_server(
    machine: ViewMachine, *arguments: str, **environ: str
) -> AsyncIterator[ViewServer]:
    """Start ``cognee-hooks view`` as a person does, and end it with the signal of Ctrl-C."""
    process = await asyncio.create_subprocess_exec(
        *(machine.program("cognee-hooks"), "view", "--no-browser", *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        env=machine.environ | environ,
    )
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), PATIENCE)
        found = re.search(r"http\S+", line.decode())
        assert found, line
        yield ViewServer(process, found[0])
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
        await asyncio.wait_for(process.wait(), _STOP_SECONDS)

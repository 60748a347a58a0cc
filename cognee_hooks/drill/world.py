"""A throw-away machine: a folder, a memory server, a daemon, and an agent that calls its hooks."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cognee_hooks.daemon import client, control, thin_client
from cognee_hooks.deadline import Deadline
from cognee_hooks.drill.environment import drill_environment
from cognee_hooks.drill.script import AGENT, DrillConversation
from cognee_hooks.drill.server import DrillServer
from cognee_hooks.errors import ServerFailure
from cognee_hooks.services.client import CogneeClient
from cognee_hooks.services.keys import Key
from cognee_hooks.services.keysource import FixedKey
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.process import run
from cognee_hooks.services.process_table import is_alive
from cognee_hooks.services.statefile import read_object

HOOK_SECONDS = thin_client.LIMIT + 2.0
"""Longest that the drill waits for a hook."""
ASK_SECONDS = 2.0
_POLL_SECONDS = 0.05
_END_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Reply:
    """What the agent got for one event.

    Attributes:
        event: The event.
        seconds: How long it waited.
        context: What goes into the model's context.
        problem: Why the agent could not use it; "" where it could.
    """

    event: str
    seconds: float
    context: str
    problem: str


class World:
    """One machine. Nothing in it is the person's, but for the settings that it is run with.

    Args:
        folder: An empty folder of the drill's own.
        server: The memory server.
        environ: The person's environment.
        cwd: Where the person's agent would work.

    Attributes:
        server: The memory server.
        environ: The environment of agent and daemon.
        folder: The folder.
        state: The state of agent and daemon, a folder in it.
    """

    def __init__(
        self, folder: Path, server: DrillServer, environ: Mapping[str, str], cwd: str
    ) -> None:
        self.folder = folder
        self.server = server
        self.environ = drill_environment(environ, folder, server.url)
        self._cwd = cwd
        (folder / "home").mkdir(mode=0o700)
        self.state = folder / "state"
        self._daemon_dir = Paths.of(self.environ, "daemon").daemon_dir
        self._client = CogneeClient(server.url, FixedKey(Key("drill", "drill")))
        self._pids: set[int] = set()

    # -- the agent -------------------------------------------------------------------------------

    async def play(self, payloads: Sequence[Mapping[str, Any]]) -> list[Reply]:
        """Let the agent call its hooks for events, one after the other."""
        return [await self.hook(payload) for payload in payloads]

    async def hook(self, payload: Mapping[str, Any]) -> Reply:
        """Let the agent call its hook for one event, and look at what it gets."""
        event = payload["hook_event_name"]
        argv = [sys.executable, "-I", "-S", client.__file__, AGENT, event]
        data = json.dumps(dict(payload) | {"cwd": self._cwd}).encode()
        began = time.monotonic()
        done = await run(
            argv, deadline=Deadline.after(HOOK_SECONDS), env=self.environ, input=data, cwd=self._cwd
        )
        seconds = time.monotonic() - began
        if done.timed_out:
            return Reply(event, seconds, "", "it hung")
        if done.returncode or done.stderr:
            problem = f"exit code {done.returncode}, {len(done.stderr)} bytes of errors"
            return Reply(event, seconds, "", problem)
        context, problem = _read(event, done.stdout)
        return Reply(event, seconds, context, problem)

    async def nudge(self) -> None:
        """Let somebody open the agent, which makes the daemon look for the server."""
        await self.hook(DrillConversation("drill-visit", {}).start())

    # -- the daemon ------------------------------------------------------------------------------

    async def status(self) -> Mapping[str, Any] | None:
        """Ask the daemon how it is; None where none answers."""
        deadline = Deadline.after(ASK_SECONDS)
        found = await asyncio.to_thread(control.ask, self._daemon_dir, "status", deadline)
        if found is not None and isinstance(found.get("pid"), int):
            self._pids.add(found["pid"])
        return found

    async def daemon_pid(self) -> int:
        """Return the daemon's process; 0 where none answers."""
        found = await self.status()
        return int(found["pid"]) if found and isinstance(found.get("pid"), int) else 0

    def send(self, pid: int, number: signal.Signals) -> None:
        """Send a daemon a signal; 0 is none."""
        if pid:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    async def kill(self, pid: int) -> None:
        """Kill a daemon at once; 0 is none."""
        while pid and is_alive(pid):
            self.send(pid, signal.SIGKILL)
            await asyncio.sleep(_POLL_SECONDS)

    async def close(self) -> None:
        """End whatever was started."""
        await self._client.aclose()
        await asyncio.to_thread(control.stop, self._daemon_dir, Deadline.after(_END_SECONDS))
        for pid in self._pids:
            await self.kill(pid)

    # -- what became of entries ------------------------------------------------------------------

    async def waiting(self) -> int:
        """Return how many entries and events this machine keeps, since they are not sent yet."""
        found = await self.status() or {}
        kept = found.get("kept")
        spooled = sum(1 for _ in self._daemon_dir.glob("spool/*.event"))
        envelopes = [read_object(path).get("entries") for path in self.buffers()]
        buffered = sum(len(each) for each in envelopes if isinstance(each, list))
        return spooled + buffered + (kept if isinstance(kept, int) else 0)

    def buffers(self) -> list[Path]:
        """Return the files of entries that wait."""
        return sorted(self.state.glob("**/bridge/*.json"))

    async def stored(self, conversation: DrillConversation, deadline: Deadline) -> list[str]:
        """Return the texts of what the server holds of a conversation, each entry once.

        Raises:
            ServerFailure: The server does not tell.
        """
        try:
            detail = await self._client.session(conversation.session_id, deadline)
        except ServerFailure as failure:
            if failure.status == 404:  # noqa: PLR2004
                return []
            raise
        entries = [*detail.qas, *detail.traces]
        return [json.dumps(dict(each), ensure_ascii=False, default=str) for each in entries]

    def files(self) -> list[Path]:
        """Return every file of this machine but the server's own."""
        return [
            path
            for root in (self.folder / "home", self.state)
            for path in sorted(root.rglob("*"))
            if path.is_file() and not path.is_symlink()
        ]


def _read(event: str, output: bytes) -> tuple[str, str]:
    """Return the context in a hook's output, and why the agent could not use it."""
    if not output.strip():
        return "", ""
    try:
        document = json.loads(output)
        answer = document.get("hookSpecificOutput", {})
        context = answer.get("additionalContext", "")
    except (ValueError, AttributeError):
        return "", "its output is no JSON object"
    if answer and answer.get("hookEventName") != event:
        return "", "its output is for another event"
    return (context, "") if isinstance(context, str) else ("", "its context is no text")

"""A daemon that serves nothing but channels, on a thread of its own, with a scripted session.

The session's host is a real one with the tools and commands of a test; its server is scripted.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from cognee_hooks import hookimpl
from cognee_hooks.agents.pi import Pi
from cognee_hooks.daemon.channel import Channel
from cognee_hooks.daemon.protocol import Opening, read_opening
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import ServerFailure
from cognee_hooks.host import Host
from cognee_hooks.results import Command, Tool
from tests.support.scripted import ScriptedClient
from tests.support.waiting import PATIENCE

SCHEMA = {
    "type": "object",
    "properties": {"query": {"type": "string"}},
    "required": ["query"],
}

Answering = Callable[[str, Mapping[str, Any]], str]
Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any]


class TestPlugin:
    """A tool, commands, and a status line."""

    __test__ = False

    def __init__(self, context: Any) -> None:
        self._context = context
        self.cancelled = threading.Event()

    @hookimpl
    def cognee_register_tools(self) -> list[Tool]:
        """One tool that answers, and one that never does."""
        return [
            Tool(
                name="cognee_lookup",
                description="Look something up.",
                parameters=SCHEMA,
                run=self._look_up,
            ),
            Tool(
                name="cognee_wait",
                description="Wait for ever.",
                parameters={"type": "object", "properties": {}},
                run=self._wait,
            ),
        ]

    @hookimpl
    def cognee_register_commands(self) -> list[Command]:
        """One command that answers, and one that asks first."""
        return [
            Command(name="shout", help="Say it loud: [--long <n>] [--loud]", run=self._shout),
            Command(name="forget", help="Forget it.", run=self._forget),
        ]

    @hookimpl
    async def cognee_render_status(self) -> str:
        """The status line."""
        return "memory on"

    async def _look_up(self, arguments: Mapping[str, Any]) -> str:
        if arguments["query"] == "nothing":
            raise LookupError(arguments["query"])
        return f"{arguments['query']} is blue"

    async def _wait(self, arguments: Mapping[str, Any]) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled.set()
        return ""

    async def _shout(self, text: str) -> str:
        return f"{text.upper()}!"

    async def _forget(self, text: str) -> str:
        limit = Deadline.after(PATIENCE)
        if not await self._context.confirm("Forget?", f"{text} goes.", limit):
            return "kept"
        chosen = await self._context.select("How much?", ["all", "some"], limit)
        return f"forgot {chosen} of {text}"


def make_host(home: Path) -> Host:
    """A host with the test's plugin alone, whose server is scripted."""
    return Host(
        "pi",
        environ={"HOME": str(home), "COGNEE_PLUGINS_BLOCK": "capture,recall"},
        session_id="pi_s1",
        client=ScriptedClient(),
        entry_points=(),
        plugins={"test": TestPlugin},
    )


class ChannelDaemon:
    """The daemon, as a context manager; it listens where pi's extension looks for one.

    Args:
        home: Home of the agent.
        answering: Returns the context for an event.
        behaviour: Replaces everything that happens after a connection.

    Attributes:
        openings: How channels were opened.
        events: Names and payloads of the events that came.
        ended: Channels that ended.
    """

    def __init__(
        self,
        home: Path,
        answering: Answering = lambda _event, _payload: "",
        behaviour: Behaviour | None = None,
    ) -> None:
        self.openings: list[Opening] = []
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.ended = 0
        self.delays: dict[str, float] = {}
        self._home = home
        self._answering = answering
        self._behaviour = behaviour
        self._agent = Pi()
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._connections: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []
        self._host: Host | None = None
        self._running = False

    @property
    def folder(self) -> Path:
        """Where the socket lies."""
        return self._home / ".cognee-plugin" / "hooks" / "daemon"

    def __enter__(self) -> Self:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.folder / "socket").unlink(missing_ok=True)
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(PATIENCE)
        self._running = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    def kill(self) -> None:
        """End at once, as a process that is killed: connections break, the socket file stays."""
        if self._running:
            self._running = False
            asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(PATIENCE)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def payloads(self, event: str) -> list[dict[str, Any]]:
        """Payloads of an event."""
        return [payload for name, payload in self.events if name == event]

    def wait_for(self, event: str, count: int = 1, seconds: float = PATIENCE) -> dict[str, Any]:
        """Wait until an event came so often; returns the last payload.

        Raises:
            AssertionError: It did not in time.
        """
        with self._changed:
            came = self._changed.wait_for(lambda: len(self.payloads(event)) >= count, seconds)
        assert came, f"{event} did not come: {[name for name, _ in self.events]}"
        return self.payloads(event)[count - 1]

    def wait_for_end(self, seconds: float = PATIENCE) -> None:
        """Wait until a channel has ended."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.ended > 0, seconds)

    def say(self, text: str) -> None:
        """Let a plugin say something to the person."""
        assert self._host is not None
        self._loop.call_soon_threadsafe(self._host.say, text)

    def connection(self, failure: ServerFailure | None) -> None:
        """Let the session learn how a request to its server went."""
        assert self._host is not None
        self._loop.call_soon_threadsafe(self._host.services.health.note, failure)

    def wait_for_cancel(self, seconds: float = PATIENCE) -> bool:
        """Wait until the tool that never answers was given up; tells whether it was."""
        assert self._host is not None
        plugin = self._host.registry.manager.get_plugin("test")
        return bool(plugin.cancelled.wait(seconds))

    # -- the session, as a channel sees it --------------------------------------------------------

    @property
    def session(self) -> Self:
        """The session."""
        return self

    async def ready(self) -> Host | None:
        """The host."""
        return self._host

    async def handle(self, event: str, payload: Mapping[str, Any]) -> str:
        """Record an event and answer it through the adapter."""
        with self._changed:
            self.events.append((event, dict(payload)))
            self._changed.notify_all()
        await asyncio.sleep(self.delays.get(event, 0))
        self._agent.read(event, payload, session_id="pi_s1")
        return self._agent.answer(event, self._answering(event, payload), "")

    async def agent_ended(self) -> None:
        """Record an end."""
        with self._changed:
            self.ended += 1
            self._changed.notify_all()

    # -- inside ----------------------------------------------------------------------------------

    async def _start(self) -> None:
        self._host = make_host(self._home / "daemon-home")
        self._server = await asyncio.start_unix_server(
            self._connected, str(self.folder / "socket"), limit=4 * 1024 * 1024
        )

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        self._writers.append(writer)
        try:
            self.openings.append(await read_opening(reader))
            if self._behaviour is None:
                await Channel(reader, writer, _Link(self)).serve()
            else:
                await self._behaviour(reader, writer)
        except (asyncio.CancelledError, OSError):
            pass
        finally:
            writer.close()

    async def _stop(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections)
        self._server.close()
        if self._host is not None:
            await self._host.close(Deadline.after(1))
        await asyncio.sleep(0)


class _Link:
    def __init__(self, daemon: ChannelDaemon) -> None:
        self._daemon = daemon

    @property
    def session(self) -> ChannelDaemon:
        return self._daemon

    async def handle(self, event: str, payload: Mapping[str, Any]) -> str:
        return await self._daemon.handle(event, payload)

    async def ended(self) -> None:
        await self._daemon.agent_ended()


LAUNCHER = """
import json, os, sys
data = sys.stdin.buffer.read()
name = sys.argv[1]
line = json.dumps([*sys.argv[2:], json.loads(data or b"{}")])
with open(name, "a", encoding="utf-8") as file:
    file.write(line + "\\n")
"""


def make_launcher(folder: Path) -> tuple[list[str], Path]:
    """A stand-in for the thin client: writes down what it is called with.

    Returns:
        Its command, and the file that it writes to, one JSON list a line: agent, event, payload.
    """
    import sys

    program, written = folder / "launcher.py", folder / "launched.jsonl"
    program.write_text(LAUNCHER)
    return [sys.executable, "-I", "-S", str(program), str(written)], written


def launched(written: Path) -> list[tuple[str, dict[str, Any]]]:
    """Events and payloads that the stand-in was called with."""
    if not written.exists():
        return []
    calls = [json.loads(line) for line in written.read_text().splitlines()]
    assert all(agent == "pi" for agent, _, _ in calls)
    return [(event, payload) for _, event, payload in calls]

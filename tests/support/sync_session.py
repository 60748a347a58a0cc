"""A session of its own for sync, with a scripted server, a clock by hand and a timer by hand."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from builtin_plugins.sync.files import SyncRecords
from builtin_plugins.sync.improver import Improver, SyncTarget
from builtin_plugins.sync.plugin import SyncPlugin
from builtin_plugins.sync.record import server_name
from cognee_hooks.context import PluginContext
from cognee_hooks.results import Act
from cognee_hooks.services.ledger import Ledger
from cognee_hooks.services.session_state import SessionState
from cognee_hooks.session import Session
from tests.support.scripted import ScriptedClient, scripted_host

IMPROVE = "/api/v1/improve"
NEWEST = "/api/v1/activity/pipeline-runs?limit=1"
RUNS = "/api/v1/activity/pipeline-runs?limit=100"
HERE = SyncTarget("claude_s1", "agent_sessions")


class HandTimer:
    """A timer that goes off when a test says so."""

    def __init__(self, spawn: Any) -> None:
        self.seconds: float | None = None
        self._action: Callable[[], Awaitable[None]] | None = None

    @property
    def armed(self) -> bool:
        return self._action is not None

    def arm(self, seconds: float, action: Callable[[], Awaitable[None]]) -> None:
        self.seconds, self._action = seconds, action

    def disarm(self) -> None:
        self.seconds = self._action = None

    async def fire(self) -> None:
        assert self._action is not None, "nothing is armed"
        action = self._action
        self.disarm()
        await action()


class Port:
    """The part of a host that sync uses."""

    def __init__(self) -> None:
        self.waiting = 0
        self.session: Session | None = None
        self.said: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []
        self.lasting: list[bool] = []
        self.outlasting: list[asyncio.Task[None]] = []

    def spawn(self, plugin: str, work: Any, *, lasting: bool) -> None:
        self.lasting.append(lasting)
        self.tasks.append(asyncio.get_running_loop().create_task(work))

    def outlast(self, plugin: str, work: Any) -> None:
        self.outlasting.append(asyncio.get_running_loop().create_task(work))

    def say(self, text: str, level: object) -> None:
        self.said.append(text)

    async def settle(self) -> None:
        while self.tasks or self.outlasting:
            await (self.tasks or self.outlasting).pop(0)


class Rig:
    """One session.

    Attributes:
        client: Its server.
        port: Its host.
        now: Epoch seconds.
    """

    def __init__(self, home: Path, session_id: str = HERE.session_id, **environ: str) -> None:
        self.client = ScriptedClient()
        self.client.scripts |= {NEWEST: lambda _: [], RUNS: lambda _: []}
        self.port = Port()
        self.now = 1_800_000_000.0
        self.timers: list[HandTimer] = []
        # The host is there for its services; the plugin under test is made by the test.
        environ = {"COGNEE_HOOKS_DISABLE": "sync", **environ}
        self.host = scripted_host(home, self.client, session_id, **environ)
        self.port.session = self.host.session
        self.folder = self.host.paths.state_dir / "improve-state"
        server = server_name(self.host.services.mode.url)
        self.records = SyncRecords(self.folder, server, logging.getLogger("test"))
        self.ledger = Ledger(home / "ledger", "claude-code", home / "no-key")
        self.context = PluginContext(
            plugin="sync",
            core=self.host.core,
            services=self.host.services,
            state=SessionState(None),
            ledger=self.ledger,
            log=logging.getLogger("test"),
            now=lambda: self.now,
            random=random.Random(7),
            _host=self.port,
            _settings=self.host.settings,
        )

    def improver(self, seconds: float = 5.0) -> Improver:
        return Improver(self.context, self.records, seconds)

    def plugin(self) -> SyncPlugin:
        return SyncPlugin(self.context)

    def answers(self, document: Any) -> None:
        """Have the server answer improves with a document, or with what a function returns."""
        self.client.scripts[IMPROVE] = document if callable(document) else lambda _: document

    def runs(self, *outcomes: str, **fields: Any) -> None:
        """Put runs of this session into the server's log."""
        row = {"operation_name": "improve", "session_id": HERE.session_id, **fields}
        started = {"started_at": "2030-01-01T00:00:00"}
        self.client.scripts[RUNS] = lambda _: [
            {**started, **row, "outcome": outcome} for outcome in outcomes
        ]

    def store(self, count: int, act: Act = Act.DELIVERED, session_id: str = "") -> None:
        """Have entries of the session stored by the server."""
        self.context.record(act, "qa", count=count, session_id=session_id)

    @property
    def improves(self) -> list[dict[str, Any]]:
        return self.client.bodies(IMPROVE)

    @property
    def record(self) -> Any:
        return self.records.read(HERE.session_id, HERE.dataset)

    @property
    def timer(self) -> HandTimer:
        (timer,) = self.timers
        return timer

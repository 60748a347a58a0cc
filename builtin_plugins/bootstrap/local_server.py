"""The local server as a session sees it: whether one may be started, how far it is, starting it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from builtin_plugins.bootstrap import state
from builtin_plugins.bootstrap.address import why_not
from builtin_plugins.bootstrap.environment import server_environment
from builtin_plugins.bootstrap.pidfile import PidFile
from builtin_plugins.bootstrap.plan import WorkerPlan
from builtin_plugins.bootstrap.presence import READY, PresenceProbe
from builtin_plugins.bootstrap.settings import BootstrapSettings, ServerKind
from builtin_plugins.bootstrap.state import WORDS, Phase, Process, ServerRecord
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import ServerFailure
from cognee_hooks.services.logfile import LogFile
from cognee_hooks.services.process import spawn_detached
from cognee_hooks.services.process_table import start_time
from cognee_hooks.services.statefile import make_private_folder

if TYPE_CHECKING:
    from cognee_hooks import PluginContext

POLL_SECONDS = 0.5
WORKER_LOG_BYTES = 1_000_000
"""What workers print before they have a log; that is little, but each adds to it."""
_LOOKS = 4

NO_MODEL_KEY = (
    "no cognee server is started, since LLM_API_KEY is not set and cognee cannot work without a "
    "model."
)
GET_MODEL_KEY = (
    "Set it in ~/.cognee/.env (any text, where your model asks for none), or set "
    "COGNEE_LOCAL_SERVER=embedded there for the small server that needs no model."
)


class LocalServer:
    """One port's server.

    Args:
        context: The plugin's context.
        settings: The plugin's options.
    """

    def __init__(self, context: PluginContext, settings: BootstrapSettings) -> None:
        self._context = context
        self._settings = settings
        services = context.services
        self.plan = WorkerPlan.of(services.mode.url, services.paths.shared_dir, settings)
        self.pidfile = PidFile(self.plan.shared, self.plan.port)
        self.probe = PresenceProbe(
            self.plan.url, self.pidfile, self._ask, pause=settings.reprobe_delay
        )

    @property
    def record(self) -> ServerRecord:
        """How far it is."""
        return state.read(self.plan.places.state)

    def refusal(self) -> str:
        """Return why none is started at this address, one sentence; "" where one may be."""
        return why_not(self._context.services.mode)

    @property
    def lacks_model_key(self) -> bool:
        """Whether a server would have no model, as far as its environment tells."""
        needs_one = self._settings.server is ServerKind.COGNEE
        return needs_one and not self.environment().get("LLM_API_KEY", "").strip()

    def environment(self) -> dict[str, str]:
        """Return the server's environment."""
        context = self._context
        return server_environment(
            context.environ,
            context.env_values,
            home=context.services.paths.home,
            email=context.core.user_email,
            password=context.core.user_password,
        )

    def launch(self) -> Process:
        """Start a worker, which ends at once where another one is at it.

        Raises:
            OSError: It cannot be started.
        """
        own = self.plan.places.own
        make_private_folder(own)
        command = [sys.executable, "-P", "-m", __package__, self.plan.to_argument()]
        log = own / "worker.log"
        with suppress(OSError):
            LogFile(log, max_bytes=WORKER_LOG_BYTES).bound()
        pid = spawn_detached(command, env=self.environment(), cwd=own, log=log)
        return Process(pid=pid, started=start_time(pid))

    async def bring_up(self, tell: Callable[[Phase], None], deadline: Deadline) -> ServerRecord:
        """Start a worker, unless one is at it, and follow it.

        Args:
            tell: Called with what is going on.
            deadline: Until when to follow; the worker goes on.

        Returns:
            How it ended, or how far it is at the deadline.

        Raises:
            OSError: No worker can be started.
        """
        before = self.record
        worker = before.worker if before.working else self.launch()
        gone = 0
        while not deadline.expired:
            record = self.record
            settled = record.phase not in WORDS
            if settled and (record != before or record.phase is Phase.STOPPED):
                return record
            # Ours ends at once where another one has just begun, which has not said so yet.
            gone = 0 if worker.alive or record.working else gone + 1
            if gone > _LOOKS:
                return self._left_by_its_worker(record)
            tell(Phase.CHECKING if settled else record.phase)
            await asyncio.sleep(min(POLL_SECONDS, deadline.remaining()))
        return self.record

    def write(self, record: ServerRecord) -> None:
        """Replace the record.

        Raises:
            OSError: It cannot be written.
        """
        state.write(self.plan.places.state, record)

    def _left_by_its_worker(self, record: ServerRecord) -> ServerRecord:
        log = self.plan.places.own / "worker.log"
        detail = (
            "the process that starts it ended without a word: it was killed, or cannot write to "
            f"{self.plan.places.own}; see {log}."
        )
        return replace(record, phase=Phase.FAILED, detail=detail, at=self._context.now())

    async def _ask(self, seconds: float) -> str:
        try:
            found = await self._context.services.client.health(Deadline.after(seconds))
        except ServerFailure as failure:
            return str(failure.status or failure.kind.value)
        return READY if found.ready else "503"

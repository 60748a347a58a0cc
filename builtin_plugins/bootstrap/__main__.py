"""The worker: a process of its own that brings one server up and then ends.

It outlives the session that started it, since installing takes minutes and some sessions seconds.
Argument: the plan. Environment: the server's.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from builtin_plugins.bootstrap import state
from builtin_plugins.bootstrap.boot import Boot, BootOutcome
from builtin_plugins.bootstrap.errors import BootFailed
from builtin_plugins.bootstrap.log import BootLog
from builtin_plugins.bootstrap.pidfile import PidFile
from builtin_plugins.bootstrap.plan import WorkerPlan
from builtin_plugins.bootstrap.presence import READY, PresenceProbe
from builtin_plugins.bootstrap.secrets_out import Cleaner
from builtin_plugins.bootstrap.state import Phase, Process, ServerRecord
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import ServerFailure
from cognee_hooks.services.filelock import KernelLock
from cognee_hooks.services.process import current_environ
from cognee_hooks.services.process_table import start_time


class NoKey:
    """Says that there is no key; the health route asks for none."""

    async def key(self, deadline: Deadline) -> None:
        """Return none."""

    async def rejected(self, key: object) -> None:
        """Do nothing."""


class BootWorker:
    """Works on one plan and keeps its record.

    Args:
        plan: What to do.
        environ: The server's environment.
    """

    def __init__(self, plan: WorkerPlan, environ: Mapping[str, str]) -> None:
        self._plan = plan
        self._environ = environ
        self._path = plan.places.state
        self._clean = Cleaner(environ)
        self._log = BootLog(plan.places.log, plan.log_max_bytes, self._clean)
        before = state.read(self._path)
        me = Process(pid=os.getpid(), started=start_time(os.getpid()))
        self._record = ServerRecord(
            phase=Phase.CHECKING,
            streak=before.streak_now(time.time()),
            worker=me,
            server=before.server if before.server.alive else Process(),
            version=before.version,
        )
        # At once: whoever finds the lock taken looks here who works, and how far it is.
        self._put()

    async def run(self) -> None:
        """Bring the server up, or write down why it does not come."""
        # Takes long to import, and others wait for the first word.
        from cognee_hooks.services.client import CogneeClient

        client = CogneeClient(self._plan.url, NoKey())

        async def ask(seconds: float) -> str:
            try:
                found = await client.health(Deadline.after(seconds))
            except ServerFailure as failure:
                return str(failure.status or failure.kind.value)
            return READY if found.ready else "503"

        pidfile = PidFile(self._plan.shared, self._plan.port)
        boot = Boot(
            self._plan,
            self._environ,
            probe=PresenceProbe(self._plan.url, pidfile, ask, pause=self._plan.pause),
            log=self._log,
            tell=lambda phase: self._put(phase=phase),
            started=lambda server: self._put(server=server),
        )
        try:
            self._done(await boot.run())
        except BootFailed as failure:
            self._failed(str(failure))
        except OSError as error:
            self._failed(f"{error.filename or self._plan.shared}: {error.strerror}")
        except asyncio.CancelledError:
            self._failed("it was stopped")
        finally:
            await client.aclose()

    def _done(self, outcome: BootOutcome) -> None:
        if outcome.server is not None:
            self._put(phase=Phase.READY, server=outcome.server, version=outcome.version)
        elif self._record.server.alive:
            self._put(phase=Phase.READY)
        else:
            # Another program's server, which is not ours to end.
            self._put(phase=Phase.READY, server=Process(), version="")

    def _failed(self, why: str) -> None:
        self._log.write("bootstrap_failed", error=why)
        self._put(phase=Phase.FAILED, detail=self._clean(why))

    def _put(self, **fields: object) -> None:
        self._record = replace(self._record, at=time.time(), **fields)  # type: ignore[arg-type]
        # A full disk must not stop the server; sessions then see only that the worker ended.
        with suppress(OSError):
            state.write(self._path, self._record)


async def _work(plan: WorkerPlan, environ: Mapping[str, str]) -> None:
    work = asyncio.ensure_future(BootWorker(plan, environ).run())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, work.cancel)
    await work


def main(argument: str) -> int:
    """Do the work, unless another worker is at it, or the person has stopped the server."""
    plan = WorkerPlan.from_argument(argument)
    lock = KernelLock(plan.places.worker_lock)
    if lock.try_acquire():
        try:
            # `up` takes that word away before it starts a worker.
            if state.read(plan.places.state).phase is not Phase.STOPPED:
                asyncio.run(_work(plan, current_environ()))
        finally:
            lock.release()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

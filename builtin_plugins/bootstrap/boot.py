"""Brings a server up: looks, installs, looks again, takes the lock, looks once more, starts."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from builtin_plugins.bootstrap.environment import without_installers
from builtin_plugins.bootstrap.errors import BootFailed
from builtin_plugins.bootstrap.installer import CogneeInstaller
from builtin_plugins.bootstrap.locks import SharedLock, Taken, keeping, take
from builtin_plugins.bootstrap.log import BootLog
from builtin_plugins.bootstrap.pidfile import PidFile
from builtin_plugins.bootstrap.plan import WorkerPlan
from builtin_plugins.bootstrap.presence import Presence, PresenceProbe, Verdict
from builtin_plugins.bootstrap.settings import ServerKind
from builtin_plugins.bootstrap.state import Phase, Process
from cognee_hooks.deadline import Deadline
from cognee_hooks.services.process import spawn_detached
from cognee_hooks.services.process_table import start_time
from cognee_hooks.services.statefile import make_private_folder, read_bytes

BOOT_LOCK_STALE = 60.0
"""Seconds after which all plugins take the boot lock for stale."""
LOCK_POLL = 0.2
HEALTH_POLL = 1.0
PUMP = "builtin_plugins.bootstrap.pump"
CONSOLE_CAP = 1024 * 1024
"""Bytes of the server's output that are kept of each start."""

_LAST_LOOK_SECONDS, _LAST_LOOK_POLL = 2.0, 0.25
_PUMP_SECONDS, _PUMP_POLL = 5.0, 0.02
_CONSOLE_TAIL = 600
_MAX_LINE = 300
_EMBEDDED_NEEDS = ("python_multipart", "starlette", "uvicorn")


@dataclass(frozen=True, slots=True)
class BootOutcome:
    """How a boot went.

    Attributes:
        server: The server, where we started it now.
        version: What was started, or "".
    """

    server: Process | None
    version: str = ""


class Boot:
    """One attempt.

    Args:
        plan: What to do.
        environ: The server's environment.
        probe: Looks whether a server is there.
        log: Where it is written down.
        tell: Called on each new phase.
        started: Called with the server's process as soon as there is one.
    """

    def __init__(
        self,
        plan: WorkerPlan,
        environ: Mapping[str, str],
        *,
        probe: PresenceProbe,
        log: BootLog,
        tell: Callable[[Phase], None],
        started: Callable[[Process], None],
    ) -> None:
        self._plan = plan
        self._environ = environ
        self._pump = Process()
        self._probe = probe
        self._log = log
        self._tell = tell
        self._started = started
        self._pidfile = PidFile(plan.shared, plan.port)

    async def run(self) -> BootOutcome:
        """Bring the server up; one that is there already is taken as it is.

        Raises:
            BootFailed: It does not come up.
            OSError: A lock or the log cannot be written.
        """
        self._tell(Phase.CHECKING)
        if await self._is_there("pre_install", confirm=True):
            return BootOutcome(None)
        command, version = await self._prepared()
        if await self._is_there("post_install"):
            return BootOutcome(None)
        self._tell(Phase.STARTING)
        lock = SharedLock(
            self._plan.places.boot_lock,
            owner=f"hooks-bootstrap:{os.getpid()}",
            stale_after=BOOT_LOCK_STALE,
        )
        limit = Deadline.after(self._plan.boot_seconds)
        taken = await take(lock, limit, self._probe.healthy, LOCK_POLL)
        if taken is Taken.NEEDLESS:
            return BootOutcome(None)
        if taken is Taken.TIMED_OUT:
            raise BootFailed(
                "another cognee plugin has been starting the server for long, and it does not "
                f"become healthy; its lock is {self._plan.places.boot_lock}."
            )
        async with keeping(lock):
            if await self._is_there("in_lock"):
                return BootOutcome(None)
            return await self._serve(command, version)

    async def _is_there(self, stage: str, *, confirm: bool = False) -> bool:
        """Tell whether a server is there that can be used; only if none is, go on.

        Raises:
            BootFailed: Something is there, or may be, that cannot be used.
        """
        found = await self._probe.look(confirm=confirm)
        if found.evidence.get("pid"):
            await self._started_before()
            found = await self._probe.look(confirm=confirm)
        if found.verdict is Verdict.ABSENT:
            return False
        if found.verdict is Verdict.READY:
            self._log.write("bootstrap_skipped_server_present", verdict=found.verdict, stage=stage)
            return True
        self._log.write(
            "boot_refused_server_present", stage=stage, verdict=found.verdict, **found.evidence
        )
        what, remedy = self._held(found)
        raise BootFailed(
            f"{what}, so none is started over it (verdict={found.verdict}, stage={stage}). {remedy}"
        )

    async def _started_before(self) -> None:
        """Wait for a server that another plugin started, or a worker that was ended since."""
        limit = Deadline.after(self._plan.boot_seconds - self._pidfile.age(time.time()))
        while self._pidfile.live() and not limit.expired:
            self._tell(Phase.STARTING)
            if await self._probe.healthy():
                return
            await asyncio.sleep(min(HEALTH_POLL, limit.remaining()))

    def _held(self, found: Presence) -> tuple[str, str]:
        """Return what seems to be there, and what to do about it."""
        if pid := found.evidence.get("pid"):
            return (
                f"the server's process {pid} lives and does not serve",
                "Wait for it, or end it: `cognee-hooks down` does, if cognee-hooks started it.",
            )
        if found.verdict is Verdict.BUSY:
            return (
                f"port {self._plan.port} is held by something that is no healthy cognee server",
                "End that program.",
            )
        return f"it cannot be told whether something holds port {self._plan.port}", "Look there."

    async def _prepared(self) -> tuple[list[str], str]:
        """Return the command that serves, installed where need be, and its version."""
        port = str(self._plan.port)
        if self._plan.kind is ServerKind.EMBEDDED:
            for name in _EMBEDDED_NEEDS:
                if importlib.util.find_spec(name) is None:
                    raise BootFailed(
                        f"the embedded server needs the package {name}: "
                        f"`{sys.executable} -m pip install 'cognee-hooks[embedded]'`."
                    )
            serving = ["-P", "-m", "cognee_hooks", "server", "--port", port]
            return [sys.executable, *serving], ServerKind.EMBEDDED.value
        installer = CogneeInstaller(
            self._plan, self._environ, self._log, lambda: self._tell(Phase.INSTALLING)
        )
        version = await installer.ensure()
        serving = ["-m", "uvicorn", "cognee.api.client:app", "--host", "127.0.0.1", "--port", port]
        return [str(self._plan.places.interpreter), *serving], version

    async def _serve(self, command: Sequence[str], version: str) -> BootOutcome:
        try:
            pid = self._spawned(command)
        except OSError as error:
            self._log.write("server_spawn_failed_no_pid", error=error)
            raise BootFailed(f"{command[0]} cannot be started: {error.strerror}") from error
        server = Process(pid=pid, started=start_time(pid))
        self._started(server)
        try:
            self._pidfile.write(pid, version)
        except OSError as error:
            self._log.write("server_pidfile_write_failed", error=error)
        self._log.write("server_spawned", pid=pid, port=self._plan.port, version=version)
        if await self._becomes_healthy(server):
            self._log.write("server_healthy", port=self._plan.port, pid=pid)
            return BootOutcome(server, version)
        return BootOutcome(None)

    def _spawned(self, command: Sequence[str]) -> int:
        """Start the server, its output in the hands of a pump; returns its process id."""
        places = self._plan.places
        make_private_folder(places.own)
        folder = places.own if self._plan.kind is ServerKind.EMBEDDED else places.venv
        environ = without_installers(self._environ)
        source, sink = os.pipe()
        try:
            pump = [sys.executable, "-P", "-m", PUMP, str(places.console), str(CONSOLE_CAP)]
            try:
                pid = spawn_detached(pump, env=self._environ, stdin=source)
                self._pump = Process(pid=pid, started=start_time(pid))
            except OSError as error:
                self._log.write("console_pump_start_failed", error=error)
                return spawn_detached(command, env=environ, cwd=folder)
            return spawn_detached(command, env=environ, cwd=folder, output=sink)
        finally:
            os.close(source)
            os.close(sink)

    async def _becomes_healthy(self, server: Process) -> bool:
        """Wait until the server is healthy; False where another one is there in its place.

        Raises:
            BootFailed: It ended, or takes too long.
        """
        limit = Deadline.after(self._plan.boot_seconds)
        while not await self._probe.healthy():
            if not server.alive:
                return await self._ended(server)
            if limit.expired:
                self._log.write("server_health_deadline", port=self._plan.port, pid=server.pid)
                raise BootFailed(
                    f"the server did not become healthy at {self._plan.url} within "
                    f"{self._plan.boot_seconds:g} s. It goes on trying; see `cognee-hooks logs`."
                )
            await asyncio.sleep(min(HEALTH_POLL, limit.remaining()))
        if server.alive:
            return True
        return await self._ended(server)

    async def _ended(self, server: Process) -> bool:
        """Return False if another server is there now; else tell what the console said."""
        self._pidfile.live()  # which takes the record of a server that is gone away
        limit = Deadline.after(_LAST_LOOK_SECONDS)
        while not limit.expired:
            if await self._probe.healthy(_LAST_LOOK_POLL * 2):
                return False
            await asyncio.sleep(_LAST_LOOK_POLL)
        await self._all_written()
        raise self._exited(server)

    async def _all_written(self) -> None:
        """Wait until all that the server said is in the file."""
        limit = Deadline.after(_PUMP_SECONDS)
        while not limit.expired:
            if not self._pump.alive:
                return
            await asyncio.sleep(_PUMP_POLL)

    def _exited(self, server: Process) -> BootFailed:
        console = self._plan.places.console
        said = read_bytes(console, max_bytes=4 * CONSOLE_CAP) or b""
        tail = self._log.clean(said.decode("utf-8", "replace")[-4 * _CONSOLE_TAIL :]).strip()
        self._log.write(
            "server_exited_before_healthy", pid=server.pid, console_tail=tail[-_CONSOLE_TAIL:]
        )
        return BootFailed(
            f"the server ended before it was healthy ({telling_line(tail) or 'it said nothing'}); "
            f"its output is in {console}, see `cognee-hooks logs`."
        )


def telling_line(text: str) -> str:
    """Return the last line that speaks of an error, for want of one the last line."""
    lines = [each.strip() for each in text.splitlines() if each.strip()]
    errors = [each for each in lines if "error" in each.lower()]
    return (errors or lines or [""])[-1][:_MAX_LINE]

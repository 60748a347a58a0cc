"""The daemon's life: one at a time, ready, busy, idle, and gone without losing anything."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from cognee_hooks.daemon import telling
from cognee_hooks.daemon.journal import Journal
from cognee_hooks.daemon.server import Server
from cognee_hooks.daemon.sessions import LiveSessions
from cognee_hooks.daemon.thin_client import LIMIT, VERSION
from cognee_hooks.daemon.watchdog import REST_SECONDS, Watchdog
from cognee_hooks.deadline import Deadline
from cognee_hooks.services.crypto import Sealer
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.process import spawn_detached

DRAIN_SECONDS = 9.0
"""What ending the daemon may take."""
ANSWER_SECONDS = 1.0
"""What requests that are under way may take then."""
EXIT_IDLE_SECONDS = 30 * 60.0
"""After so long without an event the daemon ends."""
LOOK_SECONDS = (1.0, LIMIT + 1.0)
"""When to look into the spool again after a start or a request: a client that got no answer may be
just about to put its event there, and no other event may follow."""
STALLED = 70
"""Exit code of a daemon that the watchdog ended."""

_LOG = logging.getLogger(__name__)


class Daemon:
    """The running daemon.

    Args:
        paths: Where files lie.
        lock: Descriptor of the lock file, which this process has locked.
        idle_seconds: After so long without an event it ends.
    """

    def __init__(self, paths: Paths, lock: int, *, idle_seconds: float = EXIT_IDLE_SECONDS) -> None:
        self._folder = paths.daemon_dir
        self._lock = lock
        self._idle_seconds = idle_seconds
        self._began = time.time()
        self._stopping = asyncio.Event()
        self._sessions = LiveSessions(
            Journal(self._folder, Sealer.of(paths.key_file)), in_charge=self._is_in_charge
        )
        self._watchdog = Watchdog(self._replace, trace=self._folder / "daemon.log")
        self._server = Server(
            self._sessions,
            control=self._answer,
            hand_over=self._stopping.set,
            busy=self._busy,
        )
        self._inode = -1
        self._looks: dict[float, asyncio.TimerHandle] = {}
        self._looking: set[asyncio.Task[None]] = set()

    async def run(self, ready: int | None = None) -> None:
        """Serve until somebody says stop, a newer version calls, or nothing happens any more.

        Args:
            ready: Descriptor of the lock that whoever started us holds until we listen.
        """
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(name, self._stopping.set)
        if not self._is_in_charge():
            return
        bound = _bind(self._folder)
        self._inode = (self._folder / "socket").stat().st_ino
        self._watchdog.start()
        # Connections wait meanwhile, so what was left behind comes before what is new.
        await self._sessions.take_up()
        await self._server.listen(bound)
        if ready is not None:
            with suppress(OSError):
                os.close(ready)
        self._busy()
        _LOG.info("daemon %s listens, pid %d", VERSION, os.getpid())
        # What is loaded now stays; looking through it again and again would only cost time.
        gc.freeze()
        await self._until_stopped()
        await self._drain()

    async def _until_stopped(self) -> None:
        while not self._stopping.is_set():
            idle = time.monotonic() - self._sessions.last_event
            if idle >= self._idle_seconds:
                _LOG.info("nothing happened for %.0f s", idle)
                return
            # The watchdog wakes an idle process as often.
            with suppress(TimeoutError):
                async with asyncio.timeout(min(self._idle_seconds - idle, REST_SECONDS)):
                    await self._stopping.wait()
            self._stop_if_lost()

    def _busy(self) -> None:
        self._watchdog.expect()
        loop = asyncio.get_running_loop()
        for seconds in LOOK_SECONDS:
            if seconds not in self._looks:
                self._looks[seconds] = loop.call_later(seconds, self._look, seconds)

    def _look(self, seconds: float) -> None:
        del self._looks[seconds]
        if self._stop_if_lost():
            return
        task = asyncio.create_task(self._sessions.take_up_spool())
        self._looking.add(task)
        task.add_done_callback(self._looking.discard)

    def _stop_if_lost(self) -> bool:
        """Stop where nobody can find this daemon; another one may be at the same sessions."""
        lost = not self._stopping.is_set() and not self._is_reachable()
        if lost:
            _LOG.warning("the daemon's folder is gone, and nobody can find it any more")
            self._stopping.set()
        return lost

    def _is_in_charge(self) -> bool:
        """Tell whether other daemons find our lock; without it another one may be at work."""
        try:
            return os.path.samestat((self._folder / "lock").stat(), os.fstat(self._lock))
        except OSError:
            return False

    def _is_reachable(self) -> bool:
        """Tell whether clients find this daemon's socket, and other daemons its lock."""
        try:
            found = (self._folder / "socket").stat().st_ino
        except OSError:
            return False
        return found == self._inode and self._is_in_charge()

    async def _drain(self) -> None:
        limit = Deadline.after(DRAIN_SECONDS)
        self._watchdog.stop()
        for timer in self._looks.values():
            timer.cancel()
        # Whoever comes now finds nobody, and keeps the event for the next daemon.
        if self._is_reachable():
            (self._folder / "socket").unlink(missing_ok=True)
        await self._server.stop(ANSWER_SECONDS)
        await self._sessions.close(limit)
        _LOG.info("daemon ends, %d events are kept", self._sessions.kept)

    def _answer(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        match request:
            case {"do": "status"}:
                pass
            case {"do": "stop"}:
                self._stopping.set()
            case {"do": "plugins"}:
                return telling.plugins(self._sessions.live)
            case {"do": "prompts", "session_id": str(session_id)}:
                return telling.prompts(self._sessions.live, session_id)
            case _:
                return {"error": f"no such request: {str(request.get('do'))[:40]!r}"}
        return {
            "pid": os.getpid(),
            "version": VERSION,
            "began": self._began,
            "kept": self._sessions.kept,
            "sessions": self._sessions.rows(),
        }

    def _replace(self) -> None:
        """Start another daemon, which waits for our lock, and be gone."""
        spawn_detached([sys.executable, "-P", "-m", "cognee_hooks.daemon"])
        os._exit(STALLED)


def _bind(folder: Path) -> socket.socket:
    """Return the bound socket; a dead daemon's is replaced.

    The folder is private, so nobody else can connect before the socket's own mode is set. Its
    address is relative, since the name of the folder may be longer than an address can be.
    """
    os.chdir(folder)
    with suppress(FileNotFoundError):
        Path("socket").unlink()
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    bound.bind("socket")
    Path("socket").chmod(0o600)
    bound.listen(128)
    bound.setblocking(False)
    return bound

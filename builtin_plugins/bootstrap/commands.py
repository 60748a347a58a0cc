"""What people do by hand: start the local server, end it, read its logs."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from builtin_plugins.bootstrap.local_server import GET_MODEL_KEY, NO_MODEL_KEY, LocalServer
from builtin_plugins.bootstrap.state import WORDS, Phase, Process, ServerRecord
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import UsageError
from cognee_hooks.printable import clean
from cognee_hooks.services.filelock import KernelLock
from cognee_hooks.services.logfile import read_end
from cognee_hooks.services.process_table import end

if TYPE_CHECKING:
    from cognee_hooks import PluginContext
    from cognee_hooks.redaction import Redacted

WAIT_SECONDS = 25.0
"""How long `up` waits, if the person does not say otherwise; an agent's line is not held longer."""
STOP_SECONDS = 12.0
"""A server finishes what it is doing, which takes it 8 s at most."""
KILL_SECONDS = 5.0
LOG_LINES = 40
LOCK_POLL = 0.1

_MAX_LOG = 1_000_000
"""Bytes of the end of each log that are looked at."""
_MAX_LINES = 10_000


class ServerCommands:
    """The commands.

    Args:
        context: The plugin's context.
        server: The local server.
    """

    def __init__(self, context: PluginContext, server: LocalServer) -> None:
        self._context = context
        self._server = server

    async def up(self, argument: str) -> str:
        """Start the local server, and wait for it.

        Args:
            argument: ``--wait <seconds>`` or nothing.

        Raises:
            UsageError: None can be started, or it did not come up.
        """
        wait = _number(argument, "--wait", WAIT_SECONDS)
        server = self._server
        if refusal := server.refusal():
            raise UsageError(refusal)
        record = server.record
        if await server.probe.healthy():
            if record.phase is Phase.STOPPED:
                server.write(replace(record, phase=Phase.NONE))
            return f"A server runs at {server.plan.url} already."
        if server.lacks_model_key:
            raise UsageError(f"{NO_MODEL_KEY[0].upper()}{NO_MODEL_KEY[1:]} {GET_MODEL_KEY}")
        try:
            if not record.working:
                # Whoever asks for it does not wait for what failed before.
                server.write(ServerRecord(server=record.server, version=record.version))
            record = await server.bring_up(self._tell, Deadline.after(wait))
        except OSError as error:
            raise UsageError(f"The server cannot be started: {error}") from error
        if record.phase is Phase.FAILED:
            raise UsageError(f"The server did not start: {record.detail}")
        if record.phase is Phase.STOPPED:
            raise UsageError("The server was stopped meanwhile.")
        if record.phase is not Phase.READY:
            doing = WORDS.get(record.phase, "working")
            return f"Still {doing}; it goes on by itself. See `cognee-hooks logs`."
        self._context.services.health.probe_soon()
        what = f" ({record.version})" if record.version else ""
        return f"The server runs at {server.plan.url}{what}."

    async def down(self, _: str) -> str:
        """End the local server that we started, and leave it down.

        Raises:
            UsageError: It is not ours, or does not end.
        """
        server = self._server
        if refusal := server.refusal():
            raise UsageError(refusal)
        with await self._no_worker():
            running = server.record.server
            # Noted first, so that no session that sees it go starts another one.
            self._note_stopped(running)
            if running.alive:
                self._context.report_progress("waiting for the server to finish its work")
                if not await self._end(running):
                    raise UsageError(f"The server, process {running.pid}, does not end.")
                server.pidfile.live()  # which takes the record of what is gone away
            self._note_stopped()
        if not running.alive and not running.pid and (pid := await self._stranger()):
            raise UsageError(
                f"A server runs at {server.plan.url} that cognee-hooks did not start{pid}. End it "
                "where you started it; cognee-hooks starts none in its place now."
            )
        done = "The server is stopped" if running.pid else "No server was running"
        return f"{done}. None is started by itself until `cognee-hooks up`."

    async def logs(self, argument: str) -> str:
        """Return the end of the log and of the server's output.

        Args:
            argument: How many lines of each, or nothing.
        """
        count = _number(argument, "-n", LOG_LINES)
        places = self._server.plan.places
        parts = []
        for path, shown in ((places.log, _told), (places.console, str)):
            lines = [shown(each) for each in _tail(path, int(count))]
            parts.append(f"== {path}\n" + ("\n".join(lines) or "(nothing yet)"))
        # They are read by a model, too, where an agent runs the command.
        text: Redacted[str] = await self._context.redact(clean("\n\n".join(parts)))
        return text.value

    def _tell(self, phase: Phase) -> None:
        self._context.report_progress(WORDS[phase])

    async def _no_worker(self) -> AbstractContextManager[None]:
        """Hold the lock of those who start the server, and end the one who has it.

        Raises:
            UsageError: That one does not end.
        """
        lock = KernelLock(self._server.plan.places.worker_lock)
        limit = Deadline.after(STOP_SECONDS + KILL_SECONDS)
        try:
            while not lock.try_acquire():
                # One that has just begun has not said yet who it is.
                if (record := self._server.record).working:
                    self._context.report_progress("stopping what is being started")
                    await self._end(record.worker)
                if limit.expired:
                    raise UsageError("What is starting the server does not end.")
                await asyncio.sleep(LOCK_POLL)
        except OSError as error:
            raise UsageError(f"The server cannot be stopped: {error}") from error
        return _released(lock)

    def _note_stopped(self, server: Process | None = None) -> None:
        record = ServerRecord(
            phase=Phase.STOPPED, at=self._context.now(), server=server or Process()
        )
        try:
            self._server.write(record)
        except OSError as error:
            raise UsageError(f"It cannot be noted that the server is stopped: {error}") from error

    async def _stranger(self) -> str:
        """Return what is known of a server that is not ours, "" where there is none."""
        if pid := self._server.pidfile.live():
            return f" (process {pid})"
        return " (its process is not known)" if await self._server.probe.healthy() else ""

    async def _end(self, process: Process) -> bool:
        grace = Deadline.after(STOP_SECONDS)
        limit = Deadline.after(STOP_SECONDS + KILL_SECONDS)
        return await end(process.pid, process.started, grace, limit)


def _number(argument: str, name: str, default: float) -> float:
    """Return the number in an argument, with or without its name before it.

    Raises:
        UsageError: There is something else.
    """
    words = [each for each in argument.split() if each != name]
    if not words:
        return default
    try:
        (number,) = (float(each) for each in words)
    except ValueError as error:
        raise UsageError(f"{argument.strip()!r} is no number; say {name} and a number.") from error
    return max(0.0, min(number, _MAX_LINES))


@contextmanager
def _released(lock: KernelLock) -> Iterator[None]:
    try:
        yield
    finally:
        lock.release()


def _tail(path: Path, count: int) -> list[str]:
    older = path.with_name(f"{path.name}.1")
    data = b"".join(read_end(each, _MAX_LOG) for each in (older, path))
    return list(deque(data.decode("utf-8", "replace").splitlines(), maxlen=count))


def _told(line: str) -> str:
    """Return a line of the log as people read it."""
    try:
        fields = json.loads(line)
        moment, event = fields.pop("ts"), fields.pop("event")
    except (ValueError, KeyError, TypeError, AttributeError):
        return line
    rest = "  ".join(f"{name}={value}" for name, value in fields.items())
    return f"{str(moment)[:19]}  {event}  {rest}".rstrip()

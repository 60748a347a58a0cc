"""Other programs: run one with a limit, or start one that outlives us.

The only module that imports `subprocess`, and one of two that may look at `os.environ`. `asyncio`
is imported where a program is awaited, since many need no more than the environment.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import asyncio

    from cognee_hooks.deadline import Deadline

DEFAULT_MAX_OUTPUT = 1_000_000
"""Bytes kept of each output stream; the rest is read and thrown away."""

_PIPE_GRACE = 0.2
"""Seconds that output may stay open after the program itself ended: a helper that it left behind
may hold the pipe for as long as it lives."""
_REAP_SECONDS = 1.0
_PS_SECONDS = 2.0


def current_environ() -> dict[str, str]:
    """Return a copy of this process's environment."""
    return dict(os.environ)


@dataclass(frozen=True, slots=True)
class Completed:
    """How a program ended.

    Attributes:
        returncode: Exit status, negative for a signal; None where the deadline ended the program.
        stdout: What it wrote, bounded.
        stderr: What it wrote as errors, bounded.
        truncated: Whether output is missing.
    """

    returncode: int | None
    stdout: bytes
    stderr: bytes
    truncated: bool = False

    @property
    def timed_out(self) -> bool:
        """Whether the deadline ended it."""
        return self.returncode is None

    @property
    def ok(self) -> bool:
        """Whether it exited with status 0."""
        return self.returncode == 0


class _Collector:
    """Keeps a program's output up to a limit; has the methods of `asyncio.SubprocessProtocol`."""

    def __init__(self, limit: int) -> None:
        import asyncio

        self.exited = asyncio.Event()
        self.closed = asyncio.Event()
        self.truncated = False
        self._limit = limit
        self._open = {1, 2}
        self._kept = {1: bytearray(), 2: bytearray()}

    def output(self, returncode: int | None) -> Completed:
        """Return what was collected."""
        return Completed(returncode, bytes(self._kept[1]), bytes(self._kept[2]), self.truncated)

    def connection_made(self, transport: object) -> None:
        """Part of the protocol."""

    def connection_lost(self, exc: BaseException | None) -> None:
        """Part of the protocol."""

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep output as long as there is room."""
        kept = self._kept[fd]
        room = self._limit - len(kept)
        kept += data[:room]
        self.truncated = self.truncated or len(data) > room

    def pipe_connection_lost(self, fd: int, _exc: BaseException | None) -> None:
        """Note that the program closed an output."""
        self._open.discard(fd)
        if not self._open:
            self.closed.set()

    def process_exited(self) -> None:
        """Note that the program ended."""
        self.exited.set()


async def run(
    argv: Sequence[str],
    *,
    deadline: Deadline,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    input: bytes = b"",  # noqa: A002 -- the name that subprocess.run gave it
    max_output: int = DEFAULT_MAX_OUTPUT,
) -> Completed:
    """Run a program in a process group of its own, and end the group at the deadline.

    Whatever the program started in its group ends with it, also when this call is cancelled.

    Args:
        argv: Program and arguments; no shell is involved.
        deadline: When to give up.
        cwd: Working directory.
        env: The whole environment; None passes ours on.
        input: What the program reads.
        max_output: Bytes kept of each output stream.

    Returns:
        How it ended.

    Raises:
        OSError: The program cannot be started.
    """
    import asyncio

    collector = _Collector(max_output)
    starting = asyncio.ensure_future(
        asyncio.get_running_loop().subprocess_exec(
            lambda: cast("asyncio.SubprocessProtocol", collector),
            *argv,
            cwd=cwd,
            env=None if env is None else dict(env),
            start_new_session=True,
        )
    )
    try:
        transport, _ = await asyncio.shield(starting)
    except asyncio.CancelledError:
        # Cancelled in the middle, asyncio waits for the program's helpers to close its output.
        starting.add_done_callback(_discard)
        raise
    try:
        _feed(transport, input)
        if not await _wait(collector.exited, deadline.remaining()):
            return collector.output(None)
        if not await _wait(collector.closed, _PIPE_GRACE):
            collector.truncated = True
        return collector.output(transport.get_returncode())
    finally:
        kill_group(transport.get_pid())
        try:
            await _wait(collector.exited, _REAP_SECONDS)
        finally:
            transport.close()


def _discard(
    started: asyncio.Future[tuple[asyncio.SubprocessTransport, asyncio.SubprocessProtocol]],
) -> None:
    """End a program that nobody waits for any more."""
    if not started.cancelled() and started.exception() is None:
        transport, _ = started.result()
        kill_group(transport.get_pid())
        transport.close()


async def _wait(event: asyncio.Event, seconds: float) -> bool:
    import asyncio

    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return event.is_set()
    return True


def _feed(transport: asyncio.SubprocessTransport, data: bytes) -> None:
    pipe = cast("asyncio.WriteTransport", transport.get_pipe_transport(0))
    pipe.write(data)
    pipe.close()


def kill_group(pid: int) -> None:
    """End all processes of a group at once.

    Args:
        pid: Id of the process that leads it.
    """
    # Gone already, or (macOS) nothing but a zombie that nobody may signal.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def spawn_detached(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | str | None = None,
    log: Path | None = None,
    stdin: int | None = None,
    output: int | None = None,
) -> int:
    """Start a program that lives on when this process ends.

    Args:
        argv: Program and arguments; no shell is involved.
        env: The whole environment; None passes ours on.
        cwd: Working directory.
        log: File, made 0600, to which its output is appended; None throws output away.
        stdin: Descriptor that it reads; it reads nothing by default. It stays open here.
        output: Descriptor that gets its output instead of ``log``. It stays open here.

    Returns:
        Its process id.

    Raises:
        OSError: The program cannot be started or the log cannot be opened.
    """
    import subprocess

    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    opened = os.open(log or os.devnull, flags if log else os.O_WRONLY, 0o600)
    try:
        process = subprocess.Popen(  # noqa: S603 -- callers pass fixed programs, never a shell
            list(argv),
            env=None if env is None else dict(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=opened if output is None else output,
            stderr=opened if output is None else output,
            start_new_session=True,
        )
    finally:
        os.close(opened)
    # While we live, somebody has to take its exit status, or it stays around as a zombie.
    threading.Thread(target=process.wait, name=f"reap-{process.pid}", daemon=True).start()
    return process.pid


def ps(pid: int, field: str) -> str | None:
    """Ask the system's ``ps`` about one process.

    Args:
        pid: Its id.
        field: What to tell, as ``ps -o`` takes it: ``lstart=`` for one without a heading.

    Returns:
        What it wrote, which is nothing where there is no such process; None where it cannot be
        asked.
    """
    import subprocess

    try:
        done = subprocess.run(  # noqa: S603 -- a fixed program and a number
            ["/bin/ps", "-ww", "-o", field, "-p", str(pid)],
            capture_output=True,
            check=False,
            env={"LC_ALL": "C"},
            timeout=_PS_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace")

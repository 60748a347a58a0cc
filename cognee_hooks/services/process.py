"""Other programs: run one with a limit, start one that outlives us, see whether one lives.

The only module that imports `subprocess`, and one of two that may look at `os.environ`. `asyncio`
is imported where a program is awaited, since locks need no more than the last part of this module.
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
_MAX_SHELLS = 4
_MAX_ANCESTORS = 40
_PS_SECONDS = 2.0
_END_POLL = 0.05
_STATE_FIELD = 0  # in /proc/<pid>/stat, counted behind the name in parentheses
_PARENT_FIELD = 1
_START_FIELD = 19


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
        _kill_group(transport.get_pid())
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
        _kill_group(transport.get_pid())
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


def _kill_group(pid: int) -> None:
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


def is_alive(pid: int, started: str | None = None) -> bool:
    """Tell whether a process lives.

    Args:
        pid: Its id.
        started: What `start_time` said of it; a later process of the same id is another one.
    """
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # it lives, and belongs to another user
    fields = _proc_stat(pid)
    if fields is not None and fields[_STATE_FIELD] in {"Z", "X"}:
        return False
    return not started or start_time(pid) in {started, ""}


def command_line(pid: int) -> str | None:
    """Return the command line of a process.

    Returns:
        Program and arguments with spaces between; "" where there is no such process, None where
        the system does not tell.
    """
    try:
        return (
            Path(f"/proc/{pid}/cmdline")
            .read_bytes()
            .replace(b"\0", b" ")
            .decode("utf-8", "replace")
        )
    except OSError:
        pass
    # Where the system tells of us, the process is gone, or is nobody's to look at.
    if _proc_stat(os.getpid()) is not None:
        return None if is_alive(pid) else ""
    return _ps(pid, "command=")


def memory_of(pid: int) -> int | None:
    """Return how much memory a process holds, in bytes; None where the system does not tell."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        pass
    fields = (_ps(pid, "rss=") or "").split()
    return int(fields[-1]) * 1024 if fields and fields[-1].isdigit() else None


async def end(pid: int, started: str, grace: Deadline, limit: Deadline) -> bool:
    """End a process that leads a group of its own: ask it first, then end the whole group.

    Args:
        pid: Its id.
        started: What `start_time` said of it, so that no other process is meant.
        grace: Until when it may finish by itself.
        limit: When to give up.

    Returns:
        Whether it is gone.
    """
    with suppress(ProcessLookupError, PermissionError):
        if is_alive(pid, started):
            os.kill(pid, signal.SIGTERM)
    if await _gone(pid, started, grace):
        return True
    _kill_group(pid)
    return await _gone(pid, started, limit)


async def _gone(pid: int, started: str, deadline: Deadline) -> bool:
    import asyncio

    while is_alive(pid, started):
        if deadline.expired:
            return False
        await asyncio.sleep(min(_END_POLL, deadline.remaining()))
    return True


def first_program(pid: int) -> int:
    """Return the process itself, or the nearest one above it that is no shell.

    Agents start hook commands by themselves or through a shell, which may or may not stay around.

    Returns:
        Its id; ``pid`` where the system does not tell (it does on Linux). The first process of all
        is an agent alone in a container, or stands in for a parent that is gone.
    """
    seen = pid
    for _ in range(_MAX_SHELLS):
        fields = _proc_stat(seen)
        if fields is None or not _is_shell(seen):
            break
        seen = int(fields[_PARENT_FIELD])
    return seen if seen > 0 else pid


def ancestors(pid: int) -> list[int]:
    """Return a process and those above it, nearest first, as far as the system tells."""
    found: list[int] = []
    while pid > 0 and pid not in found and len(found) < _MAX_ANCESTORS:
        found.append(pid)
        fields = _proc_stat(pid)
        if fields is not None:
            pid = int(fields[_PARENT_FIELD])
        else:
            told = "" if _proc_stat(os.getpid()) is not None else (_ps(pid, "ppid=") or "").strip()
            pid = int(told) if told.isdigit() else 0
    return found


def _is_shell(pid: int) -> bool:
    try:
        name = Path(f"/proc/{pid}/comm").read_text("utf-8", "replace").strip()
    except OSError:
        return False
    return name in {"ash", "bash", "dash", "fish", "ksh", "sh", "zsh"}


def start_time(pid: int) -> str:
    """Return a text that tells a process from others that get the same id later.

    Returns:
        Clock ticks since boot on Linux, ``ps``'s start time elsewhere; "" where it is not known.
    """
    fields = _proc_stat(pid)
    if fields is not None:
        return fields[_START_FIELD]
    # Where the system tells of us, the process is gone; to ask `ps` as well takes tens of
    # milliseconds, during which an event loop stands still.
    return "" if _proc_stat(os.getpid()) is not None else _ps_start(pid)


def _proc_stat(pid: int) -> list[str] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    # The name may hold spaces and parentheses; the last one ends it.
    fields = text.rpartition(")")[2].split()
    return fields if len(fields) > _START_FIELD else None


def _ps_start(pid: int) -> str:
    return " ".join((_ps(pid, "lstart=") or "").split())


def _ps(pid: int, field: str) -> str | None:
    """Ask ``ps``; None where it cannot be asked."""
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

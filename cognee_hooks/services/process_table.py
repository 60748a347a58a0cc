"""Processes that are there, by their ids: whether one lives, who started it, how to end it.

What the system shows below ``/proc`` is looked at first, since that starts no program; elsewhere
``ps`` is asked.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from cognee_hooks.services.process import kill_group, ps

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline

_MAX_SHELLS = 4
_MAX_ANCESTORS = 40
_END_POLL = 0.05
_STATE_FIELD = 0  # in /proc/<pid>/stat, counted behind the name in parentheses
_PARENT_FIELD = 1
_START_FIELD = 19


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
    return ps(pid, "command=")


def memory_of(pid: int) -> int | None:
    """Return how much memory a process holds, in bytes; None where the system does not tell."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        pass
    fields = (ps(pid, "rss=") or "").split()
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
    kill_group(pid)
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
            told = "" if _proc_stat(os.getpid()) is not None else (ps(pid, "ppid=") or "").strip()
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
    return " ".join((ps(pid, "lstart=") or "").split())

"""The locks that all cognee plugins take before they install or start the shared server.

A lock is a file ``{"owner", "pid", "created_at"}``, ``created_at`` in epoch seconds. It is stale
when its process is gone or it is older than a time that all plugins know. Some of them see a file
that says nothing as stale, take a stale one away without looking again, and give back what is no
longer theirs; none of that is done here:

* the file comes into being complete, by a hard link, so nobody ever finds it empty;
* whoever works on writes the time anew, into the very file that they made, so that it never grows
  old in their hands, and a file that took its place is never touched;
* looking at a file and taking it away are done under a kernel lock, so two of us never both do it.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from cognee_hooks.services.filelock import KernelLock
from cognee_hooks.services.process_table import is_alive, start_time
from cognee_hooks.services.statefile import finite, make_private_folder, read_bytes

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline

TORN_AFTER = 2.0
"""Seconds for which a file that says nothing is taken for one that is being written."""
REFRESH_SECONDS = 15.0
"""How often the holder writes the time anew."""

_MAX_BYTES = 10_000


class SharedLock:
    """One of these locks.

    Args:
        path: The lock file; missing parents are made 0700.
        owner: Who we are, for people who look at the file.
        stale_after: Age in seconds above which the lock no longer counts.
        now: Epoch seconds.
    """

    def __init__(
        self,
        path: Path,
        *,
        owner: str,
        stale_after: float,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._path = path
        self._owner = owner
        self._stale_after = stale_after
        self._now = now
        self._descriptor = -1
        self._guard = KernelLock(path.with_name(f".{path.name}.guard"))

    @property
    def held(self) -> bool:
        """Whether the file in this place is the one that we made."""
        if self._descriptor < 0:
            return False
        with suppress(OSError):
            return os.path.samestat(os.fstat(self._descriptor), self._path.lstat())
        return False

    def try_acquire(self) -> bool:
        """Take the lock if it is free or stale.

        Raises:
            OSError: The lock file cannot be written.
        """
        if self._descriptor >= 0 or not self._guard.try_acquire():
            return False
        try:
            return self._cleared() and self._publish()
        finally:
            self._guard.release()

    def refresh(self) -> bool:
        """Say that we are still at work; tells whether the lock is ours still.

        Raises:
            OSError: The file cannot be written.
        """
        if self._descriptor >= 0:
            content = self._content()
            # Into our own file, wherever it is: one that took its place belongs to somebody else.
            os.pwrite(self._descriptor, content, 0)
            os.ftruncate(self._descriptor, len(content))
        return self.held

    def release(self) -> None:
        """Give the lock back; does nothing where it is not ours, or no longer."""
        if self._descriptor < 0:
            return
        try:
            # Fresh, so that nobody takes it for stale between the look and the removal.
            with suppress(OSError):
                if self.refresh():
                    self._path.unlink()
        finally:
            os.close(self._descriptor)
            self._descriptor = -1

    def _content(self) -> bytes:
        fields = {
            "owner": self._owner,
            "pid": os.getpid(),
            "created_at": round(self._now(), 3),
            "start_time": start_time(os.getpid()),
        }
        return json.dumps(fields).encode()

    def _publish(self) -> bool:
        temporary = self._path.with_name(f".{self._path.name}.{secrets.token_hex(6)}.tmp")
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(temporary, flags, 0o600)
        try:
            os.write(descriptor, self._content())
            os.link(temporary, self._path)
        except FileExistsError:  # a program that knows no guard was faster
            os.close(descriptor)
            return False
        except OSError:
            os.close(descriptor)
            raise
        finally:
            temporary.unlink(missing_ok=True)
        self._descriptor = descriptor
        return True

    def _cleared(self) -> bool:
        """Take a stale lock away; tells whether the way is free."""
        make_private_folder(self._path.parent)
        try:
            facts = self._path.lstat()
        except FileNotFoundError:
            return True
        content = read_bytes(self._path, max_bytes=_MAX_BYTES)
        if not is_stale(content, self._now(), facts.st_mtime, self._stale_after):
            return False
        with suppress(FileNotFoundError):
            again = self._path.lstat()
            # Its holder may have written the time anew, or another program have taken it over.
            if not os.path.samestat(facts, again) or facts.st_mtime_ns != again.st_mtime_ns:
                return False
            self._path.unlink()
        return True


def is_stale(content: bytes | None, now: float, modified: float, stale_after: float) -> bool:
    """Tell whether a lock no longer counts.

    Args:
        content: What the file says; None where it cannot be read.
        now: Epoch seconds.
        modified: When it was written, in epoch seconds.
        stale_after: Age in seconds above which it does not count.
    """
    try:
        fields = json.loads(content or b"")
    except (ValueError, RecursionError):
        return abs(now - modified) > TORN_AFTER
    if not isinstance(fields, dict):
        return True
    pid, created = fields.get("pid"), finite(fields.get("created_at"))
    if isinstance(pid, bool) or not isinstance(pid, int):
        return True
    if not is_alive(pid, str(fields.get("start_time") or "")):
        return True
    # A lock from the future has a holder that lives; its clock was set back.
    return now - created > stale_after


class Taken(StrEnum):
    """How waiting for a lock ended."""

    HELD = "held"
    NEEDLESS = "needless"
    """What was to be done under the lock is done."""
    TIMED_OUT = "timed out"


async def take(
    lock: SharedLock,
    deadline: Deadline,
    needless: Callable[[], Awaitable[bool]],
    poll: float,
) -> Taken:
    """Wait for a lock.

    Args:
        lock: The lock.
        deadline: When to give up; one attempt is made in any case.
        needless: Asked after each attempt that failed: whether its holder has done the work.
        poll: Seconds between two attempts.

    Raises:
        OSError: The lock file cannot be written.
    """
    while not lock.try_acquire():
        if await needless():
            return Taken.NEEDLESS
        if deadline.expired:
            return Taken.TIMED_OUT
        await asyncio.sleep(min(poll, deadline.remaining()))
    return Taken.HELD


@asynccontextmanager
async def keeping(lock: SharedLock, seconds: float = REFRESH_SECONDS) -> AsyncIterator[None]:
    """Keep a lock that is held fresh for a block, and give it back behind it."""

    async def refresh() -> None:
        while True:
            await asyncio.sleep(seconds)
            # A full disk is no reason to stop; the lock may only grow old then.
            with suppress(OSError):
                lock.refresh()

    refreshing = asyncio.ensure_future(refresh())
    try:
        yield
    finally:
        refreshing.cancel()
        await asyncio.gather(refreshing, return_exceptions=True)
        lock.release()

"""Log files that stay small, whoever writes to them, and that only their owner can read.

A log that has grown to its limit is copied to ``<name>.1`` and emptied, and what was ``.1`` before
becomes ``.2``, up to a number. The file itself stays the same one: a process that has it open, and
the one that dumps its stacks into it while it is stuck, go on writing to the log that people look
at.
"""

from __future__ import annotations

import errno
import logging
import os
import stat
from contextlib import suppress
from pathlib import Path

from cognee_hooks.deadline import Deadline
from cognee_hooks.guard import attempt
from cognee_hooks.services.filelock import KernelLock
from cognee_hooks.services.permissions import open_to_others
from cognee_hooks.services.statefile import make_private_folder, write_atomic

_LOCK_SECONDS = 0.1


class LogFile:
    """Appends to a log of bounded size. Making it touches no file.

    Args:
        path: The log, made 0600; missing parents are made 0700.
        max_bytes: Size at which it is put aside; 0 for never.
        kept: How many of those that were put aside are kept.
    """

    def __init__(self, path: Path, *, max_bytes: int, kept: int = 1) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._kept = kept

    def append(self, data: bytes) -> None:
        """Add to the log.

        Raises:
            OSError: It cannot be written, or what lies there is no regular file.
        """
        make_private_folder(self._path.parent)
        lock = KernelLock(self._path.with_name(f".{self._path.name}.lock"))
        # Who was stopped while holding it must not keep us; the log is then put aside later.
        locked = lock.acquire(Deadline.after(_LOCK_SECONDS))
        try:
            descriptor = self._open()
            try:
                if locked:
                    self._make_room(descriptor, len(data))
                os.write(descriptor, data)
            finally:
                os.close(descriptor)
        finally:
            lock.release()

    def bound(self) -> None:
        """Put the log aside if it is too long, for a program that appends by itself.

        Raises:
            OSError: It cannot be looked at or put aside.
        """
        if self._path.exists():
            self.append(b"")

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        descriptor = os.open(self._path, flags, 0o600)
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            os.close(descriptor)
            raise OSError(errno.EINVAL, "no regular file", str(self._path))
        if open_to_others(facts.st_mode):
            with suppress(OSError):  # somebody else's
                os.fchmod(descriptor, 0o600)
        return descriptor

    def _make_room(self, descriptor: int, more: int) -> None:
        size = os.fstat(descriptor).st_size
        if not self._max_bytes or not size or size + more <= self._max_bytes:
            return
        for number in range(self._kept, 1, -1):
            with suppress(FileNotFoundError):
                self._older(number - 1).replace(self._older(number))
        if self._kept:
            content = os.pread(descriptor, self._max_bytes, max(0, size - self._max_bytes))
            write_atomic(self._older(1), content, durable=False)
        os.ftruncate(descriptor, 0)

    def _older(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")


class LogHandler(logging.Handler):
    """Writes log records to a `LogFile`; a record that cannot be written costs nothing but itself.

    Args:
        file: The log.
    """

    def __init__(self, file: LogFile) -> None:
        super().__init__()
        self._file = file
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        # Its arguments may be a plugin's, and do anything when they are put into words.
        attempt(self._write, record)

    def _write(self, record: logging.LogRecord) -> None:
        self._file.append(f"{self.format(record)}\n".encode(errors="backslashreplace"))


def read_end(path: Path | str, limit: int, *, follow: bool = False) -> bytes:
    """Return the end of a file that may be long; nothing where none can be read.

    Args:
        path: The file.
        limit: Bytes at most.
        follow: Whether a symbolic link in its place is followed.
    """
    # Without O_NONBLOCK a named pipe in the place of the file would hold us for ever.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError):
        return b""
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            return b""
        return os.pread(descriptor, limit, max(0, facts.st_size - limit))
    except OSError:
        return b""
    finally:
        os.close(descriptor)

"""Locks between processes that the kernel gives back when their holder dies."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from cognee_hooks.services.lock import Lock
from cognee_hooks.services.statefile import make_private_folder

_POLL_SECONDS = 0.001


class KernelLock(Lock):
    """An exclusive ``flock`` on a file, for programs that all take it.

    Unlike a `cognee_hooks.services.statefile.LockFile` it says nothing about its holder and is
    never stale. Two objects exclude each other within one process as well.

    Args:
        path: The lock file, made 0600 where it is missing; missing parents are made 0700.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, _POLL_SECONDS)
        self._descriptor = -1

    @property
    def held(self) -> bool:
        """Whether we hold it."""
        return self._descriptor >= 0

    def try_acquire(self) -> bool:
        """Take the lock if it is free; False also where this object holds it already.

        Raises:
            OSError: The file cannot be opened, or is a symbolic link.
        """
        if self.held:
            return False
        make_private_folder(self._path.parent)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        descriptor = os.open(self._path, flags, 0o600)
        if self._locked(descriptor):
            self._descriptor = descriptor
            return True
        os.close(descriptor)
        return False

    def release(self) -> None:
        """Give the lock back; does nothing where we do not hold it."""
        if self.held:
            os.close(self._descriptor)
            self._descriptor = -1

    def remove(self) -> None:
        """Remove the file of a lock that we hold, and give the lock back."""
        if self.held:
            with suppress(OSError):
                self._path.unlink()
        self.release()

    def _locked(self, descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        # Whoever held it may have removed the file; then the next one locks another file.
        with suppress(OSError):
            return os.path.samestat(os.fstat(descriptor), self._path.stat())
        return False

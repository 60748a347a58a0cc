"""What all locks between processes have in common: waiting for one, and holding it for a block."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cognee_hooks.deadline import Deadline


class Lock(ABC):
    """A lock on a path.

    Args:
        path: The lock file.
        poll_seconds: Pause between two attempts to take it.
    """

    def __init__(self, path: Path, poll_seconds: float) -> None:
        self._path = path
        self._poll_seconds = poll_seconds

    @abstractmethod
    def try_acquire(self) -> bool:
        """Take the lock if that is possible now."""

    @abstractmethod
    def release(self) -> None:
        """Give the lock back; does nothing where we do not hold it."""

    def acquire(self, deadline: Deadline) -> bool:
        """Take the lock, waiting in this thread until the deadline at most.

        Returns:
            Whether we hold it now. One attempt is made even when the deadline has passed.

        Raises:
            OSError: The lock file cannot be opened or written.
        """
        while not self.try_acquire():
            if deadline.expired:
                return False
            time.sleep(min(self._poll_seconds, deadline.remaining()))
        return True

    @contextmanager
    def holding(self, deadline: Deadline) -> Iterator[None]:
        """Hold the lock for a block.

        Raises:
            TimeoutError: Somebody else holds it until the deadline.
            OSError: The lock file cannot be opened or written.
        """
        if not self.acquire(deadline):
            raise TimeoutError(f"{self._path.name} is held by another process")
        try:
            yield
        finally:
            self.release()

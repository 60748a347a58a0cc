"""Entries that cannot be written for a moment: the disk is full, or another process holds a lock.

They wait in memory, and nothing that is captured later may pass them, or what the server gets would
be out of order. All of them go to the disk first and to the server from there, as every entry does.
"""

from __future__ import annotations

import asyncio
import errno
from collections import deque
from collections.abc import Callable

from cognee_hooks.results import StoreRequest

FIRST_PAUSE = 0.1
"""Seconds after which writing is tried again; the pause doubles."""
LONGEST_PAUSE = 5.0

_PASSING = frozenset(
    {
        errno.EAGAIN,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EIO,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.ENOSPC,
    }
)


class Late:
    """The entries of one host that are not on disk yet, in order.

    Args:
        write: Writes an entry to the disk.
        dropped: Told how many entries were given up.
        limit: How many are kept.
    """

    def __init__(
        self,
        write: Callable[[StoreRequest], object],
        dropped: Callable[[int], None],
        limit: int,
    ) -> None:
        self._write = write
        self._dropped = dropped
        self._limit = limit
        self._queue: deque[StoreRequest] = deque()

    def __len__(self) -> int:
        """Return how many entries wait."""
        return len(self._queue)

    def add(self, request: StoreRequest) -> None:
        """Keep an entry; beyond the limit the oldest goes."""
        self._queue.append(request)
        if len(self._queue) > self._limit:
            self._queue.popleft()
            self._dropped(1)

    def write(self) -> bool:
        """Write what can be written, oldest first; tells whether nothing waits any more."""
        while self._queue:
            try:
                self._write(self._queue[0])
            except OSError:
                return False
            except (ValueError, TypeError, RecursionError):
                self._dropped(1)
            self._queue.popleft()
        return True

    async def until_written(self) -> None:
        """Try again, less and less often, until everything is written."""
        pause = FIRST_PAUSE
        while self._queue:
            await asyncio.sleep(pause)
            before = len(self._queue)
            self.write()
            pause = FIRST_PAUSE if len(self._queue) < before else min(pause * 2, LONGEST_PAUSE)


def passes(error: Exception) -> bool:
    """Tell whether what is in the way is likely to be gone soon."""
    held = isinstance(error, TimeoutError)
    return held or (isinstance(error, OSError) and error.errno in _PASSING)

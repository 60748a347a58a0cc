"""Notices when an agent's process ends, which many ends of a session are the only sign of."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable

from cognee_hooks.services.process_table import is_alive, start_time

POLL_SECONDS = 5.0
"""How often to look where the system cannot tell by itself."""


class ProcessWatch:
    """Calls back once when a process has ended.

    Linux tells by itself, so waiting costs nothing; elsewhere the watch looks every few seconds.
    A process is told from a later one of the same id by its start time.

    Args:
        pid: The process.
        ended: Called from the event loop, at most once, and never after `stop`.
    """

    def __init__(self, pid: int, ended: Callable[[], None]) -> None:
        self.pid = pid
        self._started = start_time(pid)
        self._ended = ended
        self._descriptor = -1
        self._timer: asyncio.Handle | None = None
        self._loop = asyncio.get_running_loop()
        if not self._watch_descriptor():
            # Not now: the callback may need the watch that is just being made.
            self._timer = self._loop.call_soon(self._poll)

    def is_of(self, pid: int) -> bool:
        """Tell whether it watches this process, and not an earlier one of the same id."""
        return pid == self.pid and start_time(pid) == self._started

    def stop(self) -> None:
        """Watch no longer."""
        if self._timer is not None:
            self._timer.cancel()
        self._close()

    def _watch_descriptor(self) -> bool:
        if sys.platform != "linux":
            return False
        try:
            self._descriptor = os.pidfd_open(self.pid)
            self._loop.add_reader(self._descriptor, self._end)
        except (OSError, OverflowError):  # it is gone, the kernel is old, or a sandbox forbids it
            self._close()
            return False
        return True

    def _close(self) -> None:
        if self._descriptor >= 0:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def _poll(self) -> None:
        if is_alive(self.pid, self._started):
            self._timer = self._loop.call_later(POLL_SECONDS, self._poll)
        else:
            self._end()

    def _end(self) -> None:
        self.stop()
        self._ended()

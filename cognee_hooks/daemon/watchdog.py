"""Ends a daemon whose event loop stands still, so that the next one can take its place.

A plugin that blocks the loop blocks the sessions of every agent. Events that come meanwhile go to
the spool, and those that were taken are in the journal, so ending the process loses nothing.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable

from cognee_hooks.deadline import Clock

STALL_SECONDS = 10.0
"""How long the loop may stand still."""
_WATCHED_SECONDS = 15.0
_BEAT_SECONDS = 1.0
_LOG = logging.getLogger(__name__)


class Watchdog:
    """Watches an event loop from a thread of its own, while there is something to do.

    Args:
        stalled: Called on the watchdog's thread when the loop stands still; should not return.
        seconds: How long the loop may stand still.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        stalled: Callable[[], None],
        *,
        seconds: float = STALL_SECONDS,
        clock: Clock = time.monotonic,
    ) -> None:
        self._stalled = stalled
        self._seconds = seconds
        self._clock = clock
        self._until = 0.0
        self._beat = clock()
        self._work = threading.Event()
        self._stop = False

    def start(self) -> None:
        """Watch the loop that runs now."""
        loop = asyncio.get_running_loop()
        threading.Thread(
            target=self._watch,
            args=(loop, threading.get_ident()),
            name="cognee-hooks watchdog",
            daemon=True,
        ).start()

    def stop(self) -> None:
        """Watch no longer."""
        self._stop = True
        self._work.set()

    def expect(self) -> None:
        """Note that the loop has something to do, and should be watched for a while.

        An idle loop is not watched: that would wake the process every second for nothing.
        """
        self._until = self._clock() + _WATCHED_SECONDS + self._seconds
        self._work.set()

    def _watch(self, loop: asyncio.AbstractEventLoop, thread: int) -> None:
        while True:
            self._work.wait()
            self._beat = self._clock()
            while not self._stop and self._clock() < self._until:
                if not self._ask(loop):
                    return
                time.sleep(min(_BEAT_SECONDS, self._seconds / 4))
                if self._clock() - self._beat > self._seconds:
                    _LOG.error(
                        "the event loop stood still for %g s:\n%s", self._seconds, _stack(thread)
                    )
                    self._stalled()
                    return
            if self._stop:
                return
            self._work.clear()

    def _ask(self, loop: asyncio.AbstractEventLoop) -> bool:
        try:
            loop.call_soon_threadsafe(self._answer)
        except RuntimeError:  # the loop is closed
            return False
        return True

    def _answer(self) -> None:
        self._beat = self._clock()


def _stack(thread: int) -> str:
    """Return where a thread is; names of files and functions only, no values."""
    frame = sys._current_frames().get(thread)  # noqa: SLF001 - the documented way to see a thread
    return "\n".join(
        f"  {each.filename}:{each.lineno} in {each.name}" for each in traceback.extract_stack(frame)
    )

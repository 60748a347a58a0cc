"""Ends a daemon whose event loop stands still, so that the next one can take its place.

A plugin that blocks the loop blocks the sessions of every agent. Events that come meanwhile go to
the spool, and those that were taken are in the journal, so ending the process loses nothing.

A thread sees a loop that waits, or computes in Python. It does not get to run while something
holds the interpreter's lock, as the regular expressions of the standard library do; that is what
the timer of `faulthandler` is for, which needs no lock.
"""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from cognee_hooks.deadline import Clock

STALL_SECONDS = 10.0
"""How long the loop may stand still."""
REST_SECONDS = 60.0
"""How often to look after a loop that nobody expects anything of; plugins have timers."""
_WATCHED_SECONDS = 15.0
_BEAT_SECONDS = 1.0
_LOG = logging.getLogger(__name__)


class Watchdog:
    """Watches an event loop from a thread of its own, closely while there is something to do.

    Args:
        stalled: Called on the watchdog's thread when the loop stands still; should not return.
        seconds: How long the loop may stand still.
        rest_seconds: How often to look after a loop that is idle.
        trace: A process in which not even this thread could run for twice as long is ended, after
            the stacks of its threads were added to this file; None leaves such a process alone.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        stalled: Callable[[], None],
        *,
        seconds: float = STALL_SECONDS,
        rest_seconds: float = REST_SECONDS,
        trace: Path | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self._stalled = stalled
        self._seconds = seconds
        self._rest_seconds = rest_seconds
        self._trace = trace
        self._clock = clock
        self._until = 0.0
        self._answered = False
        self._work = threading.Event()
        self._over = threading.Event()

    def start(self) -> None:
        """Watch the loop that runs now.

        Raises:
            OSError: The file for stacks cannot be opened.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = None if self._trace is None else os.open(self._trace, flags, 0o600)
        threading.Thread(
            target=self._watch,
            args=(asyncio.get_running_loop(), threading.get_ident(), descriptor),
            name="cognee-hooks watchdog",
            daemon=True,
        ).start()

    def stop(self) -> None:
        """Watch no longer."""
        self._over.set()
        self._work.set()

    def expect(self) -> None:
        """Note that the loop has something to do, and should be watched closely for a while.

        An idle loop is not: that would wake the process every second for nothing.
        """
        self._until = self._clock() + _WATCHED_SECONDS + self._seconds
        self._work.set()

    def _watch(self, loop: asyncio.AbstractEventLoop, thread: int, trace: int | None) -> None:
        try:
            if not self._until_stalled(loop, trace):
                return
        finally:
            if trace is not None:
                faulthandler.cancel_dump_traceback_later()
                os.close(trace)
        _LOG.error("the event loop stood still for %g s:\n%s", self._seconds, _stack(thread))
        self._stalled()

    def _until_stalled(self, loop: asyncio.AbstractEventLoop, trace: int | None) -> bool:
        """Wait until the loop stands still; tells whether it does, or need not be watched."""
        pause = min(_BEAT_SECONDS, self._seconds / 4)
        # Counted in pauses of our own, or a process that was stopped as a whole would count too.
        silent = 0
        while silent * pause < self._seconds:
            self._answered = False
            try:
                loop.call_soon_threadsafe(self._answer)
            except RuntimeError:  # the loop is closed
                return False
            self._wait(self._over, pause, trace)
            silent = 0 if self._answered else silent + 1
            self._work.clear()
            if self._over.is_set():
                return False
            if not silent and self._clock() >= self._until:
                self._wait(self._work, self._rest_seconds, trace)
        return True

    def _wait(self, event: threading.Event, seconds: float, trace: int | None) -> None:
        if trace is not None:
            limit = seconds + 2 * self._seconds
            faulthandler.dump_traceback_later(limit, exit=True, file=trace)
        event.wait(seconds)

    def _answer(self) -> None:
        self._answered = True


def _stack(thread: int) -> str:
    """Return where a thread is; names of files and functions only, no values."""
    frame = sys._current_frames().get(thread)  # noqa: SLF001 - the documented way to see a thread
    return "\n".join(
        f"  {each.filename}:{each.lineno} in {each.name}" for each in traceback.extract_stack(frame)
    )

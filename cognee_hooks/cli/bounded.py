"""Runs a coroutine under a hard limit that holds whatever a plugin does.

The event loop lives on a daemon thread. A plugin that blocks the loop, or swallows its
cancellation, can then be left behind: the main thread answers the agent in time and ends the
process.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from cognee_hooks.deadline import Deadline


class Answer:
    """What goes to standard output: given once, written once.

    Args:
        empty: What is written when nobody gave an answer in time.
    """

    def __init__(self, empty: str) -> None:
        self._empty = empty
        self._lock = threading.Lock()
        self._written = False

    def give(self, text: str) -> None:
        """Write the answer, unless one is written already."""
        with self._lock:
            if self._written:
                return
            self._written = True
            if text:
                sys.stdout.write(text)
            sys.stdout.flush()

    def settle(self) -> None:
        """Write the empty answer, unless one is written already."""
        self.give(self._empty)


def run_bounded(
    work: Callable[[], Coroutine[Any, Any, None]], answer: Answer, deadline: Deadline
) -> None:
    """Run ``work`` until it ends or the deadline comes.

    Args:
        work: Makes the coroutine, which gives the answer as soon as it has it.
        answer: The answer.
        deadline: When the process has to be done.
    """
    thread = threading.Thread(target=lambda: asyncio.run(work()), daemon=True)
    thread.start()
    thread.join(deadline.remaining())
    answer.settle()


def leave(code: int) -> None:
    """End the process at once; threads that hang would keep a normal exit waiting."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)

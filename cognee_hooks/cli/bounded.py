"""Runs work under a hard limit that holds whatever a plugin does, and answers exactly once.

The work lives on threads of its own. A plugin that blocks the event loop, swallows its cancellation
or hangs while it is imported can then be left behind: the main thread answers the agent in time and
ends the process.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from cognee_hooks.deadline import Deadline

T = TypeVar("T")

_STDOUT = 1
_STDERR = 2


class PrintedAnswer:
    """What goes to standard output: given once, written once.

    Args:
        empty: What is written when nobody gave an answer in time.
        descriptor: Where to write.
    """

    def __init__(self, empty: str, descriptor: int) -> None:
        self._empty = empty
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._written = False

    def give(self, text: str) -> None:
        """Write the answer, unless one is written already or nobody listens any more."""
        with self._lock:
            if self._written:
                return
            self._written = True
            data = text.encode()
            with suppress(OSError):
                while data:
                    data = data[os.write(self._descriptor, data) :]

    def settle(self) -> None:
        """Write the empty answer, unless one is written already."""
        self.give(self._empty)


def take_stdout() -> int:
    """Return a descriptor of standard output of which nobody else knows.

    An agent takes everything on standard output for the answer, so what plugins, and programs that
    they start, print there goes to standard error from now on.
    """
    if sys.stdout is None:  # closed by the agent
        return os.open(os.devnull, os.O_WRONLY)
    sys.stdout.flush()
    own = os.dup(_STDOUT)
    other = _STDERR if sys.stderr is not None else os.open(os.devnull, os.O_WRONLY)
    os.dup2(other, _STDOUT)
    return own


def call_bounded(work: Callable[[], T], deadline: Deadline) -> T:
    """Return what ``work`` returns.

    Raises:
        TimeoutError: It takes longer; it goes on until the process ends (see `leave`).
    """
    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(work).result(deadline.remaining())
    finally:
        pool.shutdown(wait=False)


def run_bounded(
    work: Callable[[], Coroutine[Any, Any, None]], answer: PrintedAnswer, deadline: Deadline
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
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.flush()
    os._exit(code)

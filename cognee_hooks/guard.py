"""The one place where exceptions of foreign code are caught.

Plugins, redactors of third parties and packages that fail on import all run through the functions
here, which turn whatever is raised into a value. The caller counts it as a fault and goes on.

Blocking code cannot be interrupted, but it can be left behind: `Worker` runs it on a daemon thread
that the caller waits for as long as it wants and that never keeps the process alive.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a call came to: a result, or the exception that it raised.

    Handed over as a value because a future refuses some exceptions (``StopIteration``) and an event
    loop ends on others (``SystemExit``).
    """

    result: Any = None
    error: BaseException | None = None


def attempt(function: Callable[..., Any], *arguments: Any) -> Attempt:
    """Call ``function`` and return what it came to, whatever it raises."""
    try:
        return Attempt(result=function(*arguments))
    except BaseException as error:  # noqa: BLE001 - foreign code may raise anything at all
        return Attempt(error=error)


async def attempt_await(awaitable: Awaitable[Any]) -> Attempt:
    """Await ``awaitable`` and return what it came to; only our own cancellation and Ctrl-C pass.

    Raises:
        asyncio.CancelledError: The current task is being cancelled, as opposed to foreign code that
            raises this exception by itself.
        KeyboardInterrupt: The user wants to end the program.
    """
    try:
        return Attempt(result=await awaitable)
    except KeyboardInterrupt:
        raise
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return Attempt(error=error)
    except BaseException as error:  # noqa: BLE001 - SystemExit of a plugin must not end the agent
        return Attempt(error=error)


class Worker:
    """Runs calls one after the other on a daemon thread that starts with the first of them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: queue.SimpleQueue[tuple[Future[Attempt], Callable[[], Attempt]] | None]
        self._calls = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Attempt]:
        """Queue a call and return its future; the future never holds an exception."""
        future: Future[Attempt] = Future()
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name=f"cognee-hooks {self._name}", daemon=True
                )
                self._thread.start()
        self._calls.put((future, lambda: attempt(function, *arguments)))
        return future

    def stop(self) -> None:
        """Let the thread end after the calls that are queued; never waits for it."""
        if self._thread is not None:
            self._calls.put(None)

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            future, function = call
            if future.set_running_or_notify_cancel():
                future.set_result(function())

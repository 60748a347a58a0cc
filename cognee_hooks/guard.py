"""The one place where exceptions of foreign code are caught.

Plugins, redactors of third parties and packages that fail on import all run through the functions
here, which turn whatever is raised into a value. The caller counts it as a fault and goes on.

Blocking code cannot be interrupted, but it can be left behind: `Worker` runs it on a daemon thread
that the caller waits for as long as it wants and that never keeps the process alive.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
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
        self._lock = threading.Lock()
        self._calls: queue.SimpleQueue[_Call | None] | None = None

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Attempt]:
        """Queue a call and return its future; the future never holds an exception.

        The call sees the context variables of whoever submits it.
        """
        future: Future[Attempt] = Future()
        context = contextvars.copy_context()
        try:
            calls = self._started()
        except RuntimeError as error:
            # The system may refuse another thread, and always does while the interpreter ends.
            future.set_result(Attempt(error=error))
        else:
            calls.put((future, partial(context.run, attempt, function, *arguments)))
        return future

    def stop(self) -> None:
        """Let the thread end after the calls that are queued; never waits for it."""
        with self._lock:
            calls, self._calls = self._calls, None
        if calls is not None:
            calls.put(None)

    def _started(self) -> queue.SimpleQueue[_Call | None]:
        with self._lock:
            if self._calls is None:
                calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
                threading.Thread(
                    target=_work, args=(calls,), name=f"cognee-hooks {self._name}", daemon=True
                ).start()
                self._calls = calls
            return self._calls


async def attempt_apart(name: str, function: Callable[[], Any]) -> Attempt:
    """Call ``function`` on a daemon thread of its own and return what it came to.

    Whoever stops waiting leaves the thread behind, which never keeps the process alive.
    """
    worker = Worker(name)
    future = worker.submit(function)
    worker.stop()
    return await asyncio.wrap_future(future)


_Call = tuple[Future[Attempt], Callable[[], Attempt]]


def _work(calls: queue.SimpleQueue[_Call | None]) -> None:
    while (call := calls.get()) is not None:
        future, function = call
        if future.set_running_or_notify_cancel():
            future.set_result(function())

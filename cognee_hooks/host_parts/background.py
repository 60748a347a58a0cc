"""Work that goes on while the agent does not wait."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from cognee_hooks.deadline import Deadline
from cognee_hooks.dispatch import GRACE
from cognee_hooks.faults import Faults, innermost
from cognee_hooks.guard import attempt_await

CORE = "core"
"""Owner of the host's own tasks, such as watching the server."""
HOOKS = "hooks"
"""Owner of hook calls that nobody waits for; they have a budget, and a closing host waits."""


class Background:
    """The background tasks of one host.

    A task belongs to a plugin; what it raises counts as a fault of that plugin. Tasks are waited
    for when the host closes, up to its deadline; those that last, such as timers, are not.
    Whoever can keep a host of an ended session does so while a task outlasts it.
    """

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._lasting: set[asyncio.Task[None]] = set()
        self._outlasting: set[asyncio.Task[None]] = set()
        self._closing = False

    @property
    def attached(self) -> bool:
        """Whether there is an event loop to run on: the host was started."""
        return self._loop is not None

    def attach(self) -> None:
        """Run all work on the event loop that runs now."""
        self._loop = asyncio.get_running_loop()

    @property
    def outlasts(self) -> bool:
        """Whether there is a task for which a host is kept after the end of its session."""
        return bool(self._outlasting)

    def spawn(
        self,
        owner: str,
        work: Coroutine[Any, Any, Any],
        *,
        lasting: bool = False,
        outlasting: bool = False,
    ) -> None:
        """Start work, from the event loop or from a plugin's own thread.

        Once the host is closing, the work is refused and closed unrun.

        Args:
            owner: The plugin.
            work: What to do.
            lasting: It goes on for as long as the host lives, so nobody waits for it.
            outlasting: Nobody waits for it either, and a host is kept for it where it can be.

        Raises:
            TypeError: It is no coroutine.
            RuntimeError: No event loop is known that could run it.
        """
        if not asyncio.iscoroutine(work):
            raise TypeError(f"background work must be a coroutine, not {type(work).__name__}")
        here = _running_loop()
        loop = self._loop = self._loop or here
        if self._closing or loop is None or loop.is_closed():
            work.close()
            if not self._closing:
                raise RuntimeError("background work needs the event loop of a started host")
        elif loop is here:
            self._start(owner, work, lasting, outlasting)
        else:
            loop.call_soon_threadsafe(self._start, owner, work, lasting, outlasting)

    async def settle(self, deadline: Deadline) -> bool:
        """Wait for the tasks, and for those that they start; tells whether all ended.

        Those that last, or outlast the session, go on until ``close``.
        """
        while pending := self._tasks - self._lasting - self._outlasting:
            if deadline.expired:
                return False
            await asyncio.wait(pending, timeout=deadline.remaining())
        return True

    async def close(self) -> int:
        """Cancel what still runs and return how many tasks would not end."""
        self._closing = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=GRACE)
        return len(self._tasks)

    def _start(
        self, owner: str, work: Coroutine[Any, Any, Any], lasting: bool, outlasting: bool
    ) -> None:
        if self._closing:
            work.close()
            return
        task = asyncio.create_task(self._run(owner, work), name=owner)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        for kind, wanted in ((self._lasting, lasting), (self._outlasting, outlasting)):
            if wanted:
                kind.add(task)
                task.add_done_callback(kind.discard)
        # A task that is cancelled before its first step never gets to what it was to await.
        task.add_done_callback(lambda _: work.close())

    async def _run(self, owner: str, work: Coroutine[Any, Any, Any]) -> None:
        done = await attempt_await(work)
        if done.error is not None:
            where = innermost(done.error.__traceback__)
            self._faults.record(owner, "background", type(done.error).__name__, where)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None

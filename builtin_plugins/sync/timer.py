"""One timer that is set and called off as turns come and go."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol


class Spawn(Protocol):
    """Starts background work of the session."""

    def __call__(self, work: Coroutine[Any, Any, None], *, lasting: bool) -> None:
        """See `cognee_hooks.PluginContext.spawn`."""
        ...


class Timer:
    """Calls something after a while, unless it is called off before.

    Args:
        spawn: Starts background work; the timer ends with the session.
    """

    def __init__(self, spawn: Spawn) -> None:
        self._spawn = spawn
        self._called_off: asyncio.Event | None = None

    @property
    def armed(self) -> bool:
        """Whether something is going to be called."""
        return self._called_off is not None

    def arm(self, seconds: float, action: Callable[[], Awaitable[None]]) -> None:
        """Call ``action`` after ``seconds``, in the place of what the timer was set to before."""
        self.disarm()
        called_off = self._called_off = asyncio.Event()
        self._spawn(self._wait(seconds, action, called_off), lasting=True)

    def disarm(self) -> None:
        """Call it off; does nothing where it is not set, or already at it."""
        if self._called_off is not None:
            self._called_off.set()
            self._called_off = None

    async def _wait(
        self, seconds: float, action: Callable[[], Awaitable[None]], called_off: asyncio.Event
    ) -> None:
        try:
            async with asyncio.timeout(seconds):
                await called_off.wait()
        except TimeoutError:
            # Both can be true at once, and then the later word counts.
            if self._called_off is called_off:
                self._called_off = None
                await action()

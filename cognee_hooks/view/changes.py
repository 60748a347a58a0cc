"""Tells pages that something has changed, by a number that grows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

EVERY_SECONDS = 1.0
"""How often to look, while a page listens."""
MAX_LISTENERS = 5
"""A browser has six connections to a server; one has to be left for what it asks for."""


class Changes:
    """Looks for changes while somebody listens.

    Args:
        look: Returns facts that differ from those before where something changed; called in a
            worker thread.
        every: Seconds between two looks.
    """

    def __init__(self, look: Callable[[], object], *, every: float = EVERY_SECONDS) -> None:
        self._look = look
        self._every = every
        self._facts: object = None
        self._revision = 0
        self._changed = asyncio.Event()
        self._closed = False
        self._listeners = 0
        self._watching: asyncio.Task[None] | None = None

    @property
    def full(self) -> bool:
        """Whether as many listen as may."""
        return self._listeners >= MAX_LISTENERS

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Look for changes as long as this lasts."""
        self._listeners += 1
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            self._listeners -= 1
            if not self._listeners:
                self._watching.cancel()
                self._watching = None

    async def revisions(self, pause: float) -> AsyncIterator[int | None]:
        """Yield the revision, and again whenever it has changed, until `close`.

        Args:
            pause: Seconds without a change after which None is yielded instead.
        """
        told = -1
        while not self._closed:
            if told != self._revision:
                told = self._revision
                yield told
                continue
            try:
                async with asyncio.timeout(pause):
                    await self._changed.wait()
            except TimeoutError:
                yield None

    def close(self) -> None:
        """End what is yielded to listeners."""
        self._closed = True
        self._changed.set()

    async def _watch(self) -> None:
        while True:
            facts = await asyncio.to_thread(self._look)
            if self._facts is not None and facts != self._facts:
                self._revision += 1
                # Whoever waits now is told; who comes later waits for the next one.
                changed, self._changed = self._changed, asyncio.Event()
                changed.set()
            self._facts = facts
            await asyncio.sleep(self._every)

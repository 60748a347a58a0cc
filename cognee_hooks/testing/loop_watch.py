"""Finds code that holds an event loop up."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from types import FrameType, TracebackType
from typing import Any, Self

HEARTBEAT = 0.01
HELD_UP = 0.2
"""Seconds without a heartbeat after which the event loop counts as held up."""


class LoopWatch:
    """Looks from another thread at what a loop that does not go on is doing.

    Args:
        run: Runs a coroutine on the loop, from this thread.
        files: Files whose code is looked for; all else may take its time.

    Attributes:
        blocked: Places in those files, as ``file.py:line``, each once.
    """

    def __init__(
        self, run: Callable[[Coroutine[Any, Any, Any]], Any], files: frozenset[str]
    ) -> None:
        self.blocked: list[str] = []
        self._run = run
        self._files = files
        self._beat = time.monotonic()
        self._ident = 0
        self._heart: asyncio.Task[None] | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="loop watch", daemon=True)

    def __enter__(self) -> Self:
        self._heart = self._run(self._begin())
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()
        self._run(self._end())

    async def _begin(self) -> asyncio.Task[None]:
        self._ident = threading.get_ident()
        self._beat = time.monotonic()
        return asyncio.create_task(self._go_on(), name="heartbeat")

    async def _go_on(self) -> None:
        while True:
            self._beat = time.monotonic()
            await asyncio.sleep(HEARTBEAT)

    async def _end(self) -> None:
        if self._heart is not None:
            self._heart.cancel()
            await asyncio.wait({self._heart})

    def _watch(self) -> None:
        while not self._over.wait(HEARTBEAT):
            if time.monotonic() - self._beat > HELD_UP:
                place = self._place(sys._current_frames().get(self._ident))  # noqa: SLF001 - the only way
                if place and place not in self.blocked:
                    self.blocked.append(place)

    def _place(self, frame: FrameType | None) -> str:
        """Return where in the files a thread is, "" for elsewhere."""
        while frame is not None:
            if frame.f_code.co_filename in self._files:
                name = frame.f_code.co_filename.rsplit("/", 1)[-1]
                return f"{name}:{frame.f_lineno}"
            frame = frame.f_back
        return ""

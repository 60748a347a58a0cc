"""What is captured and not yet at the server: the core's own queue, and what plugins keep."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from cognee_hooks.deadline import Clock, Deadline
from cognee_hooks.host_parts.background import CORE, Background

if TYPE_CHECKING:
    from cognee_hooks.host_parts.writer import DirectWriter
    from cognee_hooks.results import StoreReceipt, StoreRequest
    from cognee_hooks.services.health import HealthMonitor

DRAIN_SECONDS = 20.0
"""Longest that one background attempt to empty the queue goes on."""
PROGRESS_SECONDS = 1.0
"""So long it is waited for a plugin to send the next of the entries that it keeps."""


class Outbox:
    """Entries of one session on their way.

    Args:
        writer: The core's own queue, for entries that no plugin takes charge of.
        health: Says whether sending makes sense.
        background: Runs what nobody waits for.
        clock: Monotonic seconds.
    """

    def __init__(
        self, writer: DirectWriter, health: HealthMonitor, background: Background, clock: Clock
    ) -> None:
        self._writer = writer
        self._health = health
        self._background = background
        self._clock = clock
        self._reported: dict[str, tuple[int, int]] = {}
        self._changed = asyncio.Event()

    @property
    def queued(self) -> int:
        """Entries in the core's own queue."""
        return self._writer.waiting

    @property
    def waiting(self) -> int:
        """All entries that are not yet at the server."""
        return self.queued + sum(count for count, _ in self._reported.values())

    @property
    def volatile(self) -> int:
        """Entries of these that are not on disk, so that they end with this process."""
        return self.queued + sum(volatile for _, volatile in self._reported.values())

    def report(self, plugin: str, count: int, *, volatile: int) -> None:
        """Learn how many entries a plugin keeps; see `PluginContext.report_waiting`."""
        self._reported[plugin] = max(count, 0), max(volatile, 0)
        self._changed.set()

    def accept(self, request: StoreRequest) -> StoreReceipt:
        """Queue an entry that no plugin took, and have it sent."""
        receipt = self._writer.accept(request)
        self.drain_soon()
        return receipt

    def drain_soon(self) -> None:
        """Send the queue in the background, unless that goes on already or cannot succeed."""
        if not self._writer.sending and self._health.state != "offline":
            limit = Deadline.after(DRAIN_SECONDS, self._clock)
            self._background.spawn(CORE, self._writer.drain(limit), lasting=True)

    async def drain(self, deadline: Deadline) -> None:
        """Send the core's own queue."""
        await self._writer.drain(deadline)

    async def flush(self, deadline: Deadline) -> None:
        """Send the core's own queue, and wait while plugins send what they keep."""
        if self.queued:
            await self.drain(deadline)
        while self.waiting > self.queued and self._health.state in {"ok", "unknown"}:
            self._changed.clear()
            try:
                async with asyncio.timeout(deadline.within(PROGRESS_SECONDS).remaining()):
                    await self._changed.wait()
            except TimeoutError:
                return

    def abandon(self) -> int:
        """Give up what the core still has; returns how many entries are gone, plugins' included."""
        return self._writer.abandon() + self.volatile

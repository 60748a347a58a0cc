"""The core's own way of getting captured entries to the server.

Used when no plugin takes charge of an entry. It sends in the order of capture and keeps what it
cannot send in memory, for the life of the host.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from cognee_hooks.deadline import Clock, Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.faults import DropReason
from cognee_hooks.results import StoreReceipt, StoreRequest, StoreState

if TYPE_CHECKING:
    from cognee_hooks.services.client import CogneeClient
    from cognee_hooks.services.health import HealthMonitor


class DirectWriter:
    """Sends entries one after the other, oldest first.

    An entry whose write failed ambiguously (the server may have stored it) is not sent again: twice
    in memory is worse than the small chance of never. One that was surely not stored stays at the
    head of the queue until the server is back.

    Args:
        client: The server.
        health: Told how writes go, and asked whether sending makes sense.
        drop: Counts an entry that is given up.
        request_seconds: Budget of one write; the server may take longer and still store the entry.
        limit: Entries kept while the server is away; beyond it the oldest is dropped.
        clock: Monotonic seconds.
        sent: Told of each entry that the server has taken.
    """

    def __init__(
        self,
        client: CogneeClient,
        health: HealthMonitor,
        drop: Callable[[DropReason], None],
        *,
        request_seconds: float,
        limit: int,
        clock: Clock,
        sent: Callable[[StoreRequest], None] = lambda _: None,
    ) -> None:
        self._client = client
        self._health = health
        self._drop = drop
        self._request_seconds = request_seconds
        self._limit = limit
        self._clock = clock
        self._sent = sent
        self._queue: deque[StoreRequest] = deque()
        self._sending = asyncio.Lock()

    @property
    def waiting(self) -> int:
        """Entries that are not at the server yet."""
        return len(self._queue)

    @property
    def sending(self) -> bool:
        """Whether a drain is under way; it also takes entries that come meanwhile."""
        return self._sending.locked()

    def accept(self, request: StoreRequest) -> StoreReceipt:
        """Queue an entry; `drain` sends it."""
        self._queue.append(request)
        if len(self._queue) > self._limit:
            # The head may be on its way to the server; what comes to it then is not a drop.
            del self._queue[1 if self.sending and self._limit > 1 else 0]
            self._drop(DropReason.QUEUE_OVERFLOW)
        return StoreReceipt(state=StoreState.BUFFERED, reason="waiting to be sent")

    async def drain(self, deadline: Deadline) -> None:
        """Send what waits, until the queue is empty, the server fails, or the deadline."""
        if await self._my_turn(deadline):
            try:
                while self._queue and not deadline.expired:
                    if not await self._send(self._queue[0], deadline):
                        break
            finally:
                self._sending.release()

    def abandon(self) -> int:
        """Give up what still waits, count it, and return how many entries that were."""
        left = len(self._queue)
        for _ in range(left):
            self._drop(DropReason.SERVER_DOWN)
        self._queue.clear()
        return left

    async def _my_turn(self, deadline: Deadline) -> bool:
        """Wait for another drain to end, which may have a later deadline; tells whether it did."""
        try:
            async with asyncio.timeout(deadline.remaining()):
                return await self._sending.acquire()
        except TimeoutError:
            return False

    async def _send(self, request: StoreRequest, deadline: Deadline) -> bool:
        """Send one entry; tells whether to go on with the next."""
        from cognee_hooks.services.answers import DatasetRef

        try:
            await self._client.store_entry(
                request.entry,
                session_id=request.session_id,
                dataset=DatasetRef(name=request.dataset),
                deadline=deadline.within(self._request_seconds),
            )
        except ServerFailure as failure:
            self._health.note(failure)
            return self._failed(request, failure)
        self._health.note(None)
        self._sent(request)
        self._remove(request)
        return True

    def _failed(self, request: StoreRequest, failure: ServerFailure) -> bool:
        if not failure.retryable or failure.kind is FailureKind.NO_MEMORY:
            self._remove(request)
            self._drop(DropReason.REJECTED)
            return True
        if failure.ambiguous:
            self._remove(request)
        return False

    def _remove(self, request: StoreRequest) -> None:
        # The queue may have dropped its head while the request was on its way.
        if self._queue and self._queue[0] is request:
            self._queue.popleft()

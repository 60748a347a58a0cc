"""Waits for the end of one's own run of the indexer, and of no other.

A dataset's status survives its runs and even the dataset, so a COMPLETED may be old (W7). The
server's log of runs names each; what is in it before the submission is not ours. A dataset that is
made again has the id and the log that it had, which can only be looked at once it is there: what
had ended before the submission at the first look is not ours either. A server without the log is
believed once its status has been seen to be another.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from enum import StrEnum

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.api import ServerApi
from cognee_hooks.services.pipelines import CODE_PIPELINE, PipelineState

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 20.0
REQUEST_SECONDS = 10.0
"""Longest that one look is waited for; a server at work answers late."""


class Ending(StrEnum):
    """How a run ended, as far as it was waited for."""

    COMPLETED = "completed"
    ERRORED = "errored"
    RUNNING = "running"
    """It was seen to run and goes on."""
    UNSEEN = "unseen"
    """There is no sign of it: it waits in line, or came to nothing before it started."""


@dataclass(frozen=True, slots=True)
class Before:
    """What was there before a submission.

    Attributes:
        runs: Ids of the runs in the server's log.
        status: The dataset's status, where there is no log; "" for none.
        logged: Whether the server keeps a log.
        unseen_at: Epoch seconds at which it could not be looked at, because the dataset was not
            there; 0.0 where it could.
    """

    runs: frozenset[str] = frozenset()
    status: str = ""
    logged: bool = True
    unseen_at: float = 0.0


async def look_before(client: ServerApi, dataset_id: str, deadline: Deadline, now: float) -> Before:
    """Take down what is there before a submission.

    Args:
        client: The server.
        dataset_id: The dataset; "" where it is not there yet.
        deadline: When to give up.
        now: Epoch seconds.

    Raises:
        ServerFailure: It cannot be told, so whatever is seen later may be old.
    """
    if not dataset_id:
        return Before(unseen_at=now)
    try:
        rows = await client.pipelines.rows(dataset_id, CODE_PIPELINE, deadline)
    except ServerFailure as failure:
        if failure.kind is FailureKind.FORBIDDEN:  # the dataset was deleted
            return Before(unseen_at=now)
        if failure.kind is not FailureKind.NOT_FOUND:
            raise
        status = await client.pipelines.status(dataset_id, CODE_PIPELINE, deadline)
        return Before(status=status, logged=False)
    return Before(frozenset(row.run_id for row in rows))


class Follower:
    """Looks at one run until it ends.

    Args:
        client: The server.
        dataset_id: The dataset that is built.
        before: What was there before.
        first_pause: Seconds between the first two looks; later ones lie further apart.
    """

    def __init__(
        self,
        client: ServerApi,
        dataset_id: str,
        before: Before,
        *,
        first_pause: float = FIRST_PAUSE,
    ) -> None:
        self._client = client
        self._dataset_id = dataset_id
        self._before = before
        self._pause = first_pause
        self._seen = False

    async def until(self, deadline: Deadline) -> Ending:
        """Look until the run has ended, or the deadline has passed.

        May be called again to go on waiting.
        """
        while True:
            state = await self._state(deadline)
            if state is PipelineState.COMPLETED:
                return Ending.COMPLETED
            if state is PipelineState.ERRORED:
                return Ending.ERRORED
            if deadline.remaining() <= self._pause:
                return Ending.RUNNING if self._seen else Ending.UNSEEN
            await asyncio.sleep(self._pause)
            self._pause = min(self._pause * 1.5, LONGEST_PAUSE)

    async def _state(self, deadline: Deadline) -> PipelineState | None:
        """Return the state of our run; None where there is none yet or nothing can be told."""
        limit = deadline.within(REQUEST_SECONDS)
        try:
            if self._before.logged:
                return await self._by_log(limit)
            return await self._by_status(limit)
        except ServerFailure as failure:
            # A log that says "not found" where nothing was asked for before is not there at all.
            if failure.kind is FailureKind.NOT_FOUND and self._before.logged:
                self._before = replace(self._before, logged=False)
            return None

    async def _by_log(self, deadline: Deadline) -> PipelineState | None:
        rows = await self._client.pipelines.rows(self._dataset_id, CODE_PIPELINE, deadline)
        if since := self._before.unseen_at:
            ended = {row.run_id for row in rows if _ended(row.state) and row.at < since}
            self._before = Before(self._before.runs | ended)
        own = [row.state for row in rows if row.run_id not in self._before.runs]
        self._seen = self._seen or bool(own)
        return own[0] if own else None

    async def _by_status(self, deadline: Deadline) -> PipelineState | None:
        status = await self._client.pipelines.status(self._dataset_id, CODE_PIPELINE, deadline)
        if self._before.unseen_at:
            old = status if _ended(PipelineState.of(status)) else ""
            self._before = Before(status=old, logged=False)
        if status and status != self._before.status:
            self._seen = True
        return PipelineState.of(status) if status and self._seen else None


def _ended(state: PipelineState) -> bool:
    return state is not PipelineState.RUNNING

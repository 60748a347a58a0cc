"""Waits until what was remembered can be found, and tells how far it came."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import TYPE_CHECKING

from cognee_hooks.errors import ServerFailure
from cognee_hooks.services.pipelines import COGNIFY_PIPELINE, PipelineState

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.services.pipelines import PipelineRoutes

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 1.5
SETTLED_SECONDS = 2.0
ENDED = "ENDED_COMPLETED"
"""Stands for the status before of a dataset that is made only now. One of its name that is gone has
left its status behind."""

Listed = Callable[[], Awaitable[bool]]
"""Tells whether the server lists the document."""


class Fate(StrEnum):
    """How far it came."""

    READY = "ready"
    """It can be found."""
    FAILED = "failed"
    """It is stored, but building memory of it failed."""
    BUILDING = "building"
    """It is stored, and memory of it is being built."""
    UNSEEN = "unseen"
    """The server took it on, and does not list it yet."""


_ENDINGS = {PipelineState.COMPLETED: Fate.READY, PipelineState.ERRORED: Fate.FAILED}


def is_over(status: str) -> bool:
    """Tell whether a run of that status has ended."""
    return PipelineState.of(status) is not PipelineState.RUNNING


async def follow_document(
    pipelines: PipelineRoutes,
    dataset_id: str,
    listed: Listed,
    *,
    before: str | None,
    deadline: Deadline,
    settled_seconds: float = SETTLED_SECONDS,
) -> Fate:
    """Wait for a document.

    The status of an earlier run stays until a new one begins, so an end counts only if a run was
    seen to begin since, or there was none before, or the document is listed and had time to begin.

    Args:
        pipelines: Tells how far the server is.
        dataset_id: The dataset.
        listed: Whether the document is there.
        before: The status before it was sent, `ENDED` where there was no dataset; None where that
            is not known.
        deadline: When to tell how it stands.
        settled_seconds: After so long, the build of a document that is listed has begun.
    """
    clock = deadline.clock
    settled = clock() + settled_seconds
    begun, pause, there = before == "", FIRST_PAUSE, False
    was_over = before is not None and is_over(before)
    while True:
        try:
            status = await pipelines.status(dataset_id, COGNIFY_PIPELINE, deadline)
            # What goes on from before is somebody else's run.
            begun = begun or (was_over and not is_over(status))
            if is_over(status):
                there = there or (not begun and await listed())
                if begun or (there and clock() >= settled):
                    return _ENDINGS[PipelineState.of(status)]
        except ServerFailure:
            pass  # the document is on its way all the same
        left = deadline.remaining()
        if left <= pause:
            break
        await asyncio.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)
    return Fate.BUILDING if there or await _is_there(listed) else Fate.UNSEEN


async def _is_there(listed: Listed) -> bool:
    try:
        return await listed()
    except ServerFailure:
        return False

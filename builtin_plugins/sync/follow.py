"""How a run ended that the server only said it had started.

The answer to a background improve names no run. The server logs each when it has ended, with its
session, so the one to look for is the first of our session that began after we asked. "After" is
told on the server's own clock, by the newest row that the log held before.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.improve import ImproveRun, RunOutcome

if TYPE_CHECKING:
    from cognee_hooks import Deadline
    from cognee_hooks.services.client import CogneeClient

FOLLOW_SECONDS = 600.0
"""How long a run is followed. With its model endpoint down a server gives up after five minutes."""

_FIRST_PAUSE = 1.0
_GROWTH = 1.5
_LONGEST_PAUSE = 30.0
_REQUEST_SECONDS = 5.0
_HOPELESS = frozenset(
    {
        FailureKind.AUTH,
        FailureKind.FORBIDDEN,
        FailureKind.MISCONFIGURED,
        FailureKind.NOT_FOUND,
        FailureKind.REJECTED,
    }
)
"""Failures that asking again does not mend."""


async def watermark(client: CogneeClient, deadline: Deadline) -> float | None:
    """Return a moment on the server's clock that lies before everything that is asked from now on.

    Returns:
        Epoch seconds; None where the server keeps no log of runs, or does not show it.
    """
    try:
        return await client.newest_run(deadline.within(_REQUEST_SECONDS))
    except ServerFailure:
        return None


async def follow_run(
    client: CogneeClient,
    session_id: str,
    *,
    dataset_id: str,
    since: float,
    deadline: Deadline,
    first_pause: float = _FIRST_PAUSE,
) -> ImproveRun | None:
    """Wait until the log of runs holds the end of a run.

    Args:
        client: The server.
        session_id: The session that is improved.
        dataset_id: Its dataset, or "".
        since: What `watermark` said before the run was asked for.
        deadline: When to give up.
        first_pause: Seconds before the first look; later ones are longer and longer.

    Returns:
        The run; None where it did not end in time, or its end cannot be known.
    """
    pause = first_pause
    while not deadline.expired:
        await asyncio.sleep(min(pause, deadline.remaining()))
        pause = min(pause * _GROWTH, _LONGEST_PAUSE)
        try:
            runs = await client.improve_runs(
                deadline.within(_REQUEST_SECONDS), dataset_id=dataset_id
            )
        except ServerFailure as failure:
            if failure.kind in _HOPELESS:
                return None
            continue
        for run in runs:
            if _is_ours(run, session_id, since):
                return run
    return None


def _is_ours(run: ImproveRun, session_id: str, since: float) -> bool:
    # One that did nothing was turned away while ours was running.
    return (
        run.session_id == session_id
        and run.started_at > since
        and run.outcome is not RunOutcome.NOOP
    )

"""Turns the session that is left into lasting memory before a switch."""

from __future__ import annotations

from dataclasses import dataclass

from cognee_hooks import Deadline, PluginContext
from cognee_hooks.errors import ServerFailure
from cognee_hooks.results import AT_THE_SERVER
from cognee_hooks.services.answers import DatasetRef
from cognee_hooks.services.improve import ImproveResult, ImproveState

DRAIN_SECONDS = 4.0
IMPROVE_SECONDS = 4.0

_DONE = frozenset(
    {
        ImproveState.PROMOTED,
        ImproveState.NOTHING_NEW,
        ImproveState.SUBMITTED,
        ImproveState.SKIPPED,
    }
)


@dataclass(frozen=True, slots=True)
class Leaving:
    """How a session is left.

    Attributes:
        problem: Why it is not synced, for people; "" where it is, or holds nothing.
        empty: The server holds nothing of it.
        waiting: Captured entries that wait to be sent to it.
    """

    problem: str = ""
    empty: bool = False
    waiting: int = 0


async def sync_left(context: PluginContext) -> Leaving:
    """Send what waits, and have the session's entries promoted into its dataset.

    What could not be sent stays queued for the dataset that it was captured for, whatever happens
    here, so that alone keeps nobody from switching.
    """
    waiting = await context.flush(Deadline.after(DRAIN_SECONDS, context.clock))
    session, totals = context.session, context.totals()
    if not any(totals.get(act) for act in AT_THE_SERVER):
        return Leaving(empty=True, waiting=waiting)
    if not context.is_active("sync"):
        return Leaving("the plugin sync is switched off", waiting=waiting)
    try:
        done = await context.services.client.improve(
            [session.session_id],
            dataset=DatasetRef(name=session.dataset),
            deadline=Deadline.after(IMPROVE_SECONDS, context.clock),
        )
    except ServerFailure as failure:
        context.services.health.note(failure)
        return Leaving(str(failure), waiting=waiting)
    return Leaving(_problem(done), waiting=waiting)


def _problem(done: ImproveResult) -> str:
    # Whoever holds this very session makes one more pass for it.
    if done.state in _DONE or (done.state is ImproveState.BUSY and done.rerun_requested):
        return ""
    known = {
        ImproveState.BUSY: "the server is busy with another session of the dataset",
        ImproveState.BUDGET: "the server's model budget is spent",
        ImproveState.UNSUPPORTED: "this server cannot do it",
    }
    return known.get(done.state) or done.reason or done.state.value

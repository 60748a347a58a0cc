"""What became of an improve, which turns a session's entries into lasting memory of a dataset.

By the cognee 1.6 HTTP contract the status of the answer says next to nothing: a good one comes for
entries that were promoted, for none, for a run that was only started, and for one that was turned
away because another holds the lock. What counts are the two stages that persist entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.answers import objects_in, text_of
from cognee_hooks.services.failures import Body, excerpt

_Object = Mapping[str, Any]

PERSIST_STAGES = ("persist_session_qa", "persist_agent_traces")
"""The stages that put entries into the dataset; all others refine what is there."""

LOCK_HELD = "lock_held"
BUDGET_EXHAUSTED = "budget_exhausted"

_MAX_STAGES = 50
_MAX_PASSES = 20
_MAX_RUNS = 500
_REASON_LIMIT = 200
_LAST_MOMENT = 253_402_300_799.0  # of the year 9999
_DONE = frozenset({"completed", "already_completed"})


class ImproveState(StrEnum):
    """What an improve did, as far as the answer tells."""

    PROMOTED = "promoted"
    """New entries are in the dataset."""
    NOTHING_NEW = "nothing_new"
    """There was nothing to promote; an unknown session looks the same."""
    SUBMITTED = "submitted"
    """The server took it on and does not say yet how it ends: it runs in the background, or the
    server is an older one that never says."""
    BUSY = "busy"
    """Another improve holds the session or its dataset; see `ImproveResult.rerun_requested`."""
    SKIPPED = "skipped"
    """The server did nothing, for the stated reason."""
    PARTIAL = "partial"
    """One kind of entries (questions, tool calls) was promoted, the other failed."""
    ERRORED = "errored"
    """Nothing was promoted; the entries are still in the session."""
    BUDGET = "budget"
    """The server's model budget is spent; only a person can mend that."""
    UNSUPPORTED = "unsupported"
    """This server has no improve."""


@dataclass(frozen=True, slots=True)
class ImproveResult:
    """An answer to an improve.

    Attributes:
        state: What it did.
        reason: The server's word for why, one bounded line, or "".
        dataset_id: UUID of the dataset, or "".
        rerun_requested: With ``BUSY``, that the session itself was held and its holder makes one
            more pass, so that nothing is lost. Without it nothing was done and nobody will.
    """

    state: ImproveState
    reason: str = ""
    dataset_id: str = ""
    rerun_requested: bool = False


class RunOutcome(StrEnum):
    """How a run ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    NOOP = "noop"
    """It did nothing, for instance because another held the lock."""


@dataclass(frozen=True, slots=True)
class ImproveRun:
    """An improve that the server's log of runs holds; it holds runs that have ended.

    Attributes:
        session_id: The session, or "" where it was none or several.
        outcome: How it ended.
        started_at: Epoch seconds on the server's clock.
        error: Type name of what went wrong, or "".
    """

    session_id: str
    outcome: RunOutcome
    started_at: float
    error: str = ""


def read_improve(document: object) -> ImproveResult | None:
    """Read the answer to an improve that went well as HTTP goes.

    Servers before 1.6 answered without stages: an empty object while another improve ran, anything
    else when they had taken the work on.

    Args:
        document: The parsed body.

    Returns:
        What it did; None where a web page was answered instead.
    """
    if document is Body.PAGE:
        return None
    if not isinstance(document, Mapping):
        return ImproveResult(ImproveState.SUBMITTED)
    if not document:
        return ImproveResult(ImproveState.BUSY, reason=LOCK_HELD)
    status = text_of(document, "status").lower()
    if status == "running":
        state, reason = ImproveState.SUBMITTED, ""
    elif persisted := _persist_stages(document):
        state, reason = _by_stages(persisted)
    else:
        state, reason = _by_status(status), text_of(document, "error")
    return ImproveResult(
        state=state,
        reason=excerpt(reason, _REASON_LIMIT),
        dataset_id=text_of(document, "dataset_id"),
        rerun_requested=state is ImproveState.BUSY and document.get("rerun_requested") is True,
    )


def _by_status(status: str) -> ImproveState:
    known = {"errored": ImproveState.ERRORED, "skipped": ImproveState.SKIPPED}
    return known.get(status, ImproveState.SUBMITTED)


def _by_stages(stages: list[_Object]) -> tuple[ImproveState, str]:
    """Decide by the persist stages, the last word of each."""
    statuses = [text_of(stage, "status") for stage in stages]
    reasons = [text_of(stage, "reason") for stage in stages]
    if LOCK_HELD in reasons:
        return ImproveState.BUSY, LOCK_HELD
    if BUDGET_EXHAUSTED in reasons:
        return ImproveState.BUDGET, BUDGET_EXHAUSTED
    if "errored" in statuses:
        error = text_of(stages[statuses.index("errored")], "error")
        partly = not _DONE.isdisjoint(statuses)
        return (ImproveState.PARTIAL if partly else ImproveState.ERRORED), error
    if "completed" in statuses:
        return ImproveState.PROMOTED, ""
    if "already_completed" in statuses:
        return ImproveState.NOTHING_NEW, reasons[statuses.index("already_completed")]
    return ImproveState.SKIPPED, next(filter(None, reasons), "")


def _persist_stages(document: _Object) -> list[_Object]:
    """Return what each persist stage came to over all passes of the run.

    A later pass takes up what an earlier one left, so an error in the past is mended by it; what
    was completed once stays completed when the next pass finds nothing more.
    """
    passes = document.get("rerun_passes")
    further = passes[:_MAX_PASSES] if isinstance(passes, list) else []
    last: dict[str, _Object] = {}
    for stages in (document.get("stages"), *further):
        for stage in objects_in(stages, _MAX_STAGES):
            name = text_of(stage, "stage")
            promoted = text_of(last.get(name, {}), "status") == "completed"
            again = text_of(stage, "status") == "already_completed"
            if name in PERSIST_STAGES and not (promoted and again):
                last[name] = stage
    return list(last.values())


def refusal(failure: ServerFailure) -> ImproveResult | None:
    """Return what a failed improve means where that is an answer, not a failure.

    404 and 422 can mean an unknown dataset or session (W47); only the router's own 404, which has
    neither a name nor another text, says that the route is not there.

    Returns:
        A result with ``UNSUPPORTED`` or ``BUDGET``; None for all other failures.
    """
    if failure.status == 402:  # noqa: PLR2004
        return ImproveResult(ImproveState.BUDGET, reason=failure.detail)
    if failure.kind is not FailureKind.NOT_FOUND:
        return None
    is_route = failure.status == 405 or failure.detail.endswith(": Not Found")  # noqa: PLR2004
    return ImproveResult(ImproveState.UNSUPPORTED, reason=failure.detail) if is_route else None


def read_runs(document: object) -> list[ImproveRun] | None:
    """Read the improves in a page of the server's log of runs, in its order, newest first.

    Returns:
        The runs that have ended; None where the answer is no such page.
    """
    if not isinstance(document, list):
        return None
    return list(_runs(objects_in(document, _MAX_RUNS)))


def _runs(rows: Iterable[_Object]) -> Iterator[ImproveRun]:
    for row in rows:
        outcome = text_of(row, "outcome")
        if text_of(row, "operation_name") == "improve" and outcome in set(RunOutcome):
            yield ImproveRun(
                session_id=text_of(row, "session_id"),
                outcome=RunOutcome(outcome),
                started_at=moment(text_of(row, "started_at")),
                error=excerpt(text_of(row, "error_class"), 80),
            )


def newest_moment(document: object) -> float | None:
    """Return when the newest row of a page of the log of runs was made, on the server's clock.

    Returns:
        Epoch seconds, 0.0 for an empty log; None where the answer is no such page.
    """
    if not isinstance(document, list):
        return None
    moments = [moment(text_of(row, "created_at")) for row in objects_in(document, _MAX_RUNS)]
    return max(moments, default=0.0)


def moment(text: str) -> float:
    """Return a time stamp as epoch seconds, one without a zone as UTC; 0.0 where it is none.

    It is one that can be turned into a date again.
    """
    try:
        found = datetime.fromisoformat(text[:40])
    except ValueError:
        return 0.0
    seconds = (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    return min(max(0.0, seconds), _LAST_MOMENT)

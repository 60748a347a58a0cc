"""What people and models are told: what happened, what it means, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from builtin_plugins.sync.improver import SyncOutcome, SyncTarget, reason_of
from builtin_plugins.sync.throttle import Hold, Reason
from cognee_hooks.printable import brief
from cognee_hooks.results import Failure
from cognee_hooks.services.improve import ImproveState

if TYPE_CHECKING:
    from builtin_plugins.sync.record import SyncRecord

NO_SESSION = "There is no session yet, so there is nothing to turn into lasting memory."
KEPT = "Nothing is lost: the entries stay in the session, and the next sync takes them up."
BUDGET = (
    "Cognee memory: the server's model budget is spent, so this session cannot become lasting "
    f"memory. {KEPT} Top the budget up: your next session tries again, this one after a day, or at "
    "once with the command `cognee-sync` where the agent has it."
)

_TEXTS = {
    ImproveState.PROMOTED: "The session's entries are lasting memory of dataset {dataset!r} now.",
    ImproveState.NOTHING_NEW: "There was nothing new: what the server holds of this session is "
    "lasting memory of dataset {dataset!r} already.",
    ImproveState.SUBMITTED: "The server has begun to turn this session into lasting memory of "
    "dataset {dataset!r} and goes on with it in the background. There is nothing more to do.",
    ImproveState.SKIPPED: f"The server did nothing{{because}}. {KEPT} If this goes on, look at the "
    "server's configuration.",
    ImproveState.PARTIAL: f"Only a part of the session became lasting memory of dataset "
    f"{{dataset!r}}; the rest failed{{because}}. {KEPT}",
    ImproveState.ERRORED: f"The server could not turn the session into lasting memory{{because}}. "
    f"{KEPT} If this goes on, look at the server's log.",
    ImproveState.BUDGET: BUDGET,
    ImproveState.UNSUPPORTED: "This cognee server cannot turn sessions into lasting memory, so "
    "this one was not synced. What it stored stays in the session; update the server.",
}
_DONE = frozenset({ImproveState.PROMOTED, ImproveState.NOTHING_NEW, ImproveState.SUBMITTED})
_BUSY = (
    "The server is busy with dataset {dataset!r} for another session, so nothing was done for this "
    f"one. {KEPT} Try again in a minute."
)
_COVERED = (
    "The server is at work on this session already and takes its newest entries up as well. There "
    "is nothing to do."
)
_IN_FLIGHT = "This session is being synced at this moment; there is nothing to do."


def other_dataset(given: str, own: str) -> str:
    """Say that a session can be synced into its own dataset only."""
    return (
        f"Nothing was synced: this session belongs to dataset {own!r}, and the server keeps a "
        f"session in one dataset. Leave dataset out, or let the person switch with: "
        f"cognee-datasets {brief(given)}"
    )


_HOLDS = {
    Reason.NEEDS_USER: "paused until somebody mends it",
    Reason.COOLDOWN: "the next one can come in {minutes} min",
    Reason.BACKOFF: "tried again in {minutes} min at the earliest",
    Reason.NO_NEW_ENTRIES: "nothing new since",
}


def told(target: SyncTarget, outcome: SyncOutcome, *, waiting: int, ended_well: bool | None) -> str:
    """Return what to tell somebody who asked for a sync.

    Args:
        target: The session.
        outcome: How it went.
        waiting: Captured entries that are not at the server yet.
        ended_well: How a run that was followed ended; None where that is not known.
    """
    text = _told(target, outcome, ended_well)
    if not waiting:
        return text
    one = waiting == 1
    kind = Failure if isinstance(text, Failure) else str
    return kind(
        f"{text} {waiting} captured {'entry waits' if one else 'entries wait'} for the server and "
        f"{'is' if one else 'are'} not part of it yet."
    )


def _told(target: SyncTarget, outcome: SyncOutcome, ended_well: bool | None) -> str:
    result, failure = outcome.result, outcome.failure
    if failure is not None:
        why = failure.detail or reason_of(failure)
        return Failure(f"The sync failed ({why}). {KEPT} `cognee-hooks doctor` says more.")
    if result is None:
        return _IN_FLIGHT
    if result.state is ImproveState.BUSY:
        text = _COVERED if result.rerun_requested else _BUSY
        done = result.rerun_requested
    else:
        state = result.state
        if ended_well is not None:
            state = ImproveState.PROMOTED if ended_well else ImproveState.ERRORED
        text, done = _TEXTS[state], state in _DONE
    because = f" ({result.reason})" if result.reason else ""
    told = text.format(dataset=target.dataset, because=because)
    return told if done else Failure(told)


def last_sync(record: SyncRecord, held: Hold | None, now: float) -> str:
    """Return one line about a session's syncs, for ``cognee-hooks doctor``."""
    parts: list[str] = []
    if record.improved_at:
        how = "" if record.confirmed else ", end not known"
        parts.append(f"last sync {_ago(now - record.improved_at)} ({record.trigger}{how})")
    if record.failures:
        parts.append(
            f"failed since ({record.failures} in a row, last {_ago(now - record.failed_at)}: "
            f"{record.failure_reason})"
        )
    if not parts:
        return "no sync yet"
    if held is not None:
        minutes = max(1, round(held.seconds / 60))
        parts.append(_HOLDS[held.reason].format(minutes=minutes))
    return "; ".join(parts)


def in_line(count: int) -> str:
    """Return what to add where ended sessions wait for the server, which was busy or away."""
    if not count:
        return ""
    sessions = "1 ended session waits" if count == 1 else f"{count} ended sessions wait"
    return f"; {sessions} for the server"


def _ago(seconds: float) -> str:
    minutes = max(0, int(seconds // 60))
    if minutes < 1:
        return "just now"
    if minutes < 120:  # noqa: PLR2004
        return f"{minutes} min ago"
    hours = minutes // 60
    return f"{hours} h ago" if hours < 48 else f"{hours // 24} days ago"  # noqa: PLR2004

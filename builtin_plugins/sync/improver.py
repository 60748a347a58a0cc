"""One sync: who may do it, the request, and what is written down about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from builtin_plugins.sync.files import SyncRecords
from builtin_plugins.sync.follow import follow_run, watermark
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.results import Act
from cognee_hooks.services.answers import DatasetRef
from cognee_hooks.services.improve import ImproveResult, ImproveState, RunOutcome

if TYPE_CHECKING:
    from builtin_plugins.sync.record import SyncRecord
    from cognee_hooks import Deadline, PluginContext

_LOCK_MARGIN = 30.0

_CONFIRMED = frozenset({ImproveState.PROMOTED, ImproveState.NOTHING_NEW})
_FAILED = {
    ImproveState.SKIPPED: "skipped",
    ImproveState.PARTIAL: "partly failed",
    ImproveState.ERRORED: "error",
    ImproveState.BUDGET: "HTTP 402",
    ImproveState.UNSUPPORTED: "unsupported",
}


class Trigger(StrEnum):
    """What brings a sync about."""

    AUTO = "auto"
    """So many new entries."""
    IDLE = "idle"
    """Nothing happened for a while."""
    MANUAL = "manual"
    """Somebody asked for it."""
    SWITCH = "switch"
    """The session changes its dataset."""
    FINAL = "final"
    """The session ends."""
    SWEEP = "sweep"
    """The session has ended without that, which is made up for."""


@dataclass(frozen=True, slots=True)
class SyncTarget:
    """A session and the one dataset that its entries belong to."""

    session_id: str
    dataset: str


@dataclass(frozen=True, slots=True)
class SyncOutcome:
    """How a sync went; without result and failure another one of the session was under way.

    Attributes:
        result: The server's answer, or None where there is none.
        failure: What went wrong instead, or None.
        since: From when on a run in the server's log is this one; None where that is not known.
    """

    result: ImproveResult | None = None
    failure: ServerFailure | None = None
    since: float | None = None

    @property
    def try_again(self) -> bool:
        """Whether it was turned away without anybody doing it in its stead."""
        result = self.result
        return (
            result is not None and result.state is ImproveState.BUSY and not result.rerun_requested
        )

    @property
    def open(self) -> bool:
        """Whether its run goes on at the server and can be followed."""
        result = self.result
        return (
            result is not None and result.state is ImproveState.SUBMITTED and self.since is not None
        )


class Improver:
    """Syncs sessions, one request a session at a time, in all processes together.

    Args:
        context: The plugin's context.
        records: What is kept of each session.
        submit_seconds: How long the server may take to accept one.
    """

    def __init__(self, context: PluginContext, records: SyncRecords, submit_seconds: float) -> None:
        self._context = context
        self._records = records
        self._submit_seconds = submit_seconds

    def stored(self, target: SyncTarget) -> int:
        """Return how many entries of a session the server has stored."""
        totals = self._context.totals(target.session_id)
        return totals.get(Act.DELIVERED, 0) + totals.get(Act.REPLAYED, 0)

    def since_last(self, target: SyncTarget) -> int:
        """Return how many entries came since the server last took a sync of a session on."""
        return self.record(target).since_last(self.stored(target))

    def record(self, target: SyncTarget) -> SyncRecord:
        """Return what is known of the syncs of a session."""
        return self._records.read(target.session_id, target.dataset)

    async def run(
        self, target: SyncTarget, trigger: Trigger, deadline: Deadline, *, to_follow: bool = True
    ) -> SyncOutcome:
        """Ask the server to turn the session into memory of its dataset.

        Args:
            target: The session.
            trigger: What brought it about.
            deadline: When to give up waiting for the answer.
            to_follow: Find out what `settle` needs to follow the run to its end.
        """
        limit = deadline.within(self._submit_seconds)
        with self._alone(target) as alone:
            if not alone:
                return SyncOutcome()
            # What is stored from here on may come too late for this run.
            stored = self.stored(target)
            outcome = await self._ask(target, limit, to_follow=to_follow)
            confirmed = self._confirmed(outcome, to_follow=to_follow)
            self._write_down(target, trigger, outcome, stored, confirmed=confirmed)
        return outcome

    async def settle(
        self, target: SyncTarget, outcome: SyncOutcome, deadline: Deadline
    ) -> bool | None:
        """Wait for a run that `run` left open, and write down how it ended.

        Returns:
            Whether it ended well; None where that is not known.
        """
        if outcome.result is None or outcome.since is None:
            return None
        before = self.record(target)
        run = await follow_run(
            self._context.services.client,
            target.session_id,
            dataset_id=outcome.result.dataset_id,
            since=outcome.since,
            deadline=deadline,
        )
        record = self.record(target)
        # Another process may have synced meanwhile; its word is the newer one.
        if run is None or record != before or record.confirmed:
            return None
        ended_well = run.outcome is RunOutcome.SUCCEEDED
        if ended_well:
            self._records.write(record.ended_well())
        else:
            reason = f"run failed {run.error}".strip()
            self._records.write(record.failed(self._context.now(), reason, record.trigger))
        self._context.log.debug("sync ended: %s", run.outcome.value)
        return ended_well

    # -- inside ------------------------------------------------------------------------------------

    async def _ask(self, target: SyncTarget, limit: Deadline, *, to_follow: bool) -> SyncOutcome:
        client = self._context.services.client
        health = self._context.services.health
        since = await watermark(client, limit.within(limit.remaining() / 2)) if to_follow else None
        try:
            result = await client.improve(
                [target.session_id], dataset=DatasetRef(name=target.dataset), deadline=limit
            )
        except ServerFailure as failure:
            # A promotion that failed says nothing about the connection.
            if failure.status != 409:  # noqa: PLR2004
                health.note(failure)
            return SyncOutcome(failure=failure)
        health.note(None)
        return SyncOutcome(result=result, since=since)

    @staticmethod
    def _confirmed(outcome: SyncOutcome, *, to_follow: bool) -> bool:
        """Whether it is known that all went well, or as much is known as ever will be."""
        result = outcome.result
        if result is None or result.state in _CONFIRMED:
            return result is not None
        # A server that keeps no log never says how its runs end.
        return result.state is ImproveState.SUBMITTED and to_follow and outcome.since is None

    def _write_down(
        self,
        target: SyncTarget,
        trigger: Trigger,
        outcome: SyncOutcome,
        stored: int,
        *,
        confirmed: bool,
    ) -> None:
        record, now = self.record(target), self._context.now()
        result, failure = outcome.result, outcome.failure
        if failure is not None:
            # What never reached the server must not hold back the next one (W34).
            if failure.sent:
                needs_user = failure.kind is FailureKind.NEEDS_USER
                failed = record.failed(now, reason_of(failure), trigger, needs_user=needs_user)
                self._records.write(failed)
        elif result is not None and result.state in _FAILED:
            reason = ": ".join(filter(None, (_FAILED[result.state], result.reason)))
            needs_user = result.state is ImproveState.BUDGET
            self._records.write(record.failed(now, reason, trigger, needs_user=needs_user))
        elif result is not None and not outcome.try_again:
            self._note_in_ledger(target, trigger, result, record.new_entries(stored))
            self._records.write(record.accepted(now, stored, trigger, confirmed=confirmed))

    def _note_in_ledger(
        self, target: SyncTarget, trigger: Trigger, result: ImproveResult, count: int
    ) -> None:
        if result.state is not ImproveState.NOTHING_NEW:
            what = f"{trigger} {result.state}"
            self._context.record(
                Act.SYNCED, what, count=max(count, 1), session_id=target.session_id
            )

    @contextmanager
    def _alone(self, target: SyncTarget) -> Iterator[bool]:
        """Hold the session's lock; a disk on which it cannot be made holds nobody up."""
        lock = self._records.lock(target.session_id, self._submit_seconds + _LOCK_MARGIN)
        try:
            alone = lock.try_acquire()
        except OSError as error:
            self._context.log.warning("no lock for a sync: %s", type(error).__name__)
            alone = True
        try:
            yield alone
        finally:
            lock.release()


def reason_of(failure: ServerFailure) -> str:
    """Return a word for a failure, in the terms of the other cognee plugins."""
    if failure.status is not None:
        return f"HTTP {failure.status}"
    words = {
        FailureKind.TIMED_OUT: "timeout",
        FailureKind.REFUSED: "unreachable",
        FailureKind.UNREACHABLE: "unreachable",
        FailureKind.LOST: "unreachable",
    }
    return words.get(failure.kind, "error")

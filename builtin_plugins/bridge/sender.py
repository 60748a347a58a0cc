"""Sends the head of one buffer, exactly once as far as anybody can know."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from builtin_plugins.bridge.binding import next_session
from builtin_plugins.bridge.fingerprint import KINDS, digest
from builtin_plugins.bridge.marks import SendAttempt, name_key, tail_key
from builtin_plugins.bridge.verify import listed, was_stored
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, RedactionFailed, ServerFailure
from cognee_hooks.results import Act
from cognee_hooks.services.answers import DatasetRef

if TYPE_CHECKING:
    from builtin_plugins.bridge.buffer import Buffer
    from builtin_plugins.bridge.fresh import Fresh
    from builtin_plugins.bridge.items import Head
    from cognee_hooks import PluginContext, Redacted

LEAST_SECONDS = 0.2
"""With less time left an entry is not sent: it would be stored, and its answer not waited for."""
MAX_CHECKS = 3
"""After so many rounds in which the server cannot show the session, the entry is sent again."""
AFTER_TIMEOUT = 45.0
AFTER_BREAK = 3.0

_GLOBAL = frozenset(
    {
        FailureKind.AUTH,
        FailureKind.MISCONFIGURED,
        FailureKind.NOT_FOUND,
        FailureKind.RATE_LIMITED,
    }
)
"""Failures beside outages that other sessions' entries would meet as well."""
_NEVER_SENT = frozenset({FailureKind.REFUSED, FailureKind.UNREACHABLE})
_FOR_PEOPLE = frozenset(
    {
        FailureKind.FORBIDDEN,
        FailureKind.MISCONFIGURED,
        FailureKind.NEEDS_USER,
        FailureKind.NOT_FOUND,
    }
)
"""Failures that last until a person does something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settling:
    """How long a server may still be storing what it did not confirm, in seconds.

    Attributes:
        after_timeout: After a request that we gave up: one whose database was locked stored the
            entry 40 s later.
        after_break: After a request that broke or failed, or whose process was killed.
    """

    after_timeout: float = AFTER_TIMEOUT
    after_break: float = AFTER_BREAK

    @classmethod
    def of(cls, seconds: float) -> Settling:
        """Return what follows from the longer time."""
        return cls(after_timeout=seconds, after_break=min(AFTER_BREAK, seconds))


class Step(Enum):
    """How an attempt came out."""

    DONE = auto()
    """The head is gone."""
    EMPTY = auto()
    """Nothing can be sent from this buffer."""
    BLOCKED = auto()
    """The head stays, and with it this buffer."""
    STOPPED = auto()
    """The server takes nothing at the moment."""


class Sender:
    """Sends heads.

    Args:
        context: The plugin's context.
        settling: See `Settling`.
        fresh: Entries that were captured a moment ago.
    """

    def __init__(
        self,
        context: PluginContext,
        settling: Settling,
        *,
        fresh: Fresh,
    ) -> None:
        self._context = context
        self._client = context.services.client
        self._url = context.services.mode.url
        self._settling = settling
        self._fresh = fresh
        self.wait_until = 0.0
        """When the latest blocked head may be tried again, epoch seconds; 0.0 for no idea."""

    async def step(self, buffer: Buffer, deadline: Deadline) -> Step:
        """Try the head of a buffer, whose drain lock we hold.

        Args:
            buffer: The buffer.
            deadline: When to be done.

        Raises:
            OSError: Its files cannot be read or written.
        """
        self.wait_until = 0.0
        buffer.adopt()
        head = buffer.head(self._url)
        if head is None:
            return Step.EMPTY
        if until := buffer.resting_until:
            return self._not_before(until / 1000)
        try:
            entry = await self._context.redact(dict(head.payload.entry))
        except RedactionFailed:
            # Nothing leaves while redaction does not work. The core has told the person.
            return Step.BLOCKED
        job = self._job(buffer, head, entry)
        barred = await self._checked(job, deadline)
        return barred if barred is not None else await self._send(job, deadline)

    # -- before ----------------------------------------------------------------------------------

    async def _checked(self, job: _Job, deadline: Deadline) -> Step | None:
        """Make sure that the server has not got the entry; None where it can be sent."""
        attempt = job.head.attempt
        if attempt is not None:
            return await self._doubted(job, attempt, deadline)
        if not job.buffer.complete:
            return await self._learnt(job, deadline)
        return None

    async def _doubted(self, job: _Job, attempt: SendAttempt, deadline: Deadline) -> Step | None:
        attempt = self._dated(job, attempt)
        if job.kind not in KINDS:
            return None
        try:
            detail = await self._client.session(job.session_id, self._limit(deadline))
        except ServerFailure as failure:
            return self._unchecked(job, attempt, failure)
        self._context.services.health.note(None)
        if was_stored(job.prints, listed(detail, job.kind), job.buffer.tail(job.key)):
            job.buffer.settle(job.head.seq, job.key, job.print_)
            self._record(job, Act.DEDUPLICATED)
            return Step.DONE
        until = attempt.until / 1000
        return self._not_before(until) if self._context.now() < until else None

    def _dated(self, job: _Job, attempt: SendAttempt) -> SendAttempt:
        """Make sure that it is known, and soon, until when the server may still be storing it."""
        if attempt.running:
            # Whoever sent it holds the drain lock no longer: it was killed in between.
            until = self._later(self._settling.after_break)
        elif attempt.until > (longest := self._later(self._settling.after_timeout)):
            until = longest  # the clock was set back
        else:
            return attempt
        job.buffer.doubt(job.head.seq, until, attempt.checks)
        return SendAttempt(until=until, checks=attempt.checks)

    def _not_before(self, until: float) -> Step:
        self.wait_until = until
        return Step.BLOCKED

    def _unchecked(self, job: _Job, attempt: SendAttempt, failure: ServerFailure) -> Step | None:
        if _unusable(failure, reading=True):
            self._context.services.health.note(failure)
            return Step.STOPPED
        checks = attempt.checks + 1
        job.buffer.doubt(job.head.seq, attempt.until, checks)
        # A session that cannot be shown may never be shown again. Twice is better than never.
        return None if checks >= MAX_CHECKS else Step.BLOCKED

    async def _learnt(self, job: _Job, deadline: Deadline) -> Step | None:
        """Read what the server took before, which our damaged files do not tell any more."""
        try:
            detail = await self._client.session(job.session_id, self._limit(deadline))
        except ServerFailure as failure:
            if _unusable(failure, reading=True):
                self._context.services.health.note(failure)
                return Step.STOPPED
            job.buffer.learn({})
            return None
        keys = {kind: tail_key(self._url, job.session_id, kind) for kind in KINDS}
        job.buffer.learn({key: listed(detail, kind) for kind, key in keys.items()})
        return None

    # -- sending ---------------------------------------------------------------------------------

    async def _send(self, job: _Job, deadline: Deadline) -> Step:
        seq = job.head.seq
        if deadline.remaining() < LEAST_SECONDS:
            return Step.STOPPED
        limit = self._limit(deadline)
        job.buffer.begin(seq)
        try:
            await self._client.store_entry(
                job.entry,
                session_id=job.session_id,
                dataset=DatasetRef(name=job.head.payload.dataset),
                deadline=limit,
            )
        except ServerFailure as failure:
            return await self._failed(job, failure, deadline)
        except asyncio.CancelledError:
            with suppress(OSError):
                job.buffer.doubt(seq, self._later(self._settling.after_timeout))
            raise
        self._context.services.health.note(None)
        first = self._fresh.discard(job.buffer.stem, seq)
        job.buffer.settle(seq, job.key, job.print_)
        self._record(job, Act.DELIVERED if first else Act.REPLAYED)
        return Step.DONE

    async def _failed(self, job: _Job, failure: ServerFailure, deadline: Deadline) -> Step:
        seq = job.head.seq
        self._context.services.health.note(failure)
        if failure.ambiguous:
            timed_out = failure.kind is FailureKind.TIMED_OUT
            settling = self._settling
            seconds = settling.after_timeout if timed_out else settling.after_break
            until = self._later(seconds)
            self.wait_until = until / 1000
            job.buffer.doubt(seq, until)
        elif failure.sent and failure.kind not in _NEVER_SENT:
            # The server says that it has not stored it; a proxy could say so without knowing.
            job.buffer.doubt(seq, until=0)
        else:
            job.buffer.clear(seq)
        if not failure.retryable:
            return await self._refused(job, failure, deadline)
        # The first failure of an entry that was captured a moment ago says too little.
        if failure.status is not None and not self._fresh.holds(job.buffer.stem, seq):
            job.buffer.failed()
        self._fresh.spill(job.buffer.stem)
        if failure.kind in _FOR_PEOPLE:
            self._context.say(
                "Cognee memory: captured entries cannot be sent "
                f"({failure.detail or failure.kind.value}). They are kept on disk and sent when "
                "this is mended; see `cognee-hooks doctor`."
            )
        return Step.STOPPED if _unusable(failure) else Step.BLOCKED

    async def _refused(self, job: _Job, failure: ServerFailure, deadline: Deadline) -> Step:
        """Put aside what the server will never take, or send it where it takes it."""
        payload = job.head.payload
        moved = await next_session(
            self._client, job.session_id, payload.dataset, failure, self._limit(deadline)
        )
        if moved is None:
            return Step.BLOCKED
        if moved:
            job.buffer.rename(name_key(self._url, payload.session_id, payload.dataset), moved)
            return Step.DONE
        job.buffer.set_aside([job.head.seq], failure.detail)
        self._record(job, Act.QUARANTINED)
        self._context.say(
            "Cognee memory: the server refuses a captured entry for good "
            f"({failure.detail or failure.kind.value}). It is not lost: it was put aside in "
            f"{job.buffer.aside_path}."
        )
        return Step.DONE

    # -- small things ----------------------------------------------------------------------------

    def _job(self, buffer: Buffer, head: Head, entry: Redacted[dict[str, Any]]) -> _Job:
        payload = head.payload
        name = name_key(self._url, payload.session_id, payload.dataset)
        session_id = buffer.name(name) or payload.session_id
        kind = str(entry.value.get("type", ""))
        return _Job(
            buffer=buffer,
            head=head,
            entry=entry,
            kind=kind,
            session_id=session_id,
            key=tail_key(self._url, session_id, kind),
            print_=digest(kind, entry.value),
            # It may have been sent as an earlier program redacted it, or before it was scrubbed.
            prints=frozenset(
                {digest(kind, entry.value), digest(kind, payload.entry), *payload.former}
            ),
        )

    def _limit(self, deadline: Deadline) -> Deadline:
        return deadline.within(self._context.core.request_timeout_ms / 1000)

    def _later(self, seconds: float) -> int:
        return _milliseconds(self._context.now() + seconds)

    def _record(self, job: _Job, act: Act) -> None:
        self._context.record(act, job.kind, session_id=job.head.payload.session_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """One head with all that sending it needs."""

    buffer: Buffer
    head: Head
    entry: Redacted[dict[str, Any]]
    kind: str
    session_id: str
    key: str
    print_: str
    prints: frozenset[str]


def _unusable(failure: ServerFailure, *, reading: bool = False) -> bool:
    """Whether a failure says that no request makes sense now. A 500 may be about one session.

    Args:
        failure: The failure.
        reading: It is one of reading a session, which not every server can.
    """
    if reading and failure.kind is FailureKind.NOT_FOUND:
        return False
    if failure.kind is FailureKind.SERVER_ERROR:
        return failure.status != 500  # noqa: PLR2004
    return failure.outage or failure.kind in _GLOBAL


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)

"""Sessions that do not go on: each gets its turn, also where the server was busy with another one.

A server improves one session of a dataset after the other, and turns away who comes meanwhile.
Where sessions are short and follow each other, that is the usual case, and nobody ever rests. So it
is written down in the session's record, and whoever comes to an end, or begins, sees to all of
them: one process at a time, one session of a dataset at a time, less and less often, and not for
ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterator
from typing import TYPE_CHECKING

from builtin_plugins.sync.improver import SyncTarget, Trigger
from builtin_plugins.sync.throttle import Hold, Reason, hold
from cognee_hooks import Deadline
from cognee_hooks.services.retry import jittered

if TYPE_CHECKING:
    from builtin_plugins.sync.files import SyncRecords
    from builtin_plugins.sync.improver import Improver
    from cognee_hooks import PluginContext

FINAL_SECONDS = 4.0
"""Longest that the end of a session waits for the server to accept its last sync."""
HEALTH_SECONDS = 1.0
LATE_SECONDS = 15.0
"""How long a session that is over waits until its last entries are with a server that is back."""
LATE_POLL_SECONDS = 0.1
MOST_SWEPT = 5
"""Sessions that were left behind and are looked after at once."""
PAUSES = (2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0)
"""Seconds between looks while the server takes none of those that wait."""


class Aftercare:
    """See the module.

    Args:
        context: The plugin's context.
        records: What is kept of each session.
        improver: Asks the server.
        cooldown: Seconds between automatic syncs of a session.
    """

    def __init__(
        self, context: PluginContext, records: SyncRecords, improver: Improver, cooldown: float
    ) -> None:
        self._context = context
        self._records = records
        self._improver = improver
        self._cooldown = cooldown
        self._lock = records.line_lock()

    @property
    def in_line(self) -> int:
        """How many sessions that do not go on wait for the server."""
        return sum(1 for _ in self._waiting())

    def hold(self, target: SyncTarget) -> Hold | None:
        """Tell why an automatic sync of a session has to wait; None where it may run."""
        record, stored = self._improver.record(target), self._improver.stored(target)
        return hold(record, stored, self._context.now(), self._cooldown)

    async def sync(
        self, target: SyncTarget, trigger: Trigger, deadline: Deadline | None = None
    ) -> None:
        """Sync a session that does not go on; how its run ends is nobody's concern any more.

        Args:
            target: The session.
            trigger: What brings it about.
            deadline: When to give up; a moment from now, if it is not given.
        """
        limit = (deadline or self._after(FINAL_SECONDS)).within(FINAL_SECONDS)
        if not self._due(target):
            return
        # If it comes to nothing, a later session has to find this one.
        self._note(target)
        if await self.healthy(limit.within(HEALTH_SECONDS)):
            await self._improver.run(target, trigger, limit, to_follow=False)

    async def end(self, target: SyncTarget, deadline: Deadline) -> None:
        """Sync a session that ends, and go on behind it where the server does not take it on."""
        await self.sync(target, Trigger.FINAL, deadline)
        if self._next():
            self._context.outlast(self._later())

    async def late(self, target: SyncTarget) -> None:
        """Sync a session that is over, once what it has kept for the server is there."""
        limit = self._after(LATE_SECONDS)
        while self._context.waiting and not limit.expired:  # noqa: ASYNC110 -- no event tells of it
            await asyncio.sleep(LATE_POLL_SECONDS)
        # Several that waited come at once, and the server takes one of a dataset after the other.
        await self.sync(target, Trigger.FINAL)
        if self._next():
            await self._later()

    async def see_to_all(self, left_behind_by: str = "") -> None:
        """Sync those that wait, until none is left or the server takes none of them.

        Args:
            left_behind_by: A session that begins, and has some others looked after as well that
                ended in whatever other way without being synced.
        """
        try:
            alone = self._lock.try_acquire()
        except OSError as error:
            self._context.log.warning("no lock for syncs: %s", type(error).__name__)
            return
        if not alone:
            return  # somebody is at it, and sees what has come since as well
        try:
            if left_behind_by:
                await self._note_left_behind(left_behind_by)
            await self._each_in_turn()
        finally:
            self._lock.release()

    # -- inside ----------------------------------------------------------------------------------

    async def _later(self) -> None:
        # It has just been asked, or found to be away.
        await self._pause(1)
        await self.see_to_all()

    async def _each_in_turn(self) -> None:
        tried, left = 0, self._next()
        while left:
            for target in left:
                await self.sync(target, Trigger.SWEEP)
            before, left = set(left), self._next()
            tried = 0 if before.difference(left) else tried + 1
            # Who came meanwhile relies on this one.
            if not left or (tried > len(PAUSES) and before.issuperset(left)):
                return
            await self._pause(min(max(tried, 1), len(PAUSES)))

    async def _note_left_behind(self, session_id: str) -> None:
        noted = 0
        for record in self._records.left_behind(session_id, self._context.now()):
            await asyncio.sleep(0)  # what each has stored is read from its ledger
            target = SyncTarget(record.session_id, record.dataset)
            if self.hold(target) is None:
                self._note(target)
                noted += 1
            if noted == MOST_SWEPT:
                return

    def _note(self, target: SyncTarget) -> None:
        record = self._improver.record(target)
        self._records.write(record.waits(self._context.now()))

    async def _pause(self, tried: int) -> None:
        await asyncio.sleep(jittered(PAUSES[tried - 1], self._context.random, spread=0.5))

    def _next(self) -> list[SyncTarget]:
        """Return those whose turn it is: of each dataset the one that waits longest.

        The server is busy with a dataset as soon as it has taken one of its sessions.
        """
        found: dict[str, SyncTarget] = {}
        for target in self._waiting(besides=found):
            found[target.dataset] = target
        return list(found.values())

    def _waiting(self, besides: Container[str] = ()) -> Iterator[SyncTarget]:
        """Yield those that wait and may be synced now, the oldest first.

        Args:
            besides: Datasets that are passed over; there may be many sessions, and a look into the
                ledger of each takes its time.
        """
        for record in self._records.waiting(self._context.now()):
            target = SyncTarget(record.session_id, record.dataset)
            if target.dataset not in besides and self._due(target):
                yield target

    def _due(self, target: SyncTarget) -> bool:
        """Tell whether a session that does not go on may be synced; it has no cooldown."""
        if not target.session_id or not self._improver.since_last(target):
            return False
        held = self.hold(target)
        return held is None or held.reason is not Reason.NEEDS_USER

    async def healthy(self, deadline: Deadline) -> bool:
        """Wait until it is known how the server is; tells whether a sync makes sense."""
        health = self._context.services.health
        await health.wait_ready(deadline)
        # With a key that is refused a sync can only fail.
        return health.state == "ok"

    def _after(self, seconds: float) -> Deadline:
        return Deadline.after(seconds, self._context.clock)

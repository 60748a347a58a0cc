"""Whether an automatic sync is due, and if not, why not and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from builtin_plugins.sync.record import SyncRecord

NEEDS_USER_SECONDS = 24 * 3600.0
"""How long automatic syncs pause when only a person can mend what is wrong."""


class Reason(StrEnum):
    """Why an automatic sync has to wait."""

    NEEDS_USER = "needs_user"
    """Only a person can mend why the last one failed."""
    COOLDOWN = "cooldown"
    """The last one was not long ago."""
    BACKOFF = "backoff"
    """The last one failed, not long ago."""
    NO_NEW_ENTRIES = "no_new_entries"
    """There is nothing to promote."""


@dataclass(frozen=True, slots=True)
class Hold:
    """An automatic sync has to wait.

    Attributes:
        reason: Why.
        seconds: For how long at least; 0.0 where time alone does not help.
    """

    reason: Reason
    seconds: float = 0.0


def hold(record: SyncRecord, stored: int, now: float, cooldown: float) -> Hold | None:
    """Decide on an automatic sync.

    A time that lies in the future comes from a clock that was set back, and holds nobody.

    Args:
        record: The session's syncs so far.
        stored: Entries of the session that the server has stored.
        now: Epoch seconds.
        cooldown: Seconds between syncs, and after a failed one.

    Returns:
        Why it has to wait, or None where it may run.
    """
    waits = (
        (Reason.NEEDS_USER, record.failed_at if record.needs_user else 0.0, NEEDS_USER_SECONDS),
        (Reason.COOLDOWN, record.improved_at, cooldown),
        (Reason.BACKOFF, record.failed_at, cooldown),
    )
    for reason, began, length in waits:
        if began > 0 and 0 <= now - began < length:
            return Hold(reason, began + length - now)
    return None if record.new_entries(stored) else Hold(Reason.NO_NEW_ENTRIES)

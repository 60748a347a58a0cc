"""What is known of a session's syncs, as a value, and in the form in which it lies on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from cognee_hooks.services.session_state import KEPT_SECONDS
from cognee_hooks.services.statefile import finite

REASON_LIMIT = 120
NAME_LIMIT = 200
_LARGEST = 10**12


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncRecord:
    """The syncs of one session. Times are epoch seconds, 0.0 for never.

    A sync that the server has taken on is not yet a sync that worked: until its run is known to
    have ended well, its entries count as new again once the cooldown is over.

    Attributes:
        session_id: The session.
        dataset: Its dataset.
        improved_at: When the server last took a sync on.
        count: Entries that the session had then.
        trigger: What brought it about.
        confirmed: Whether that sync is known to have ended well.
        confirmed_count: Entries that the session had at the last sync that ended well.
        failed_at: When a sync last failed, if none was taken on since.
        failure_reason: Why: ``timeout``, ``unreachable``, ``HTTP 503``, ``error``, …
        failure_trigger: What brought that one about.
        failures: How many failed in a row.
        needs_user: Only a person can mend the failure, such as a spent budget.
        waiting_since: Since when the session, which does not go on, has entries that the server is
            to take on: it was busy with another session, or away.
        server: The server that all of this is about, see `server_name`; "" where that is not
            known, as in records of the other plugins.
    """

    session_id: str = ""
    dataset: str = ""
    improved_at: float = 0.0
    count: int = 0
    trigger: str = ""
    confirmed: bool = True
    confirmed_count: int = 0
    failed_at: float = 0.0
    failure_reason: str = ""
    failure_trigger: str = ""
    failures: int = 0
    needs_user: bool = False
    waiting_since: float = 0.0
    server: str = ""

    @property
    def last_tried(self) -> float:
        """When a sync was last asked for, in epoch seconds; 0.0 for never."""
        return max(self.improved_at, self.failed_at)

    def new_entries(self, stored: int) -> int:
        """Return how many entries are not known to be lasting memory.

        A counter that stands lower than it did has begun anew, so all that it counts is new.

        Args:
            stored: Entries of the session that the server has stored.
        """
        done = self.count if self.confirmed else self.confirmed_count
        return _beyond(stored, done)

    def since_last(self, stored: int) -> int:
        """Return how many entries came since the server last took a sync on."""
        return self.new_entries(stored) if self.failures else _beyond(stored, self.count)

    def accepted(self, now: float, stored: int, trigger: str, *, confirmed: bool) -> SyncRecord:
        """Return the record after the server took a sync on; failures are forgotten."""
        return SyncRecord(
            session_id=self.session_id,
            dataset=self.dataset,
            improved_at=now,
            count=stored,
            trigger=trigger,
            confirmed=confirmed,
            confirmed_count=stored if confirmed else stored - self.new_entries(stored),
            server=self.server,
        )

    def ended_well(self) -> SyncRecord:
        """Return the record after the run of the last sync ended well."""
        return replace(self, confirmed=True, confirmed_count=self.count)

    def failed(
        self, now: float, reason: str, trigger: str, *, needs_user: bool = False
    ) -> SyncRecord:
        """Return the record after a sync failed; what is known of the last good one is kept."""
        return replace(
            self,
            failed_at=now,
            failure_reason=reason[:REASON_LIMIT],
            failure_trigger=trigger,
            failures=self.failures + 1,
            needs_user=needs_user,
            waiting_since=0.0,
        )

    def waits(self, now: float) -> SyncRecord:
        """Return the record of a session that does not go on, until the server takes it on."""
        since = 0.0 if self.given_up(now) else self.waiting_since
        return replace(self, waiting_since=since or now)

    def given_up(self, now: float) -> bool:
        """Tell whether it has waited for so long that nobody asks for it any more."""
        return 0 < self.waiting_since <= now - KEPT_SECONDS

    def to_json(self) -> dict[str, Any]:
        """Return the content of the file, in the form of the other cognee plugins.

        Their times are epoch milliseconds. ``outcome``, ``confirmed_count``, ``needs_user``,
        ``waiting_since`` and ``server`` are ours; they do not look at them.
        """
        content: dict[str, Any] = {"session_id": self.session_id, "dataset": self.dataset}
        if self.improved_at:
            content |= {
                "last_improved_at": round(self.improved_at * 1000),
                "turn_count_at_improve": self.count,
                "trigger": self.trigger,
                "outcome": "promoted" if self.confirmed else "submitted",
                "confirmed_count": self.confirmed_count,
            }
        if self.failures:
            content |= {
                "last_failed_at": round(self.failed_at * 1000),
                "last_failure_reason": self.failure_reason,
                "last_failure_trigger": self.failure_trigger,
                "failure_count": self.failures,
                "needs_user": self.needs_user,
            }
        if self.waiting_since:
            content["waiting_since"] = round(self.waiting_since * 1000)
        if self.server:
            content["server"] = self.server
        return content

    @classmethod
    def of_json(cls, content: Mapping[str, Any]) -> SyncRecord:
        """Read a file's content; what is missing or of another type counts as absent."""
        improved_at = _seconds(content, "last_improved_at")
        failed_at = _seconds(content, "last_failed_at")
        count = _count(content, "turn_count_at_improve") if improved_at else 0
        confirmed = not improved_at or content.get("outcome") != "submitted"
        return cls(
            session_id=_text(content, "session_id"),
            dataset=_text(content, "dataset"),
            improved_at=improved_at,
            count=count,
            trigger=_text(content, "trigger"),
            confirmed=confirmed,
            confirmed_count=count if confirmed else _count(content, "confirmed_count"),
            failed_at=failed_at,
            failure_reason=_text(content, "last_failure_reason")[:REASON_LIMIT],
            failure_trigger=_text(content, "last_failure_trigger"),
            failures=max(1, _count(content, "failure_count")) if failed_at else 0,
            needs_user=bool(failed_at) and content.get("needs_user") is True,
            waiting_since=_seconds(content, "waiting_since"),
            server=_text(content, "server"),
        )


def server_name(url: str) -> str:
    """Return what stands for a server in a record: its address may hold what is not for files."""
    return hashlib.sha256(url.encode("utf-8", "replace")).hexdigest()[:16]


def _beyond(stored: int, done: int) -> int:
    return stored - done if 0 <= done <= stored else stored


def _seconds(content: Mapping[str, Any], name: str) -> float:
    return int(max(0.0, finite(content.get(name)))) / 1000  # whole milliseconds


def _count(content: Mapping[str, Any], name: str) -> int:
    return int(min(max(finite(content.get(name)), 0.0), _LARGEST))


def _text(content: Mapping[str, Any], name: str) -> str:
    value = content.get(name)
    return value[:NAME_LIMIT] if isinstance(value, str) else ""

"""Adds up ledgers: what was captured and recalled, and what that put into the model's context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from cognee_hooks.faults import ON_PURPOSE
from cognee_hooks.history.sessions import KnownSession
from cognee_hooks.printable import one_line
from cognee_hooks.results import AT_THE_SERVER, Act
from cognee_hooks.services.ledger_file import LedgerRow

HIT, NOTHING = "hit", "nothing"
"""What a row of `Act.RECALLED` says where memory could be asked; else it says why it could not."""
BYTES_A_TOKEN = 4
"""The usual rule of thumb for English text and code; the tokenizer is the model's own secret."""
GAP_SECONDS = 15 * 60.0
"""Silence that ends a stretch of work."""

Entry = tuple[KnownSession, LedgerRow]


@dataclass(slots=True)
class Usage:
    """What was done.

    Attributes:
        counts: How often each act was done.
        kinds: The same, by what it was done with.
        injected_bytes: Size of what went into the model's context.
        recall_seconds: How long prompts waited for memory, all together.
        sessions: Ids of the sessions.
        first: When the first row was written, epoch seconds; 0.0 where there is none.
        last: When the last one was.
    """

    counts: Counter[Act] = field(default_factory=Counter)
    kinds: Counter[tuple[Act, str]] = field(default_factory=Counter)
    injected_bytes: int = 0
    recall_seconds: float = 0.0
    sessions: set[str] = field(default_factory=set)
    first: float = 0.0
    last: float = 0.0

    def add(self, session: KnownSession, row: LedgerRow) -> None:
        """Count a row."""
        count = max(0, row.count)  # anything may stand in a file
        self.counts[row.act] += count
        self.kinds[row.act, one_line(row.what)] += count
        self.sessions.add(session.session_id or session.stem)
        if row.time > 0:  # a row of another program may not tell when
            self.first = min(self.first or row.time, row.time)
        self.last = max(self.last, row.time)
        if row.act is Act.INJECTED:
            self.injected_bytes += max(0, row.size or 0)
        elif row.act is Act.RECALLED:
            self.recall_seconds += max(0.0, row.seconds or 0.0)

    def include(self, other: Usage) -> None:
        """Count what was counted elsewhere."""
        self.counts.update(other.counts)
        self.kinds.update(other.kinds)
        self.injected_bytes += other.injected_bytes
        self.recall_seconds += other.recall_seconds
        self.sessions |= other.sessions
        self.first = min(self.first or other.first, other.first or self.first)
        self.last = max(self.last, other.last)

    @property
    def sent(self) -> int:
        """Captured entries that the server has."""
        return sum(self.counts[act] for act in AT_THE_SERVER)

    @property
    def left_out(self) -> int:
        """Tool calls that were not captured, since nobody wants them to be."""
        return sum(self.kinds[Act.DROPPED, reason.value] for reason in ON_PURPOSE)

    @property
    def lost(self) -> int:
        """What is gone, could not be made safe, or is refused by the server for good."""
        return self.counts[Act.DROPPED] - self.left_out + self.counts[Act.QUARANTINED]

    @property
    def hits(self) -> int:
        """Recalls that brought something."""
        return self.kinds[Act.RECALLED, HIT]

    @property
    def answered(self) -> int:
        """Recalls for which memory could be asked."""
        return self.hits + self.kinds[Act.RECALLED, NOTHING]

    @property
    def hit_rate(self) -> float | None:
        """Share of the answered recalls that brought something; None without any."""
        return self.hits / self.answered if self.answered else None

    @property
    def tokens(self) -> int:
        """About how many tokens of context were used."""
        return tokens_of(self.injected_bytes)

    def by_kind(self, act: Act) -> list[tuple[str, int]]:
        """Return what an act was done with and how often, the most frequent first."""
        found = [(what, count) for (done, what), count in self.kinds.items() if done is act]
        return sorted(found, key=lambda each: (-each[1], each[0]))

    def as_json(self) -> dict[str, Any]:
        """Return everything for programs."""
        return {
            "sessions": len(self.sessions),
            "first": self.first or None,
            "last": self.last or None,
            "captured": self.counts[Act.CAPTURED],
            "redacted": self.counts[Act.REDACTED],
            "sent": self.sent,
            "left_out": self.left_out,
            "lost": self.lost,
            "recalls": self.counts[Act.RECALLED],
            "answered": self.answered,
            "hits": self.hits,
            "hit_rate": self.hit_rate,
            "recall_seconds": round(self.recall_seconds, 3),
            "injected": self.counts[Act.INJECTED],
            "injected_bytes": self.injected_bytes,
            "tokens_estimated": self.tokens,
            "compacted": self.counts[Act.COMPACTED],
            "synced": self.counts[Act.SYNCED],
        }


@dataclass(slots=True)
class Stretch:
    """A time in which a session was at work without a longer pause.

    Attributes:
        session: The session.
        usage: What was done.
    """

    session: KnownSession
    usage: Usage = field(default_factory=Usage)


def entries(sessions: Iterable[KnownSession], since: float = 0.0) -> Iterator[Entry]:
    """Yield what was done in sessions, as far as it is still kept.

    What plugins took is not among it: that is recorded when a session ends, which is when nothing
    is done any more; see `cognee_hooks.history.plugin_times`.

    Args:
        sessions: The sessions.
        since: Epoch seconds; older rows are passed over.
    """
    for session in sessions:
        if session.last >= since:
            rows = session.ledger.rows()
            yield from (
                (session, row) for row in rows if row.time >= since and row.act is not Act.RAN
            )


def grouped(
    rows: Iterable[Entry], by: Callable[[KnownSession, LedgerRow], str]
) -> dict[str, Usage]:
    """Return what was done in each group.

    Args:
        rows: The rows.
        by: Names the group of a row.
    """
    groups: dict[str, Usage] = {}
    for session, row in rows:
        groups.setdefault(by(session, row), Usage()).add(session, row)
    return groups


def stretches(sessions: Iterable[KnownSession], since: float = 0.0) -> list[Stretch]:
    """Return when sessions were at work, the earliest first.

    Args:
        sessions: The sessions.
        since: Epoch seconds; older rows are passed over.
    """
    found: list[Stretch] = []
    for session in sessions:
        now: Stretch | None = None
        # Several processes write, each with its own idea of "now".
        for _, row in sorted(entries([session], since), key=lambda each: each[1].time):
            if now is None or row.time - now.usage.last > GAP_SECONDS:
                now = Stretch(session)
                found.append(now)
            now.usage.add(session, row)
    return sorted(found, key=lambda each: each.usage.first)


def day_of(row: LedgerRow) -> str:
    """Return the day of a row in the person's own time; ``?`` for one that no calendar has."""
    try:
        return datetime.fromtimestamp(row.time).astimezone().date().isoformat()
    except (OverflowError, ValueError, OSError):
        return "?"


def tokens_of(size: int) -> int:
    """Return about how many tokens a text of so many bytes is."""
    return -(-size // BYTES_A_TOKEN)

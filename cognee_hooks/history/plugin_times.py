"""What plugins took: in sessions that have ended by their ledgers, in live ones by the daemon.

Nothing is counted twice, since a session's ledger is told of it when the session ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cognee_hooks.history.listing import live_rows
from cognee_hooks.history.sessions import KnownSession
from cognee_hooks.history.usage import Entry
from cognee_hooks.plugin_report import PluginReport, read_reports, together
from cognee_hooks.printable import brief, one_line
from cognee_hooks.results import Act


@dataclass(slots=True)
class PluginTimes:
    """What one plugin took.

    Attributes:
        calls: How often it was called.
        seconds: Wall time of all calls.
        sessions: Ids of the sessions.
        live: What it does in live sessions; None where there are none with it.
    """

    calls: int = 0
    seconds: float = 0.0
    sessions: set[str] = field(default_factory=set)
    live: PluginReport | None = None

    @property
    def mean(self) -> float:
        """Seconds of a call on average."""
        return self.seconds / self.calls if self.calls else 0.0


def live_reports(told: Mapping[str, Any] | None) -> dict[str, PluginReport]:
    """Return what plugins do in live sessions, by name.

    Args:
        told: What the daemon answered to ``plugins``; None where none runs.
    """
    return together(report for _, report in _alive(told))


def ran(sessions: Iterable[KnownSession], since: float = 0.0) -> Iterator[Entry]:
    """Yield the rows that tell what plugins took in sessions.

    Args:
        sessions: The sessions that have a ledger.
        since: Epoch seconds; what ended before is passed over.
    """
    for session in sessions:
        rows = session.ledger.rows() if session.last >= since else ()
        yield from ((session, row) for row in rows if row.act is Act.RAN and row.time >= since)


def plugin_times(rows: Iterable[Entry], told: Mapping[str, Any] | None) -> dict[str, PluginTimes]:
    """Return what plugins took, by name.

    Args:
        rows: What sessions recorded when they ended; see `ran`.
        told: What the daemon answered to ``plugins``; None where none runs.
    """
    times: dict[str, PluginTimes] = {}
    for session, row in rows:
        time = times.setdefault(brief(row.what), PluginTimes())
        time.calls += max(0, row.count)  # anything may stand in a file
        time.seconds += max(0.0, row.seconds or 0.0)
        time.sessions.add(session.session_id or session.stem)
    for session_id, report in _alive(told):
        time = times.setdefault(report.name, PluginTimes())
        time.calls += report.calls
        time.seconds += report.seconds
        time.sessions.add(session_id)
    for name, live in live_reports(told).items():
        times[name].live = live
    return times


def _alive(told: Mapping[str, Any] | None) -> Iterator[tuple[str, PluginReport]]:
    for session in live_rows(told):
        session_id = one_line(str(session.get("session_id")))
        for report in read_reports(session.get("plugins")):
            yield session_id, report

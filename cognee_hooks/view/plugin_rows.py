"""How plugins do, in all sessions together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cognee_hooks.history.listing import live_rows
from cognee_hooks.plugin_report import HookReport, read_reports
from cognee_hooks.printable import one_line
from cognee_hooks.registry import PluginRecord
from cognee_hooks.services.names import session_file_stem
from cognee_hooks.timings import Timing
from cognee_hooks.view.sources import RecordedSession
from cognee_hooks.view.tidy import count, label, seconds

MAX_PLUGINS = 300
MAX_HOOKS = 60


@dataclass(slots=True)
class _Hook:
    """What a plugin did in a hook, in all sessions."""

    calls: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    faults: int = 0
    slow: int = 0
    quarantined: bool = False
    last_fault: str = ""

    def add(self, report: HookReport) -> None:
        self.calls += report.calls
        self.seconds += report.seconds
        self.slowest = max(self.slowest, report.slowest)
        self.faults += report.faults
        self.slow += report.slow
        self.quarantined = self.quarantined or report.quarantined
        self.last_fault = report.last_fault or self.last_fault


@dataclass(slots=True)
class _Plugin:
    """What a plugin did in all sessions."""

    sessions: set[str] = field(default_factory=set)
    calls: int = 0
    seconds: float = 0.0
    hooks: dict[str, _Hook] = field(default_factory=dict)

    def add(self, session: str, timing: Timing | HookReport) -> None:
        self.sessions.add(session)
        self.calls += timing.calls
        self.seconds += timing.seconds


def plugin_rows(
    records: Iterable[PluginRecord],
    told: Mapping[str, Any] | None,
    recorded: Iterable[RecordedSession],
) -> list[dict[str, Any]]:
    """Return all plugins; those that only sessions have come last.

    Calls and seconds are those of all sessions; what is told by hook, is told of live ones.

    Args:
        records: Those that there are, active or not.
        told: What the daemon answered to ``plugins``; None where none runs.
        recorded: What ledgers tell of sessions that have ended, or had and go on.
    """
    did: dict[str, _Plugin] = {}
    for session in recorded:
        for name, timing in session.ran.items():
            did.setdefault(name, _Plugin()).add(session.known.stem, timing)
    for live in live_rows(told):
        _add_live(did, live)
    rows = [_row(_about(each), did.pop(each.name, _Plugin())) for each in records]
    rows += [_row({"name": label(name)}, each) for name, each in sorted(did.items())]
    return rows[:MAX_PLUGINS]


def _add_live(did: dict[str, _Plugin], live: Mapping[str, Any]) -> None:
    stem = session_file_stem(one_line(str(live.get("session_id", ""))))
    for report in read_reports(live.get("plugins")):
        plugin = did.setdefault(report.name, _Plugin())
        for hook in report.hooks:
            plugin.add(stem, hook)
            plugin.hooks.setdefault(hook.hook, _Hook()).add(hook)


def _about(record: PluginRecord) -> dict[str, Any]:
    return {
        "name": label(record.name),
        "package": label(record.distribution),
        "version": label(record.version),
        "built_in": record.built_in,
        "state": record.state.value,
        "reason": label(record.reason, 500),
    }


def _row(about: Mapping[str, Any], did: _Plugin) -> dict[str, Any]:
    unknown = dict.fromkeys(("package", "version", "built_in", "state", "reason"))
    hooks = list(did.hooks.items())[:MAX_HOOKS]
    every = [each for _, each in hooks]
    return {
        **unknown,
        **about,
        "sessions": len(did.sessions),
        "calls": count(did.calls),
        "seconds": seconds(did.seconds),
        "slowest": seconds(max((each.slowest for each in every), default=None)),
        "faults": count(sum(each.faults for each in every)),
        "last_fault": label(next((each.last_fault for each in every if each.last_fault), None)),
        "slow": count(sum(each.slow for each in every)),
        "quarantined": [label(name) for name, each in hooks if each.quarantined],
        "hooks": [
            {
                "hook": label(name),
                "calls": count(each.calls),
                "seconds": seconds(each.seconds),
                "slowest": seconds(each.slowest),
                "faults": count(each.faults),
            }
            for name, each in hooks
        ],
    }

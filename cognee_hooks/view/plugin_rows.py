"""How plugins do, in all sessions together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cognee_hooks.history.listing import live_rows
from cognee_hooks.plugin_report import HookReport, read_reports
from cognee_hooks.registry import PluginRecord
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

    sessions: int = 0
    hooks: dict[str, _Hook] = field(default_factory=dict)


def plugin_rows(
    records: Iterable[PluginRecord], told: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    """Return all plugins; those that only live sessions have come last.

    Args:
        records: Those that there are, active or not.
        told: What the daemon answered to ``plugins``; None where none runs.
    """
    did = _did(told)
    rows = [_row(_about(each), did.pop(each.name, _Plugin())) for each in records]
    rows += [_row({"name": label(name)}, each) for name, each in sorted(did.items())]
    return rows[:MAX_PLUGINS]


def _did(told: Mapping[str, Any] | None) -> dict[str, _Plugin]:
    did: dict[str, _Plugin] = {}
    for session in live_rows(told):
        for report in read_reports(session.get("plugins")):
            plugin = did.setdefault(report.name, _Plugin())
            plugin.sessions += 1
            for hook in report.hooks:
                plugin.hooks.setdefault(hook.hook, _Hook()).add(hook)
    return did


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
        "sessions": did.sessions,
        "calls": count(sum(each.calls for each in every)),
        "seconds": seconds(sum(each.seconds for each in every)),
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

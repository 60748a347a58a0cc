"""How plugins do, in all sessions together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cognee_hooks.history.plugin_times import PluginTimes, plugin_times
from cognee_hooks.plugin_report import HookReport, PluginReport
from cognee_hooks.printable import brief
from cognee_hooks.registry import PluginRecord
from cognee_hooks.view.sources import RecordedSession
from cognee_hooks.view.tidy import count, label, seconds

MAX_PLUGINS = 300
MAX_HOOKS = 60

_REASON_BYTES = 500


def plugin_rows(
    records: Iterable[PluginRecord],
    told: Mapping[str, Any] | None,
    recorded: Iterable[RecordedSession],
) -> list[dict[str, Any]]:
    """Return all plugins; those that only sessions have come last.

    Calls and seconds are those of all sessions; everything else is told of live ones.

    Args:
        records: Those that there are, active or not.
        told: What the daemon answered to ``plugins``; None where none runs.
        recorded: What ledgers tell of sessions that have ended, or had and go on.
    """
    times = plugin_times(((each.known, row) for each in recorded for row in each.ran), told)
    rows = [_row(_about(each), times.pop(brief(each.name), PluginTimes())) for each in records]
    rows += [_row({"name": label(name)}, each) for name, each in sorted(times.items())]
    return rows[:MAX_PLUGINS]


def _about(record: PluginRecord) -> dict[str, Any]:
    return {
        "name": label(record.name),
        "package": label(record.distribution),
        "version": label(record.version),
        "built_in": record.built_in,
        "state": record.state.value,
        "reason": label(record.reason, _REASON_BYTES),
    }


def _row(about: Mapping[str, Any], took: PluginTimes) -> dict[str, Any]:
    unknown = dict.fromkeys(("package", "version", "built_in", "state", "reason"))
    live = took.live or PluginReport(name="", hooks=())
    return {
        **unknown,
        **about,
        "sessions": len(took.sessions),
        "calls": count(took.calls),
        "seconds": seconds(took.seconds),
        "slowest": seconds(live.slowest) if live.hooks else None,
        "faults": count(live.faults),
        "last_fault": label(next((each.last_fault for each in live.hooks if each.faults), None)),
        "slow": count(sum(each.slow for each in live.hooks)),
        "quarantined": [label(name) for name in live.quarantined[:MAX_HOOKS]],
        "hooks": [_hook(each) for each in live.hooks[:MAX_HOOKS]],
    }


def _hook(report: HookReport) -> dict[str, Any]:
    return {
        "hook": label(report.hook),
        "calls": count(report.calls),
        "seconds": seconds(report.seconds),
        "slowest": seconds(report.slowest),
        "faults": count(report.faults),
    }

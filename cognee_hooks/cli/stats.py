"""``cognee-hooks stats``: what memory did, and what it cost, added up from the ledgers.

By plugin it shows what plugins took; live sessions are in that, since they tell of it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cognee_hooks.cli import live_plugins
from cognee_hooks.cli.common import add_json_option, print_json, print_table
from cognee_hooks.cli.since import since
from cognee_hooks.history.plugin_times import PluginTimes, plugin_times, ran
from cognee_hooks.history.sessions import KnownSession, known_sessions
from cognee_hooks.history.usage import Usage, day_of, entries, grouped
from cognee_hooks.results import Act
from cognee_hooks.services.ledger_file import LedgerRow
from cognee_hooks.services.process import current_environ

DEFAULT_SINCE = "30d"
"""As long as the ledger of a session that nobody goes on with is kept."""

_TIME_HEADINGS = ("sessions", "calls", "seconds", "mean ms", *live_plugins.HEADINGS)
_GROUPS: Mapping[str, Callable[[KnownSession, LedgerRow], str]] = {
    "day": lambda _, row: day_of(row),
    "agent": lambda session, _: session.agent or "?",
    "dataset": lambda session, _: session.dataset or "?",
}
_PLUGIN = "plugin"
_HEADINGS = (
    "sessions",
    "captured",
    "redacted",
    "sent",
    "lost",
    "recalls",
    "hit rate",
    "injected",
    "~tokens",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_json_option(parser)
    parser.add_argument(
        "--by",
        choices=(*_GROUPS, _PLUGIN),
        default="day",
        help="what to add up by; of plugins, what they took",
    )
    parser.add_argument(
        "--since",
        default=DEFAULT_SINCE,
        metavar="TIME",
        help=f"24h, 7d, 2w, month, all, or a date (default: {DEFAULT_SINCE})",
    )


def run(options: argparse.Namespace) -> int:
    """Print one row a group, and the sum of all."""
    start = since(options.since, time.time())
    if options.by == _PLUGIN:
        return _plugins(start, as_json=options.json)
    rows = list(entries(known_sessions(current_environ()), start))
    groups = grouped(rows, _GROUPS[options.by])
    total = grouped(rows, lambda *_: "").get("", Usage())
    if options.json:
        by_name = {name: groups[name].as_json() for name in sorted(groups)}
        print_json(
            {
                "since": start or None,
                "by": options.by,
                "groups": by_name,
                "total": total.as_json(),
                "redactions": dict(total.by_kind(Act.REDACTED)),
            }
        )
    elif not groups:
        print("Nothing is recorded for that time.")
    else:
        rows_shown = [*((name, groups[name]) for name in sorted(groups)), ("all", total)]
        table = [(name, *_cells(usage)) for name, usage in rows_shown]
        print_table((options.by, *_HEADINGS), table)
    return 0


def _plugins(start: float, *, as_json: bool) -> int:
    environ = current_environ()
    # Asked first: of a session that ends in between, better all is told twice than nothing.
    told = live_plugins.ask(environ)
    times = plugin_times(ran(known_sessions(environ), start), told)
    if as_json:
        groups = {name: _times_as_json(times[name]) for name in sorted(times)}
        print_json({"since": start or None, "by": _PLUGIN, "groups": groups})
    elif not times:
        print("Nothing is recorded for that time.")
    else:
        by_time = sorted(times, key=lambda name: (-times[name].seconds, name))
        print_table((_PLUGIN, *_TIME_HEADINGS), [(n, *_time_cells(times[n])) for n in by_time])
        if any(each.live for each in times.values()):
            print("Slowest calls, faults and what is switched off: of live sessions only.")
    return 0


def _times_as_json(times: PluginTimes) -> Mapping[str, Any]:
    return {
        "sessions": len(times.sessions),
        "calls": times.calls,
        "seconds": round(times.seconds, 3),
        "mean_ms": live_plugins.milliseconds(times.mean),
        "live": live_plugins.as_json(times.live),
    }


def _time_cells(times: PluginTimes) -> Sequence[str]:
    live = times.live
    return (
        str(len(times.sessions)),
        f"{times.calls:,}",
        f"{times.seconds:,.1f}",
        f"{live_plugins.milliseconds(times.mean):,.1f}",
        *(live_plugins.cells(live) if live else ("", "", "")),
    )


def _cells(usage: Usage) -> Sequence[str]:
    counts = usage.counts
    return (
        str(len(usage.sessions)),
        str(counts[Act.CAPTURED]),
        str(counts[Act.REDACTED]),
        str(usage.sent),
        str(usage.lost),
        str(counts[Act.RECALLED]),
        "" if usage.hit_rate is None else f"{usage.hit_rate:.0%}",
        str(counts[Act.INJECTED]),
        f"{usage.tokens:,}",
    )

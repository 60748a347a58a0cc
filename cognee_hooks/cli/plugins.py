"""``cognee-hooks plugins``."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from cognee_hooks.cli import live_plugins, plugin_switch, plugin_trace
from cognee_hooks.cli.common import (
    add_host_options,
    add_json_option,
    make_host,
    print_json,
    print_problems,
    print_table,
)
from cognee_hooks.errors import UsageError
from cognee_hooks.history.plugin_times import live_reports
from cognee_hooks.host import Host
from cognee_hooks.plugin_report import PluginReport
from cognee_hooks.printable import brief, clean, one_line
from cognee_hooks.registry import PluginRecord, PluginState, declared_policies
from cognee_hooks.services.process import current_environ

_PREFIX = "cognee_"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_host_options(parser)
    add_json_option(parser)
    parser.add_argument("--all", action="store_true", help="also those that are not active")
    parser.add_argument("--hook", metavar="HOOK", help="only those that implement this hook")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")
    plugin_switch.configure(actions)
    plugin_trace.configure(actions)


def run(options: argparse.Namespace) -> int:
    """List plugins, switch one on or off, or trace an event through them."""
    if options.action in plugin_switch.ACTIONS:
        return plugin_switch.run(options)
    if options.action == plugin_trace.ACTION:
        return plugin_trace.run(options)
    return _list(options)


def _list(options: argparse.Namespace) -> int:
    wanted = _hook(options.hook) if options.hook else ""
    host = make_host(options.agent, options.plugins)
    records = [
        record
        for record in host.registry.records
        if (options.all or record.state is PluginState.ACTIVE)
        and (not wanted or wanted in record.hooks)
    ]
    live = live_reports(live_plugins.ask(current_environ()))
    if options.json:
        print_json([_as_json(host, record, live.get(brief(record.name))) for record in records])
        return 0
    print_table(
        ("plugin", "state", "package", "hooks", "reason"),
        [
            (
                record.name,
                record.state.value,
                f"{record.distribution} {record.version}".strip(),
                ", ".join(hook.removeprefix(_PREFIX) for hook in record.hooks),
                record.reason,
            )
            for record in records
        ],
    )
    for record in records:
        for text in record.deprecations:
            print(clean(f"! {record.name}: {text}"), file=sys.stderr)
    hidden = len(host.registry.records) - len(records)
    if hidden and not options.all and not options.hook:
        print(f"{hidden} more not active; --all shows them and why.")
    # Sessions may have plugins that only their agents' environments name.
    names = {brief(record.name) for record in records} if wanted else live.keys()
    live_plugins.show((each for name, each in live.items() if name in names))
    print_problems(host)
    return 0


def _hook(name: str) -> str:
    """Return a hook's whole name; the table shows it without what all names begin with."""
    known = declared_policies()
    for each in (name, f"{_PREFIX}{name}"):
        if each in known:
            return each
    raise UsageError(f"no hook is called {one_line(name)!r}; `cognee-hooks hooks` lists them")


def _as_json(host: Host, record: PluginRecord, live: PluginReport | None) -> dict[str, Any]:
    return {
        "name": record.name,
        "distribution": record.distribution,
        "version": record.version,
        "state": record.state.value,
        "reason": record.reason,
        "hooks": list(record.hooks),
        "deprecations": list(record.deprecations),
        "built_in": record.built_in,
        "load_ms": round(record.load_seconds * 1000, 1),
        "faults": [
            {"hook": fault.hook, "type": fault.error_type, "count": fault.count}
            for fault in host.faults.rows(record.name)
        ],
        "live": live_plugins.as_json(live),
    }

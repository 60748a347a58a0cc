"""What plugins do in live sessions, for ``plugins`` and ``doctor``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from cognee_hooks.cli.common import print_table
from cognee_hooks.daemon import control
from cognee_hooks.doctor import conduct
from cognee_hooks.doctor.rows import ok
from cognee_hooks.history.listing import live_rows
from cognee_hooks.history.plugin_times import live_reports
from cognee_hooks.services.paths import Paths

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.host import Host
    from cognee_hooks.plugin_report import PluginReport
    from cognee_hooks.results import CheckResult

ROW = "live plugins"
"""Name of the rows in ``doctor``."""
HEADINGS = ("slowest ms", "faults", "switched off in")
"""Of what only live sessions tell."""


def ask(environ: Mapping[str, str], deadline: Deadline | None = None) -> Mapping[str, Any]:
    """Return what the daemon tells of plugins; nothing where none runs.

    Args:
        environ: The environment.
        deadline: When to give up.
    """
    return control.ask(Paths.of(environ, "daemon").daemon_dir, "plugins", deadline) or {}


def checks(told: Mapping[str, Any], host: Host) -> list[CheckResult]:
    """Return the rows of ``doctor``; none without live sessions.

    Args:
        told: See `ask`.
        host: Knows which plugins come with us.
    """
    sessions = live_rows(told)
    if not sessions:
        return []
    found = conduct.checks(ROW, live_reports(told).values(), host.registry.is_built_in)
    count = "1 live session" if len(sessions) == 1 else f"{len(sessions)} live sessions"
    return found or [ok(ROW, f"none of them fails or is slow in {count}")]


def as_json(report: PluginReport | None) -> Mapping[str, Any] | None:
    """Return what a plugin does in live sessions for programs; None where it is in none."""
    if report is None:
        return None
    return {
        "sessions": report.sessions,
        "calls": report.calls,
        "mean_ms": milliseconds(report.mean),
        "slowest_ms": milliseconds(report.slowest),
        "faults": report.faults,
        "quarantined": report.quarantined,
        "hooks": report.as_json()["hooks"],
    }


def show(reports: Iterable[PluginReport]) -> None:
    """Print a table of what plugins do in live sessions; nothing where there are none."""
    rows = [
        (each.name, f"{each.calls:,}", f"{milliseconds(each.mean):,.1f}", *cells(each))
        for each in reports
    ]
    if rows:
        print("In live sessions:")
        print_table(("plugin", "calls", "mean ms", *HEADINGS), rows)


def cells(report: PluginReport) -> tuple[str, str, str]:
    """Return what stands under `HEADINGS`."""
    return (
        f"{milliseconds(report.slowest):,.1f}",
        str(report.faults or ""),
        ", ".join(hook.removeprefix("cognee_") for hook in report.quarantined),
    )


def milliseconds(seconds: float) -> float:
    """Return seconds as milliseconds, to a tenth."""
    return round(seconds * 1000, 1)

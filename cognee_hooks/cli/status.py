"""``cognee-hooks status``: daemon, server and what waits, on one page."""

from __future__ import annotations

import argparse
import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cognee_hooks.agents import DEFAULT_AGENT
from cognee_hooks.cli.common import (
    add_json_option,
    make_host,
    print_json,
    print_table,
)
from cognee_hooks.cli.words import ago, counted, span
from cognee_hooks.core_commands import aligned
from cognee_hooks.daemon import control
from cognee_hooks.deadline import Deadline
from cognee_hooks.history.sessions import known_sessions
from cognee_hooks.history.waiting import Waiting, quarantined_files, waiting_files
from cognee_hooks.overview import Overview, overview
from cognee_hooks.printable import clean, one_line
from cognee_hooks.results import Act, StatusRow
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.process import current_environ

LOOK_SECONDS = 3.0
CLOSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusReport:
    """What there is to know.

    Attributes:
        daemon: Whether it runs, and what it serves.
        seen: What agents show of it, too: server, dataset, what is in force.
        waiting: Files of entries that wait.
        quarantined: Files of entries that can never be sent.
        totals: How often each act was done in all sessions whose ledger is kept.
    """

    daemon: Mapping[str, Any]
    seen: Overview
    waiting: list[Waiting]
    quarantined: list[Waiting]
    totals: Mapping[str, int]


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_json_option(parser)
    parser.add_argument(
        "--agent",
        default=DEFAULT_AGENT,
        help=f"agent whose settings name the server (default: {DEFAULT_AGENT})",
    )


def run(options: argparse.Namespace) -> int:
    """Show how things are; that something is not well does not change the exit code."""
    now = time.time()
    report = collect(current_environ(), options.agent, now)
    if options.json:
        print_json(_as_json(report))
    else:
        _print(report, now)
    return 0


def collect(environ: Mapping[str, str], agent: str, now: float) -> StatusReport:
    """Look at daemon, server and files.

    Args:
        environ: The environment.
        agent: Agent whose settings name the server.
        now: Epoch seconds.
    """
    sessions = known_sessions(environ)
    by_stem = {each.stem: each for each in sessions}
    totals: Counter[Act] = Counter()
    for session in sessions:
        totals.update(session.ledger.totals())
    return StatusReport(
        daemon=_daemon(Paths.of(environ, "daemon").daemon_dir),
        seen=asyncio.run(_seen(environ, agent)),
        waiting=waiting_files(environ, by_stem, now=now),
        quarantined=quarantined_files(environ, by_stem, now=now),
        totals={act.value: totals[act] for act in Act if totals[act] and act is not Act.RAN},
    )


def _daemon(folder: Path) -> Mapping[str, Any]:
    reply = control.ask(folder, "status") or {}
    rows = reply.get("sessions")
    version, pid, kept = (reply.get(name) for name in ("version", "pid", "kept"))
    return {
        "running": bool(reply) or control.runs(folder),
        "answers": bool(reply),
        "version": one_line(version) if isinstance(version, str) else None,
        "pid": pid if isinstance(pid, int) else None,
        "sessions": len(rows) if isinstance(rows, list) else 0,
        "events_kept": kept if isinstance(kept, int) else 0,
        "events_spooled": sum(1 for _ in (folder / "spool").glob("*.event")),
    }


async def _seen(environ: Mapping[str, str], agent: str) -> Overview:
    host = make_host(agent, [], environ=environ)
    try:
        return await overview(host, Deadline.after(LOOK_SECONDS), live=False)
    finally:
        await host.close(Deadline.after(CLOSE_SECONDS))


def _as_json(report: StatusReport) -> Mapping[str, Any]:
    return {
        "daemon": report.daemon,
        "server": asdict(report.seen.server),
        "rows": [asdict(row) for row in report.seen.rows],
        "waiting": [_file(each) for each in report.waiting],
        "quarantined": [_file(each) for each in report.quarantined],
        "totals": report.totals,
    }


def _file(waiting: Waiting) -> Mapping[str, Any]:
    return {
        "file": str(waiting.file),
        "agent": waiting.agent,
        "session_id": waiting.session_id,
        "entries": waiting.entries,
        "oldest": waiting.oldest,
        "retry_at": waiting.retry_at,
        "problem": waiting.problem,
    }


def _print(report: StatusReport, now: float) -> None:
    waiting, aside = report.waiting, report.quarantined
    rows = [
        StatusRow(label="Daemon", text=_about_daemon(report.daemon)),
        *report.seen.rows,
        StatusRow(label="Waiting", text=_about(waiting) or "nothing"),
    ]
    if aside:
        rows.append(StatusRow(label="Aside", text=f"{_about(aside)}, which can never be sent"))
    if report.totals:
        text = f"{_counts(report.totals)}; see `cognee-hooks ledger`"
        rows.append(StatusRow(label="Recorded", text=text))
    print(clean("\n".join(aligned(rows))))
    if not report.seen.server.connected:
        print("`cognee-hooks doctor` says what to do about the server.")
    for heading, files in (("Waiting", waiting), ("Put aside", aside)):
        if files:
            print(f"\n{heading}:")
            _print_files(files, now)


def _about_daemon(daemon: Mapping[str, Any]) -> str:
    if not daemon["running"]:
        text = "does not run; the next event of an agent starts it"
    elif not daemon["answers"]:
        text = "does not answer; if that lasts, see `cognee-hooks daemon logs`"
    else:
        sessions = counted(daemon["sessions"], "session")
        text = f"runs, version {daemon['version']}, process {daemon['pid']}, {sessions}"
    kept = daemon["events_kept"] + daemon["events_spooled"]
    return f"{text}; keeps {counted(kept, 'event')}" if kept else text


def _counts(totals: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {act}" for act, count in totals.items())


def _about(files: Iterable[Waiting]) -> str:
    """Return how many entries there are in files; "" where there are no files."""
    counts = [each.entries for each in files]
    entries = counted(sum(counts), "entry", "entries")
    return f"{entries} in {counted(len(counts), 'file')}" if counts else ""


def _print_files(files: Iterable[Waiting], now: float) -> None:
    print_table(
        ("session", "agent", "entries", "oldest", "next try", "note"),
        [
            (
                each.session_id or "?",
                each.agent or "?",
                str(each.entries),
                ago(each.oldest, now),
                f"in {span(each.retry_at - now)}" if each.retry_at else "",
                f"{each.file}: {each.problem}" if each.problem else "",
            )
            for each in files
        ],
    )

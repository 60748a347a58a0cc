"""``cognee-hooks status``: daemon, server and what waits, on one page."""

from __future__ import annotations

import argparse
import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cognee_hooks.cli.common import DEFAULT_AGENT, add_json_option, print_json, print_table
from cognee_hooks.cli.state import Waiting, known_sessions, quarantined_files, waiting_files
from cognee_hooks.cli.words import ago, counted, span
from cognee_hooks.core_settings import CoreSettings, decide_mode
from cognee_hooks.daemon import control
from cognee_hooks.deadline import Deadline
from cognee_hooks.injection import one_line
from cognee_hooks.results import Act
from cognee_hooks.services.bundle import Services, make_services
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.process import current_environ
from cognee_hooks.settings import Settings

PROBE_SECONDS = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What there is to know.

    Attributes:
        daemon: Whether it runs, and what it serves.
        server: Which one, and how it is.
        waiting: Files of entries that wait.
        quarantined: Files of entries that can never be sent.
        totals: How often each act was done in all sessions whose ledger is kept.
    """

    daemon: Mapping[str, Any]
    server: Mapping[str, Any]
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


def collect(environ: Mapping[str, str], agent: str, now: float) -> Report:
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
    return Report(
        daemon=_daemon(Paths.of(environ, "daemon").daemon_dir),
        server=asyncio.run(_server(_services(environ, agent))),
        waiting=waiting_files(environ, by_stem, now=now),
        quarantined=quarantined_files(environ, by_stem, now=now),
        totals={act.value: totals[act] for act in Act if totals[act]},
    )


def bare(url: str) -> str:
    """Return an address without what may be secret in it: user, password, query, fragment.

    What is no address of a server is ``?``.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host:
        return "?"
    host = f"[{host}]" if ":" in host else host
    return one_line(f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path}")


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


def _services(environ: Mapping[str, str], agent: str) -> Services:
    # Without plugins, which could hold us up and change nothing about what is asked here.
    paths = Paths.of(environ, agent)
    settings = Settings.load(
        environ,
        config_file=paths.config_file,
        env_file=paths.env_file,
        project_dir=Path.cwd(),
    )
    core = settings.resolve("", CoreSettings)
    mode = decide_mode(settings, core, agent)
    return make_services(core, mode, paths, key_source="", clock=time.monotonic)


async def _server(services: Services) -> Mapping[str, Any]:
    mode, health = services.mode, services.health
    state, milliseconds = "no address", None
    if not mode.missing_base_url:
        began = time.monotonic()
        state = await health.probe(Deadline.after(PROBE_SECONDS))
        milliseconds = round((time.monotonic() - began) * 1000)
    await services.client.aclose()
    return {
        "mode": mode.backend,
        "url": bare(mode.url) if mode.url else "",
        "why": mode.reason,
        "state": state,
        "version": one_line(health.version),
        "detail": one_line(health.detail),
        "milliseconds": milliseconds,
    }


def _as_json(report: Report) -> Mapping[str, Any]:
    return {
        "daemon": report.daemon,
        "server": report.server,
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


def _print(report: Report, now: float) -> None:
    print(f"Daemon:   {_about_daemon(report.daemon)}")
    print(f"Server:   {_about_server(report.server)}")
    print(f"Waiting:  {_about(report.waiting) or 'nothing'}")
    if report.waiting:
        _print_files(report.waiting, now)
    if report.quarantined:
        print(f"Aside:    {_about(report.quarantined)}, which can never be sent")
        _print_files(report.quarantined, now)
    if report.totals:
        counts = ", ".join(f"{count} {act}" for act, count in report.totals.items())
        print(f"Recorded: {counts}; see `cognee-hooks ledger`")


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


def _about_server(server: Mapping[str, Any]) -> str:
    if server["state"] == "no address":
        return f"{server['mode']} ({server['why']}), but COGNEE_BASE_URL is not set"
    where = f"{server['mode']} {server['url']}: {server['state']}"
    if server["state"] == "ok":
        return f"{where}, version {server['version'] or '?'}, {server['milliseconds']} ms"
    return f"{where} ({server['detail']}); see `cognee-hooks doctor`"


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

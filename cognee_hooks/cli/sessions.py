"""``cognee-hooks sessions``: which conversations there are, and what became of them."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from typing import Any

from cognee_hooks.cli.common import add_json_option, print_json, print_table, whole
from cognee_hooks.cli.words import ago, local
from cognee_hooks.daemon import control
from cognee_hooks.history.sessions import known_sessions
from cognee_hooks.history.waiting import waiting_files
from cognee_hooks.printable import one_line
from cognee_hooks.results import AT_THE_SERVER, Act
from cognee_hooks.services.names import session_file_stem
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.process import current_environ
from cognee_hooks.services.statefile import finite

SHOWN = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_json_option(parser)
    parser.add_argument("-n", type=whole, default=SHOWN, help=f"sessions (default: {SHOWN})")


def run(options: argparse.Namespace) -> int:
    """List sessions, the latest first."""
    environ, now = current_environ(), time.time()
    rows = collect(environ, now)[: options.n]
    if options.json:
        print_json(rows)
    elif rows:
        _print(rows, now)
    elif options.n:
        print("There is no session yet. `cognee-hooks install AGENT` sets an agent up.")
    return 0


def collect(environ: Mapping[str, str], now: float) -> list[dict[str, Any]]:
    """Return what is known of each session, the latest first.

    Args:
        environ: The environment.
        now: Epoch seconds.
    """
    rows: dict[str, dict[str, Any]] = {}
    known = known_sessions(environ)
    by_stem = {each.stem: each for each in known}
    waiting = {each.file.stem: each for each in waiting_files(environ, by_stem, now=now)}
    for each in known:
        totals = each.ledger.totals()
        buffered = waiting.pop(each.stem, None)
        rows[each.stem] = {
            "session_id": each.session_id,
            "agent": each.agent,
            "live": False,
            "began": each.began or None,
            "last": each.last,
            "captured": totals.get(Act.CAPTURED, 0),
            "delivered": sum(totals.get(act, 0) for act in AT_THE_SERVER),
            "waiting": buffered.entries if buffered else 0,
            "injected": totals.get(Act.INJECTED, 0),
        }
    # What other programs left behind waits too, though nothing was recorded about it.
    rows |= {
        stem: _row(each.session_id, each.agent, each.entries) for stem, each in waiting.items()
    }
    for live in _live(environ):
        session_id, agent = (one_line(str(live.get(name, ""))) for name in ("session_id", "agent"))
        row = rows.setdefault(session_file_stem(session_id), _row(session_id, agent, 0))
        told = live.get("waiting")
        row["live"] = True
        row["waiting"] = max(row["waiting"], told if type(told) is int else 0)
        row["began"] = row["began"] or finite(live.get("began")) or None
        row["last"] = max(row["last"] or 0.0, finite(live.get("last_event"))) or None
    return sorted(rows.values(), key=lambda row: row["last"] or 0.0, reverse=True)


def _live(environ: Mapping[str, str]) -> list[Mapping[str, Any]]:
    reply = control.ask(Paths.of(environ, "daemon").daemon_dir, "status")
    rows = (reply or {}).get("sessions")
    return [each for each in rows if isinstance(each, dict)] if isinstance(rows, list) else []


def _row(session_id: str, agent: str, waiting: int) -> dict[str, Any]:
    counts = dict.fromkeys(("captured", "delivered", "injected"), 0)
    known = {"session_id": session_id, "agent": agent, "live": False, "began": None, "last": None}
    return {**known, **counts, "waiting": waiting}


def _print(rows: list[dict[str, Any]], now: float) -> None:
    counts = ("captured", "delivered", "waiting", "injected")
    print_table(
        ("session", "agent", "", "began", "last", *counts),
        [
            (
                row["session_id"] or "?",
                row["agent"] or "?",
                "live" if row["live"] else "",
                local(row["began"]) if row["began"] else "?",
                ago(row["last"], now),
                *(str(row[name]) for name in counts),
            )
            for row in rows
        ],
    )

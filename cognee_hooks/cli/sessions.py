"""``cognee-hooks sessions``: which conversations there are, and what became of them."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from typing import Any

from cognee_hooks.cli.common import add_json_option, print_json, print_table, whole
from cognee_hooks.cli.words import ago, local
from cognee_hooks.daemon import control
from cognee_hooks.history.listing import Listed, listed
from cognee_hooks.history.sessions import known_sessions
from cognee_hooks.history.waiting import waiting_files
from cognee_hooks.results import AT_THE_SERVER, Act
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.process import current_environ

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
    known = known_sessions(environ)
    waiting = waiting_files(environ, {each.stem: each for each in known}, now=now)
    status = control.ask(Paths.of(environ, "daemon").daemon_dir, "status")
    return [_row(each) for each in listed(known, waiting, status)]


def _row(each: Listed) -> dict[str, Any]:
    totals = each.known.ledger.totals() if each.known else {}
    return {
        "session_id": each.session_id,
        "agent": each.agent,
        "live": each.live,
        "began": each.began,
        "last": each.last,
        "captured": totals.get(Act.CAPTURED, 0),
        "delivered": sum(totals.get(act, 0) for act in AT_THE_SERVER),
        "waiting": each.waiting,
        "injected": totals.get(Act.INJECTED, 0),
    }


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

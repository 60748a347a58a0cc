"""``cognee-hooks daemon``: look after the process that serves the agents."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from typing import Any

from cognee_hooks.cli.common import add_json_option, print_json, print_table
from cognee_hooks.daemon import control
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import UsageError
from cognee_hooks.injection import clean
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.process import current_environ
from cognee_hooks.services.statefile import read_bytes

STOP_SECONDS = 15.0
START_SECONDS = 10.0
LOG_LINES = 50
_LOG_BYTES = 4_000_000


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    verbs = parser.add_subparsers(dest="verb", metavar="status|stop|restart|logs", required=True)
    add_json_option(verbs.add_parser("status", help="tell whether it runs, and what it serves"))
    verbs.add_parser("stop", help="let it finish and end; the next event starts it again")
    verbs.add_parser("restart", help="stop it and start it again")
    logs = verbs.add_parser("logs", help="print the end of its log")
    logs.add_argument("-n", type=int, default=LOG_LINES, help=f"lines (default: {LOG_LINES})")


def run(options: argparse.Namespace) -> int:
    """Do what the verb says."""
    paths = Paths.of(current_environ(), "daemon")
    verbs = {"status": _status, "stop": _stop, "restart": _restart, "logs": _logs}
    return verbs[options.verb](options, paths)


def _status(options: argparse.Namespace, paths: Paths) -> int:
    reply = control.ask(paths.daemon_dir, "status")
    if options.json:
        silent: dict[str, Any] = {"pid": None, "version": None, "sessions": []}
        print_json({**(reply or silent), "folder": str(paths.daemon_dir)})
    elif reply is None:
        print("The daemon does not run. The next event of an agent starts it.")
    else:
        print(f"The daemon runs: version {reply['version']}, process {reply['pid']}.")
        _print_sessions(reply)
    return 0


def _print_sessions(reply: Mapping[str, Any]) -> None:
    sessions = reply["sessions"]
    if not sessions:
        print("It serves no session.")
        return
    print_table(
        ["agent", "session", "folder", "last event", "waiting"],
        [
            [
                row["agent"],
                row["session_id"],
                row["cwd"],
                f"{time.time() - row['last_event']:.0f} s ago",
                row["waiting"],
            ]
            for row in sessions
        ],
    )


def _stop(_: argparse.Namespace, paths: Paths) -> int:
    if control.stop(paths.daemon_dir, Deadline.after(STOP_SECONDS)):
        print("The daemon is stopped. The next event of an agent starts it.")
        return 0
    raise UsageError(
        f"the daemon has not ended within {STOP_SECONDS:g} s; see `cognee-hooks daemon logs`"
    )


def _restart(_: argparse.Namespace, paths: Paths) -> int:
    control.stop(paths.daemon_dir, Deadline.after(STOP_SECONDS))
    limit = Deadline.after(START_SECONDS)
    reply = control.start(paths.daemon_dir, current_environ(), limit)
    if reply is None:
        raise UsageError("the daemon has not come up again; see `cognee-hooks daemon logs`")
    print(f"The daemon runs: version {reply['version']}, process {reply['pid']}.")
    return 0


def _logs(options: argparse.Namespace, paths: Paths) -> int:
    data = read_bytes(paths.daemon_dir / "daemon.log", max_bytes=_LOG_BYTES)
    for line in (data or b"").decode("utf-8", "replace").splitlines()[-max(0, options.n) :]:
        print(clean(line))
    return 0

"""``cognee-hooks daemon``: look after the process that serves the agents."""

from __future__ import annotations

import argparse
import sys
import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from cognee_hooks.cli.common import add_json_option, print_json, print_table, whole
from cognee_hooks.daemon import control
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import CogneeHooksError
from cognee_hooks.printable import clean
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.process import current_environ
from cognee_hooks.services.statefile import finite, read_bytes

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
    logs.add_argument("-n", type=whole, default=LOG_LINES, help=f"lines (default: {LOG_LINES})")


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
    elif reply is not None:
        print(_summary(reply))
        _print_sessions(reply)
    elif control.runs(paths.daemon_dir):
        print("The daemon does not answer: it is just starting or ending, or stands still.")
        print("If that lasts, see `cognee-hooks daemon logs`. Events are kept meanwhile.")
    else:
        print("The daemon does not run. The next event of an agent starts it.")
    return 0


def _summary(reply: Mapping[str, Any]) -> str:
    # It may be of another version, which answers otherwise.
    return clean(f"The daemon runs: version {reply.get('version')}, process {reply.get('pid')}.")


def _print_sessions(reply: Mapping[str, Any]) -> None:
    rows = reply.get("sessions")
    if not isinstance(rows, list) or not rows:
        print("It serves no session.")
        return
    print_table(
        ["agent", "session", "folder", "last event", "waiting"],
        [
            [
                *(str(row.get(name, "?")) for name in ("agent", "session_id", "cwd")),
                f"{max(0.0, time.time() - finite(row.get('last_event'))):.0f} s ago",
                str(row.get("waiting", "?")),
            ]
            for row in rows
            if isinstance(row, dict)
        ],
    )


def _stop(_: argparse.Namespace, paths: Paths) -> int:
    _end(paths)
    print("The daemon is stopped. The next event of an agent starts it.")
    return 0


def _end(paths: Paths) -> None:
    if not control.stop(paths.daemon_dir, Deadline.after(STOP_SECONDS)):
        raise CogneeHooksError(
            f"the daemon has not ended within {STOP_SECONDS:g} s; see `cognee-hooks daemon logs`"
        )


def _restart(_: argparse.Namespace, paths: Paths) -> int:
    _end(paths)
    limit = Deadline.after(START_SECONDS)
    try:
        reply = control.start(paths.daemon_dir, current_environ(), limit)
    except OSError as error:
        raise CogneeHooksError(
            f"the daemon cannot be started: {error.strerror}; look at {paths.daemon_dir}"
        ) from error
    if reply is None:
        raise CogneeHooksError("the daemon has not come up again; see `cognee-hooks daemon logs`")
    print(_summary(reply))
    return 0


def _logs(options: argparse.Namespace, paths: Paths) -> int:
    file = paths.daemon_dir / "daemon.log"
    # The daemon puts a long log aside, as .1, and what was .1 as .2.
    older = sorted(paths.daemon_dir.glob("daemon.log.[0-9]"), reverse=True)
    logs = [read_bytes(each, max_bytes=_LOG_BYTES) for each in (*older, file)]
    if logs == [None]:
        print(f"There is no log yet: {file}", file=sys.stderr)
        return 0
    lines: deque[str] = deque(maxlen=options.n)
    for data in logs:
        lines.extend((data or b"").decode("utf-8", "replace").splitlines())
    for line in lines:
        print(clean(line))
    return 0

"""``cognee-hooks ledger``: what went into the model's context, and what became of captures."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from heapq import nlargest
from typing import Any

from cognee_hooks.cli.common import print_table, whole
from cognee_hooks.cli.follow import LedgerTail
from cognee_hooks.cli.words import local
from cognee_hooks.errors import UsageError
from cognee_hooks.history.sessions import KnownSession, known_sessions
from cognee_hooks.printable import one_line
from cognee_hooks.results import Act
from cognee_hooks.services.ledger_file import LedgerRow
from cognee_hooks.services.process import current_environ

SHOWN = 50
POLL_SECONDS = 0.5
NAMED = 5
"""Sessions that an error names."""

_Entry = tuple[KnownSession, LedgerRow]


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--session", default="", metavar="ID", help="only this session; the beginning of its id"
    )
    parser.add_argument("--follow", action="store_true", help="go on with what is added")
    parser.add_argument("-n", type=whole, default=SHOWN, help=f"rows (default: {SHOWN})")
    parser.add_argument(
        "--timeline", action="store_true", help="one line for each stretch of work of a session"
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object a row instead of a table"
    )


def run(options: argparse.Namespace) -> int:
    """Print the latest rows, oldest first; with ``--follow`` until interrupted (exit code 130)."""
    environ = current_environ()
    sessions = known_sessions(environ)
    if options.session:
        sessions = [chosen(sessions, options.session)]
    if options.timeline:
        from cognee_hooks.cli import timeline

        if options.follow:
            raise UsageError("--timeline adds up what there is; it cannot --follow")
        timeline.show(sessions, options.n, as_json=options.json)
        return 0
    tails = {
        each.stem: LedgerTail(each.ledger, from_end=True) for each in sessions if options.follow
    }
    rows = latest(sessions, options.n)
    # What was added in between is in both.
    shown = {(session.stem, row) for session, row in rows}
    if options.json:
        _print_json(rows)
    elif options.follow:
        _print_lines(rows)
    elif rows:
        _print_table(rows)
    elif options.n:
        print("Nothing is recorded yet.")
    while options.follow:
        time.sleep(POLL_SECONDS)
        found = sessions if options.session else known_sessions(environ)
        added = [each for each in _added(found, tails) if (each[0].stem, each[1]) not in shown]
        (_print_json if options.json else _print_lines)(added)
    return 0


def chosen(sessions: Iterable[KnownSession], wanted: str) -> KnownSession:
    """Return the session of an id, or of the beginning of one.

    Args:
        sessions: What there is.
        wanted: The id.

    Raises:
        UsageError: There is none, or several begin like that.
    """
    fitting = [each for each in sessions if each.session_id.startswith(wanted)]
    exact = [each for each in fitting if each.session_id == wanted]
    if len(exact or fitting) == 1:
        return (exact or fitting)[0]
    if not fitting:
        raise UsageError(
            f"no session with a ledger begins with {one_line(wanted)!r}; `cognee-hooks sessions` "
            "lists them"
        )
    names = ", ".join(each.session_id for each in fitting[:NAMED])
    more = f" and {len(fitting) - NAMED} more" if len(fitting) > NAMED else ""
    raise UsageError(f"{len(fitting)} sessions begin with {one_line(wanted)!r}: {names}{more}")


def latest(sessions: Iterable[KnownSession], count: int) -> list[_Entry]:
    """Return the latest rows of all sessions, oldest first.

    What plugins took is left out, which ``stats`` adds up: a screen full of it would hide all else
    whenever a session has ended.

    Args:
        sessions: The sessions, the one that was written to last first.
        count: How many rows.
    """
    rows: list[_Entry] = []
    for session in sessions:
        if len(rows) == count and all(session.last < row.time for _, row in rows):
            break  # what is older lies in the files that follow
        found = ((session, row) for row in session.ledger.rows() if row.act is not Act.RAN)
        rows = nlargest(count, (*rows, *found), key=lambda entry: entry[1].time)
    return sorted(rows, key=lambda entry: entry[1].time)


def _added(sessions: Iterable[KnownSession], tails: dict[str, LedgerTail]) -> Iterator[_Entry]:
    for session in sessions:
        if session.stem not in tails:
            tails[session.stem] = LedgerTail(session.ledger, from_end=False)
        for row in tails[session.stem].take():
            if row.act is not Act.RAN:
                yield session, row


def _print_table(rows: Iterable[_Entry]) -> None:
    print_table(
        ("time", "session", "act", "what", "count", "bytes", "seconds", "hash"),
        [_cells(session, row) for session, row in rows],
    )


def _print_lines(rows: Iterable[_Entry]) -> None:
    for session, row in rows:
        print("  ".join(cell for cell in _cells(session, row) if cell), flush=True)


def _cells(session: KnownSession, row: LedgerRow) -> list[str]:
    return [
        local(row.time),
        session.session_id or "?",
        row.act.value,
        one_line(row.what),
        "" if row.count == 1 else f"x{row.count}",
        "" if row.size is None else str(row.size),
        "" if row.seconds is None else f"{row.seconds:.3f}",
        one_line(row.digest),
    ]


def _print_json(rows: Iterable[_Entry]) -> None:
    for session, row in rows:
        # In ASCII, so that nothing in it is a command to a terminal.
        print(json.dumps(_document(session, row)), flush=True)


def _document(session: KnownSession, row: LedgerRow) -> Mapping[str, Any]:
    return {
        "time": row.time,
        "session_id": session.session_id,
        "agent": session.agent,
        "act": row.act.value,
        "what": row.what,
        "count": row.count,
        "size": row.size,
        "hash": row.digest,
        "seconds": row.seconds,
        "prompt": row.prompt,
    }

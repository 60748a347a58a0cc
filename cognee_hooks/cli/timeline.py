"""``cognee-hooks ledger --timeline``: when which session was at work, and what memory did then."""

from __future__ import annotations

import json
from collections.abc import Iterable

from cognee_hooks.cli.common import print_table
from cognee_hooks.cli.words import local, span
from cognee_hooks.history.sessions import KnownSession
from cognee_hooks.history.usage import Stretch, stretches
from cognee_hooks.results import Act

_COUNTS = ("captured", "recalls", "hits", "~tokens", "synced")


def show(sessions: Iterable[KnownSession], count: int, *, as_json: bool) -> None:
    """Print the latest stretches of work, the earliest first.

    Args:
        sessions: The sessions.
        count: How many stretches.
        as_json: Print one JSON object a stretch instead of a table.
    """
    found = stretches(sessions)
    latest = found[len(found) - min(count, len(found)) :]
    if as_json:
        for each in latest:
            print(json.dumps(_document(each)))
    elif latest:
        print_table(("from", "for", "session", "dataset", *_COUNTS), map(_cells, latest))
    elif count:
        print("Nothing is recorded yet.")


def _document(stretch: Stretch) -> dict[str, object]:
    session = stretch.session
    known = {
        "session_id": session.session_id,
        "agent": session.agent,
        "dataset": session.dataset,
    }
    return {**known, **stretch.usage.as_json()}


def _cells(stretch: Stretch) -> list[str]:
    session, usage = stretch.session, stretch.usage
    numbers = (
        usage.counts[Act.CAPTURED],
        usage.counts[Act.RECALLED],
        usage.hits,
        usage.tokens,
        usage.counts[Act.SYNCED],
    )
    return [
        local(usage.first),
        span(usage.last - usage.first),
        session.session_id or "?",
        session.dataset or "?",
        *(f"{number:,}" for number in numbers),
    ]

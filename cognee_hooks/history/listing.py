"""All conversations that are known: by a ledger, by entries that wait, or because they live."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cognee_hooks.history.sessions import KnownSession
from cognee_hooks.history.waiting import Waiting
from cognee_hooks.printable import one_line
from cognee_hooks.services.names import session_file_stem
from cognee_hooks.services.statefile import finite


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A conversation.

    Attributes:
        stem: What the names of its files begin with.
        session_id: Our id; "" where nothing tells.
        agent: Short name of the agent, or "".
        live: Whether the daemon serves it now.
        began: Epoch seconds; None where nothing tells.
        last: When something happened last, epoch seconds; None where nothing tells.
        waiting: Captured entries that wait for the server.
        known: What its ledger says; None where it has none.
    """

    stem: str
    session_id: str
    agent: str
    live: bool = False
    began: float | None = None
    last: float | None = None
    waiting: int = 0
    known: KnownSession | None = None


def listed(
    known: Iterable[KnownSession], waiting: Iterable[Waiting], status: Mapping[str, Any] | None
) -> list[Listed]:
    """Return all conversations, the latest first.

    Args:
        known: Those that have a ledger.
        waiting: Files of entries that wait.
        status: What the daemon answered to ``status``; None where none runs. One of another
            version is taken as far as it is understood.
    """
    found = {each.stem: _of_ledger(each) for each in known}
    for file in waiting:
        stem = file.file.stem
        # What other programs left behind waits too, though nothing was recorded about it.
        row = found.get(stem) or Listed(stem=stem, session_id=file.session_id, agent=file.agent)
        found[stem] = replace(row, waiting=row.waiting + file.entries)
    for told in live_rows(status):
        session_id, agent = (one_line(str(told.get(name, ""))) for name in ("session_id", "agent"))
        stem = session_file_stem(session_id)
        row = found.get(stem) or Listed(stem=stem, session_id=session_id, agent=agent)
        found[stem] = _alive(row, told)
    return sorted(found.values(), key=lambda each: each.last or 0.0, reverse=True)


def live_rows(status: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """Return the sessions in an answer of the daemon, which may be of another version."""
    rows = (status or {}).get("sessions")
    return [each for each in rows if isinstance(each, dict)] if isinstance(rows, list) else []


def _of_ledger(known: KnownSession) -> Listed:
    return Listed(
        stem=known.stem,
        session_id=known.session_id,
        agent=known.agent,
        began=known.began or None,
        last=known.last,
        known=known,
    )


def _alive(row: Listed, told: Mapping[str, Any]) -> Listed:
    waiting = told.get("waiting")
    return replace(
        row,
        live=True,
        waiting=max(row.waiting, waiting if type(waiting) is int else 0),
        began=row.began or finite(told.get("began")) or None,
        last=max(row.last or 0.0, finite(told.get("last_event"))) or None,
    )

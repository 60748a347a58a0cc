"""Entries of all agents that wait for the server, or were put aside for good.

Other programs write some of these files, and a kill may have torn any of them: what cannot be read
is named.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cognee_hooks.history.sessions import KnownSession, state_folders
from cognee_hooks.printable import one_line
from cognee_hooks.services.paths import QUARANTINE
from cognee_hooks.services.retry import backoff_window_ms
from cognee_hooks.services.statefile import finite, read_json

_SKEW_SECONDS = 5.0
_TRIES = 3
_PAUSE_SECONDS = 0.02
_WRITING_SECONDS = 1.0
"""Who has not written to a file for so long is not in the middle of it."""
_NOT_READABLE = "torn, or of another form"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A file of entries that wait for the server, or were put aside.

    Attributes:
        file: The file.
        agent: Short name of the agent, or "" where several share a folder.
        session_id: The session; "" where nothing tells.
        entries: How many there are.
        oldest: When the oldest was captured or put aside, epoch seconds; None where that is not
            known.
        retry_at: When they are tried again, epoch seconds; None where nothing holds them back.
        problem: Why the file cannot be read as a whole, or "".
    """

    file: Path
    agent: str
    session_id: str
    entries: int
    oldest: float | None = None
    retry_at: float | None = None
    problem: str = ""


def waiting_files(
    environ: Mapping[str, str], sessions: Mapping[str, KnownSession], *, now: float
) -> list[Waiting]:
    """Return the files of entries that wait, the one with the oldest entry first.

    Args:
        environ: The environment.
        sessions: What is known of sessions, by the stem of their files.
        now: Epoch seconds.
    """
    found = [
        _waiting(path, agent, sessions.get(path.stem), "_buffered_at", now)
        for folder, agent in _bridge_folders(environ)
        for path in sorted(folder.glob("*.json"))
    ]
    return sorted(found, key=lambda each: now if each.oldest is None else each.oldest)


def quarantined_files(
    environ: Mapping[str, str], sessions: Mapping[str, KnownSession], *, now: float
) -> list[Waiting]:
    """Return the files of entries that can never be sent; see `waiting_files`."""
    return [
        _waiting(path, agent, sessions.get(path.stem), "_put_aside_at", now)
        for folder, agent in _bridge_folders(environ)
        for path in sorted((folder / QUARANTINE).glob("*.json"))
    ]


def _bridge_folders(environ: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    folders = state_folders(environ)
    for paths in folders:
        # A folder that the person chose holds the state of all agents.
        yield paths.bridge_dir, paths.agent if len(folders) > 1 else ""


def _waiting(
    path: Path, agent: str, session: KnownSession | None, stamp: str, now: float
) -> Waiting:
    document = _envelope(path)
    elements = document.get("entries")
    entries = [each for each in elements or () if isinstance(each, dict)]
    moments = [finite(each.get(stamp)) / 1000 for each in entries]
    own = next((_text(each.get("sessionId")) for each in entries), "")
    problem = "" if elements is not None else _NOT_READABLE
    if elements and len(entries) < len(elements):
        problem = f"{len(elements) - len(entries)} elements of another form"
    return Waiting(
        file=path,
        agent=(session and session.agent) or agent,
        session_id=(session and session.session_id) or own,
        entries=len(entries),
        oldest=min((moment for moment in moments if moment > 0), default=None),
        retry_at=_retry_at(document, now),
        problem=problem,
    )


def _envelope(path: Path) -> Mapping[str, Any]:
    """Return a file's object with its list of entries; empty where it is of another form."""
    for _ in range(_TRIES):
        document = read_json(path)
        if isinstance(document, dict) and isinstance(document.get("entries"), list):
            return document
        if not _is_being_written(path):
            break
        time.sleep(_PAUSE_SECONDS)
    return {}


def _is_being_written(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime < _WRITING_SECONDS
    except OSError:
        return False


def _retry_at(document: Mapping[str, Any], now: float) -> float | None:
    failures, failed = document.get("fail_count"), finite(document.get("fail_at")) / 1000
    if type(failures) is not int or failures <= 0 or failed > now + _SKEW_SECONDS:
        return None
    moment = failed + backoff_window_ms(failures) / 1000
    return moment if moment > now else None


def _text(value: object) -> str:
    return one_line(value) if isinstance(value, str) else ""

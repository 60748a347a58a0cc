"""Takes what was deleted out of the embedded server's database file.

SQLite leaves deleted rows in free pages, and its text index keeps words until it is merged. The
rows themselves are the server's: they go by its routes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from cognee_hooks.results import Scrubbed, ScrubState

if TYPE_CHECKING:
    from cognee_hooks.leak import Leak

_BUSY_SECONDS = 10
_HOLDS = (
    "the embedded server's database holds it in what is stored; run scrub while that server runs "
    "and is the one in your settings"
)
_STEPS = (
    "INSERT INTO passage_index (passage_index) VALUES ('optimize')",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "VACUUM",
    "PRAGMA wal_checkpoint(TRUNCATE)",
)


def scrub_database(path: Path, leak: Leak, *, dry_run: bool) -> Iterator[Scrubbed]:
    """Yield what became of a database file and its write-ahead log.

    Args:
        path: The database.
        leak: The value.
        dry_run: Only look.
    """
    count = _count(path, leak)
    if not count:
        return
    if dry_run:
        yield Scrubbed(place=str(path), state=ScrubState.FOUND, count=count)
        return
    try:
        with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)) as opened:
            for step in _STEPS:
                opened.execute(step)
    except sqlite3.DatabaseError as error:
        detail = f"the database cannot be packed ({type(error).__name__}); {_HOLDS}"
        yield Scrubbed(place=str(path), state=ScrubState.LEFT, count=count, detail=detail)
        return
    left = _count(path, leak)
    state = ScrubState.LEFT if left else ScrubState.CLEANED
    detail = _HOLDS if left else ""
    yield Scrubbed(place=str(path), state=state, count=left or count, detail=detail)


def _count(path: Path, leak: Leak) -> int:
    files = (path, path.with_name(f"{path.name}-wal"))
    return sum(leak.count(each.read_bytes()) for each in files if each.is_file())

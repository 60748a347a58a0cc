"""Takes a leaked value out of the databases of the server that is looked after here.

Cognee 1.6 notes down in its relational database what was asked and answered and what its pipelines
worked on, and no route deletes that. There and in the database of sessions, what was deleted by
routes stays in free pages and in logs. Where they are SQLite files of this machine, the server can
go on working meanwhile: what is changed is changed in one transaction under SQLite's own locks, for
which the server waits half a minute and longer, and packing a file is a transaction of SQLite's.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cognee_hooks.results import Scrubbed, ScrubState

if TYPE_CHECKING:
    from cognee_hooks import Deadline, Leak

BUSY_SECONDS = 10.0
"""Longest that a step waits for the server, whose own transactions are short."""
_SPARE_SECONDS = 1.0
_NOTED = (
    ("queries", "text"),
    ("results", "value"),
    ("pipeline_runs", "run_info"),
    ("pipeline_runs", "error_message"),
)
"""Columns that nothing but a look into the past reads, of all accounts."""
_MAGIC = b"SQLite format 3\0"
_CHUNK = 1024 * 1024
_ABOUT = "a database of the local server, which goes on working"
_BUSY = "the server is using it ({reason}); run scrub again"
_STORED = (
    "it is in what is stored there and not only noted down; run scrub again, or have whoever knows "
    "the server look"
)


@dataclass(frozen=True, slots=True)
class ServerDatabase:
    """A SQLite file of the server.

    Attributes:
        path: The file.
        columns: Tables and columns that may be changed.
    """

    path: Path
    columns: Sequence[tuple[str, str]] = ()


def databases_of(environ: Mapping[str, str]) -> list[ServerDatabase]:
    """Return the databases of a server that are SQLite files, as far as they are there.

    Args:
        environ: The server's environment.
    """
    folder = Path(
        environ.get("DB_PATH", "").strip()
        or f"{environ.get('SYSTEM_ROOT_DIRECTORY', '')}/databases"
    )
    named = environ.get("DB_NAME", "").strip() or "cognee_db"
    found = []
    # Turso's files look alike, but are its own.
    if _is_sqlite_meant(environ.get("DB_PROVIDER", "")):
        found.append(ServerDatabase(folder / named, _NOTED))
    if _is_sqlite_meant(environ.get("CACHE_BACKEND", "")):
        found.append(ServerDatabase(folder / "cache.db"))
    return [each for each in found if each.path.is_absolute() and _is_sqlite(each.path)]


def scrub(
    databases: Sequence[ServerDatabase], leak: Leak, deadline: Deadline, *, dry_run: bool
) -> list[Scrubbed]:
    """Tell which databases hold a value, or take it out of what they note down.

    Args:
        databases: The databases.
        leak: The value.
        deadline: When to be done.
        dry_run: Only look.

    Returns:
        A row for each one that holds or held it.
    """
    rows = []
    for each in databases:
        place = str(each.path)
        try:
            count, left = _Scrub(each, leak, deadline).done(dry_run=dry_run)
        except (sqlite3.Error, OSError) as error:
            detail = _BUSY.format(reason=type(error).__name__)
            rows.append(Scrubbed(place=place, state=ScrubState.LEFT, detail=detail))
            continue
        if left and not dry_run:
            rows.append(Scrubbed(place=place, state=ScrubState.LEFT, count=left, detail=_STORED))
        elif count:
            state = ScrubState.FOUND if dry_run else ScrubState.CLEANED
            rows.append(Scrubbed(place=place, state=state, count=count, detail=_ABOUT))
    return rows


class _Scrub:
    """The work on one database."""

    def __init__(self, database: ServerDatabase, leak: Leak, deadline: Deadline) -> None:
        self._path = database.path
        self._columns = database.columns
        self._leak = leak
        self._deadline = deadline

    def done(self, *, dry_run: bool) -> tuple[int, int]:
        """Take the value out, unless it is only looked for.

        Returns:
            How often it was there, and how often it is.

        Raises:
            sqlite3.Error: The server keeps its database locked, or something is wrong with it.
            OSError: The file cannot be read.
        """
        # Only what is there is opened: a file that SQLite makes would be an empty database.
        address = f"{self._path.as_uri()}?mode={'ro' if dry_run else 'rw'}"
        opened = sqlite3.connect(address, uri=True, timeout=self._patience, isolation_level=None)
        with closing(opened) as database:
            held = {each: list(self._holding(database, *each)) for each in self._columns}
            count = max(sum(map(len, held.values())), self._in_bytes())
            if dry_run or not count:
                return count, count
            self._clean(database, held)
        return count, self._in_bytes()

    def _holding(self, database: sqlite3.Connection, table: str, column: str) -> Iterator[int]:
        """Yield the rows that hold the value in a column."""
        known = database.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
        if (column,) in known:  # other versions of cognee may have others
            query = f"SELECT rowid, {column} FROM {table}"  # noqa: S608 - names of ours
            for row, text in database.execute(query):
                if self._cleaned(text) != text:
                    yield row

    def _clean(
        self, database: sqlite3.Connection, held: Mapping[tuple[str, str], Sequence[int]]
    ) -> None:
        database.execute("PRAGMA secure_delete = ON")
        database.execute("BEGIN IMMEDIATE")
        try:
            for (table, column), rows in held.items():
                for row in rows:
                    self._clean_row(database, table, column, row)
        except BaseException:
            database.execute("ROLLBACK")
            raise
        database.execute("COMMIT")
        # What was deleted before stays in free pages, and what was changed in the log.
        for step in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
            database.execute(f"PRAGMA busy_timeout = {self._patience * 1000:.0f}")
            busy = database.execute(step).fetchone()
            if busy is not None and busy[0]:
                raise sqlite3.OperationalError("the log is in use")

    def _clean_row(self, database: sqlite3.Connection, table: str, column: str, row: int) -> None:
        select = f"SELECT {column} FROM {table} WHERE rowid = ?"  # noqa: S608 - names of ours
        update = f"UPDATE {table} SET {column} = ? WHERE rowid = ?"  # noqa: S608 - names of ours
        for (text,) in database.execute(select, (row,)).fetchall():
            database.execute(update, (self._cleaned(text), row))

    def _cleaned(self, text: object) -> object:
        """Return a cell without the value; what was JSON stays JSON."""
        if not isinstance(text, str):
            return text
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, (dict, list)):
            return self._leak.cleaned_text(text)
        return json.dumps(self._leak.cleaned(document)) if self._leak.count_in(document) else text

    def _in_bytes(self) -> int:
        """Return how often the bytes of the database and of its log hold the value."""
        log = self._path.with_name(f"{self._path.name}-wal")
        return sum(_count_in(each, self._leak) for each in (self._path, log))

    @property
    def _patience(self) -> float:
        """Seconds to wait for a lock."""
        return max(0.0, min(BUSY_SECONDS, self._deadline.remaining() - _SPARE_SECONDS))


def _is_sqlite_meant(word: str) -> bool:
    return word.strip().lower() in {"", "sqlite"}


def _is_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return path.is_file() and file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def _count_in(path: Path, leak: Leak) -> int:
    if not path.is_file():
        return 0
    count, before = 0, b""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            data = before + chunk
            # What ends in the overlap was counted with the chunk before.
            count += sum(start + size > len(before) for start, size in leak.places(data))
            before = data[-(leak.longest - 1) :] if leak.longest > 1 else b""
    return count

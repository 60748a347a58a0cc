"""Takes a leaked value out of the databases of the server that is looked after here.

Cognee 1.6 notes down in its relational database what was asked and answered and what its pipelines
worked on, and no route deletes that. There and in the database of sessions, what was deleted by
routes stays in free pages and in logs. Where they are SQLite files of this machine, the server can
go on working meanwhile: what is changed is changed in one transaction under SQLite's own locks, for
which the server waits half a minute and longer, and packing a file is a transaction of SQLite's.
Each is given up before the server would stop waiting, which leaves the file as it was.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cognee_hooks.results import Scrubbed, ScrubState

if TYPE_CHECKING:
    from cognee_hooks import Deadline, Leak

BUSY_SECONDS = 10.0
"""Longest that a step waits for the server, whose own transactions are short."""
HELD_SECONDS = 20.0
"""Longest that the server waits for us; it gives up after 30 s at the earliest."""
PACKED_BYTES = 1024 * 1024 * 1024
"""Largest file that is packed: the end of it, which copies the file, cannot be broken off."""
_SPACE = 2
"""What packing needs for a while, in times of the file: a packed copy, and a log of it."""
_SPARE_SECONDS = 1.0
_STEPS = 10_000
"""Instructions of SQLite's machine between two looks at the clock."""
_NOTED = (
    ("queries", "text"),
    ("results", "value"),
    ("pipeline_runs", "run_info"),
    ("pipeline_runs", "error_message"),
)
"""Columns that nothing but a look into the past reads, of all accounts."""
_MAGIC = b"SQLite format 3\0"
_CHUNK = 1024 * 1024
LOGS = ("-wal", "-journal")
"""Ends of the names of the files that belong to a database."""
_ABOUT = "a database of the local server, which goes on working"
_BUSY = "the server is using it; run scrub again"
_SLOW = "it is too large to be looked through in the time that there is; run scrub again"
_UNUSABLE = (
    "it cannot be cleaned ({reason}), so it may hold the value; have whoever knows the server look"
)
_UNPACKED = (
    "{why}, so what was deleted stays in its free pages; stop the server (`cognee-hooks down`), "
    "pack the file (`sqlite3 FILE VACUUM`), and run scrub again"
)
_LARGE = "at {size} MB it is too large to be packed while the server works"
_FULL = "the disk has no room for a packed copy of its {size} MB"
_LONG = "packing it takes longer than the server would wait"
_STORED = (
    "it is in what is stored there and not only noted down ({columns}); run scrub again, or have "
    "whoever knows the server look"
)
_AGAIN = "it is still there; run scrub again"
_NAMED = 5
"""Columns that are named to people."""
_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL %'"


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
        work = _Scrub(each, leak, deadline)
        try:
            count, left, why = (work.looked(), 0, "") if dry_run else work.cleaned()
        except (sqlite3.Error, OSError, _NotDone) as error:
            rows.append(Scrubbed(place=place, state=ScrubState.LEFT, detail=_told(error)))
            continue
        if left:
            rows.append(Scrubbed(place=place, state=ScrubState.LEFT, count=left, detail=why))
        elif count:
            state = ScrubState.FOUND if dry_run else ScrubState.CLEANED
            rows.append(Scrubbed(place=place, state=state, count=count, detail=_ABOUT))
    return rows


class _NotDone(Exception):
    """Something was not done, for a reason that is told to people."""


class _Scrub:
    """The work on one database."""

    def __init__(self, database: ServerDatabase, leak: Leak, deadline: Deadline) -> None:
        # SQLite keeps the log where a link leads to, and not beside the link.
        self._path = Path(os.path.realpath(database.path))
        self._columns = database.columns
        self._leak = leak
        self._limit = deadline.sparing(_SPARE_SECONDS)

    def looked(self) -> int:
        """Return how often the value is there.

        Raises:
            sqlite3.Error: Something is wrong with the database, or its server keeps it locked.
            OSError: The file cannot be read.
            _NotDone: There is no time.
        """
        try:
            with self._opened("ro") as database:
                rows = sum(map(len, self._held(database).values()))
                cells = self._stored(database).total()
        except sqlite3.Error:
            # What a killed server has not finished is undone by whoever may write. That the value
            # is there can be told all the same.
            count = self._in_bytes()
            if not count:
                raise
            return count
        return max(rows, cells, self._in_bytes())

    def cleaned(self) -> tuple[int, int, str]:
        """Take the value out.

        Returns:
            How often it was there, how often it is, and why.

        Raises:
            sqlite3.Error: The server keeps its database locked, or something is wrong with it.
            OSError: The file cannot be read.
            _NotDone: There is no time, or no room.
        """
        with self._opened("rw") as database:
            held = self._held(database)
            cells = max(sum(map(len, held.values())), self._stored(database).total())
            count = max(cells, self._in_bytes())
            if not count:
                return 0, 0, ""
            self._change(database, held)
            self._empty_log(database)
            why = self._unpackable()
            if not why:
                self._pack(database)
                self._empty_log(database)
            stored = self._stored(database)
        left = max(self._in_bytes(), stored.total())
        if stored:
            columns = ", ".join(sorted(stored)[:_NAMED])
            return count, left, _STORED.format(columns=columns)
        return count, left, _UNPACKED.format(why=why) if why else _AGAIN

    @contextmanager
    def _opened(self, mode: str) -> Iterator[sqlite3.Connection]:
        # Only what is there is opened: a file that SQLite makes would be an empty database.
        address = f"{self._path.as_uri()}?mode={mode}"
        opened = sqlite3.connect(address, uri=True, timeout=self._patience, isolation_level=None)
        with closing(opened) as database:
            # One torn text must not keep the others from being cleaned.
            database.text_factory = lambda data: data.decode("utf-8", "replace")
            self._bound(database, self._limit)
            yield database

    def _bound(self, database: sqlite3.Connection, limit: Deadline) -> None:
        """Have SQLite break off what is under way when the time is over."""
        database.set_progress_handler(lambda: limit.expired, _STEPS)

    def _held(self, database: sqlite3.Connection) -> dict[tuple[str, str], list[int]]:
        """Return the rows that hold the value in each column that may be changed."""
        return {each: list(self._holding(database, *each)) for each in self._columns}

    def _holding(self, database: sqlite3.Connection, table: str, column: str) -> Iterator[int]:
        """Yield the rows that hold the value in a column."""
        known = database.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
        if (column,) in known:  # other versions of cognee may have others
            query = f"SELECT rowid, {column} FROM {table}"  # noqa: S608 - names of ours
            for row, text in database.execute(query):
                if self._cleaned(text) != text:
                    yield row

    def _stored(self, database: sqlite3.Connection) -> Counter[str]:
        """Return how many cells of each column hold the value.

        A long text lies on several pages, between which the bytes of a value may be torn apart.
        """
        found: Counter[str] = Counter()
        for (table,) in database.execute(_TABLES).fetchall():
            quoted = table.replace('"', '""')
            rows = database.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 - quoted
            names = [each[0] for each in rows.description]
            for row in rows:
                cells = [_bytes_of(each) for each in row]
                if self._leak.is_in(b"\0".join(cells)):
                    holding = zip(names, map(self._leak.is_in, cells), strict=True)
                    found.update(f"{table}.{name}" for name, holds in holding if holds)
        return found

    def _change(
        self, database: sqlite3.Connection, held: Mapping[tuple[str, str], Sequence[int]]
    ) -> None:
        database.execute("PRAGMA secure_delete = ON")
        database.execute("BEGIN IMMEDIATE")
        self._bound(database, self._limit.within(HELD_SECONDS))
        try:
            for (table, column), rows in held.items():
                for row in rows:
                    self._clean_row(database, table, column, row)
            database.execute("COMMIT")
        finally:
            self._bound(database, self._limit)
            if database.in_transaction:  # some errors end it by themselves
                database.execute("ROLLBACK")

    def _empty_log(self, database: sqlite3.Connection) -> None:
        """Have what was changed written to the file, and nothing left in the log."""
        self._wait(database)
        busy, *_ = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise _NotDone(_BUSY)

    def _unpackable(self) -> str:
        """Return why the file cannot be packed, "" where it can."""
        size = self._path.stat().st_size
        if size > PACKED_BYTES:
            return _LARGE.format(size=size // 1_000_000)
        if shutil.disk_usage(self._path.parent).free < _SPACE * size:
            return _FULL.format(size=size // 1_000_000)
        return ""

    def _pack(self, database: sqlite3.Connection) -> None:
        """Write the file anew, without the free pages in which is what was deleted before."""
        self._wait(database)
        self._bound(database, self._limit.within(HELD_SECONDS))
        try:
            database.execute("VACUUM")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            raise _NotDone(_UNPACKED.format(why=_LONG)) from error
        self._bound(database, self._limit)

    def _wait(self, database: sqlite3.Connection) -> None:
        """Have the next step wait for the server as long as there is time."""
        database.execute(f"PRAGMA busy_timeout = {self._patience * 1000:.0f}")

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
        """Return how often the bytes of the database and of its logs hold the value."""
        named = [self._path.with_name(f"{self._path.name}{end}") for end in ("", *LOGS)]
        return sum(_count_in(each, self._leak, self._limit) for each in named)

    @property
    def _patience(self) -> float:
        """Seconds to wait for a lock."""
        return max(0.0, min(BUSY_SECONDS, self._limit.remaining()))


def _bytes_of(cell: object) -> bytes:
    if isinstance(cell, str):
        return cell.encode()
    return cell if isinstance(cell, bytes) else b""


def _told(error: Exception) -> str:
    """Return for people why something was not done."""
    if isinstance(error, _NotDone):
        return str(error)
    if not isinstance(error, sqlite3.Error):
        return _UNUSABLE.format(reason=type(error).__name__)
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # less what is special
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return _BUSY
    if code == sqlite3.SQLITE_INTERRUPT:
        return _SLOW
    return _UNUSABLE.format(reason=getattr(error, "sqlite_errorname", type(error).__name__))


def _is_sqlite_meant(word: str) -> bool:
    return word.strip().lower() in {"", "sqlite"}


def _is_sqlite(path: Path) -> bool:
    try:
        # Asked first: a named pipe would keep us waiting for whoever writes into it.
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def _count_in(path: Path, leak: Leak, limit: Deadline) -> int:
    if not path.is_file():
        return 0
    count, before = 0, b""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            if limit.expired:
                raise _NotDone(_SLOW)
            data = before + chunk
            # What ends in the overlap was counted with the chunk before.
            count += sum(start + size > len(before) for start, size in leak.places(data))
            before = data[-(leak.longest - 1) :] if leak.longest > 1 else b""
    return count

"""The one data file: a SQLite database, its schema, and transactions on it."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from cognee_hooks.errors import UsageError
from cognee_hooks.services.statefile import make_private_folder

SCHEMA_VERSION = 1

Argument = str | int | float | bytes | None
"""What a statement takes as an argument."""

_SCHEMA = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE api_keys (
    id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT, created_at TEXT NOT NULL
);
CREATE TABLE datasets (
    id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_at TEXT NOT NULL, updated_at TEXT,
    built INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE documents (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
    dataset_id TEXT NOT NULL REFERENCES datasets (id) ON DELETE CASCADE,
    name TEXT NOT NULL, source_name TEXT NOT NULL, content BLOB NOT NULL, digest TEXT NOT NULL,
    node_set TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT
);
CREATE INDEX documents_by_digest ON documents (dataset_id, digest);
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, dataset_id TEXT, node_set TEXT,
    started_at TEXT NOT NULL, last_activity_at TEXT NOT NULL
);
CREATE TABLE entries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL REFERENCES sessions (id), kind TEXT NOT NULL,
    time TEXT NOT NULL, body TEXT NOT NULL, promoted INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX entries_by_session ON entries (session_id, kind, seq);
-- No foreign key: a session's entries stay bound to a dataset that was forgotten.
CREATE TABLE passages (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, dataset_id TEXT NOT NULL,
    source_id TEXT NOT NULL, source_name TEXT NOT NULL, position INTEGER NOT NULL,
    node_set TEXT NOT NULL, text TEXT NOT NULL, terms TEXT NOT NULL
);
CREATE INDEX passages_by_dataset ON passages (dataset_id);
CREATE INDEX passages_by_source ON passages (source_id);
CREATE VIRTUAL TABLE passage_index USING fts5 (
    text, terms, content='passages', content_rowid='seq',
    tokenize="porter unicode61 remove_diacritics 2"
);
CREATE TRIGGER passage_added AFTER INSERT ON passages BEGIN
    INSERT INTO passage_index (rowid, text, terms) VALUES (new.seq, new.text, new.terms);
END;
CREATE TRIGGER passage_removed AFTER DELETE ON passages BEGIN
    INSERT INTO passage_index (passage_index, rowid, text, terms)
    VALUES ('delete', old.seq, old.text, old.terms);
END;
"""


class Database:
    """One SQLite connection that threads share, one transaction at a time.

    SQLite serialises writers anyway, and every statement here is short, so one guarded connection
    is as fast as a pool and cannot run into lock errors between its own threads.
    """

    def __init__(self, path: Path) -> None:
        """Open or create the data file, readable by its owner only.

        Args:
            path: The file. Missing parent folders are made, for the owner only.

        Raises:
            UsageError: The file is not such a database, or was written by a newer version.
        """
        self._lock = threading.RLock()
        _prepare_file(path)
        try:
            self._connection = sqlite3.connect(
                path, timeout=10, isolation_level=None, check_same_thread=False
            )
            self._connection.row_factory = sqlite3.Row
            self._connection.execute("PRAGMA journal_mode = WAL")
            # Not NORMAL: an entry that was acknowledged survives a power cut, too.
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("PRAGMA foreign_keys = ON")
            self._migrate(path)
        except sqlite3.DatabaseError as error:
            raise UsageError(
                f"{path} cannot be used as the memory server's data file ({error}). "
                "Name another file, or move this one away to start with an empty memory."
            ) from error

    def _migrate(self, path: Path) -> None:
        with self.transaction() as connection:
            version: int = connection.execute("PRAGMA user_version").fetchone()[0]
            if version > SCHEMA_VERSION:
                raise UsageError(
                    f"{path} was written by a newer version of cognee-hooks. Update cognee-hooks, "
                    "or name another data file."
                )
            if version == 0:
                for statement in _statements(_SCHEMA):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION:d}")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Everything inside is stored together or not at all; nesting joins the outer one."""
        with self._lock:
            if self._connection.in_transaction:
                yield self._connection
                return
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def rows(self, sql: str, arguments: Sequence[Argument] = ()) -> list[sqlite3.Row]:
        """All rows of a query."""
        with self._lock:
            return self._connection.execute(sql, arguments).fetchall()

    def row(self, sql: str, arguments: Sequence[Argument] = ()) -> sqlite3.Row | None:
        """The first row of a query, or None."""
        with self._lock:
            found: sqlite3.Row | None = self._connection.execute(sql, arguments).fetchone()
            return found

    def close(self) -> None:
        """Fold the write-ahead log into the data file and close it."""
        with self._lock:
            self._connection.close()


def _prepare_file(path: Path) -> None:
    """Create the file before SQLite does, which would let the umask decide who may read it."""
    make_private_folder(path.parent)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(handle, 0o600)
    finally:
        os.close(handle)


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; ``executescript`` would commit between them."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""

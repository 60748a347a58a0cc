"""A leaked value in the databases of a local server that goes on working."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from builtin_plugins.bootstrap import databases
from builtin_plugins.bootstrap.databases import ServerDatabase, databases_of, scrub
from cognee_hooks import Deadline, Leak
from cognee_hooks.results import Scrubbed, ScrubState

VALUE = "hunter2-" + 'Zq81"\\é-kappa'
CORE = b"Zq81"
MARKER = "[redacted:scrubbed]"


def write(path: Path, *statements: tuple[str, tuple[Any, ...]]) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as opened:
        for statement, values in statements:
            opened.execute(statement, values)


def read(path: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as opened:
        return opened.execute(query).fetchall()


def stored(path: Path) -> bytes:
    files = [path, path.with_name(f"{path.name}-wal")]
    return b"".join(each.read_bytes() for each in files if each.exists())


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """What a server has written; the log is not yet part of the file, as while it runs."""
    folder = tmp_path / "system" / "databases"
    folder.mkdir(parents=True)
    return folder.parent


@pytest.fixture
def path(system: Path) -> Iterator[Path]:
    made = system / "databases" / "cognee_db"
    shown = repr({"data": f"use {VALUE}"})
    with closing(sqlite3.connect(made, isolation_level=None)) as server:
        for statement, values in (
            ("PRAGMA journal_mode = WAL", ()),
            ("CREATE TABLE queries (id TEXT PRIMARY KEY, text TEXT, user_id TEXT)", ()),
            ("CREATE TABLE results (id TEXT PRIMARY KEY, value TEXT)", ()),
            ("CREATE TABLE pipeline_runs (id TEXT PRIMARY KEY, run_info JSON)", ()),
            ("CREATE TABLE data (id TEXT PRIMARY KEY, name TEXT)", ()),
            ("INSERT INTO queries VALUES ('a', ?, 'u')", (f"is it {VALUE}?",)),
            ("INSERT INTO queries VALUES ('b', 'which port', 'u')", ()),
            ("INSERT INTO queries VALUES ('c', NULL, 'u')", ()),
            ("INSERT INTO results VALUES ('a', ?)", (json.dumps([VALUE, 7431]),)),
            ("INSERT INTO pipeline_runs VALUES ('a', ?)", (json.dumps({"data": shown}),)),
            ("INSERT INTO data VALUES ('a', ?)", (VALUE,)),
            ("DELETE FROM data", ()),
        ):
            server.execute(statement, values)
        yield made


def scrubbed(path: Path, *, dry_run: bool = False, seconds: float = 30.0) -> list[Scrubbed]:
    found = databases_of({"SYSTEM_ROOT_DIRECTORY": str(path.parent.parent)})
    return scrub(found, Leak(VALUE), Deadline.after(seconds), dry_run=dry_run)


# -- which files ---------------------------------------------------------------------------------


def test_the_databases_of_a_server_are_found_where_it_was_told_to_keep_them(
    path: Path, tmp_path: Path
):
    cache = path.with_name("cache.db")
    write(cache, ("CREATE TABLE t (x)", ()))
    root = {"SYSTEM_ROOT_DIRECTORY": str(path.parent.parent)}
    assert [each.path for each in databases_of(root)] == [path, cache]
    named = {"DB_PATH": str(path.parent), "DB_NAME": "cognee_db", "DB_PROVIDER": " SQLite "}
    assert [each.path for each in databases_of(named)] == [path, cache]
    assert databases_of({"SYSTEM_ROOT_DIRECTORY": str(tmp_path / "none")}) == []


@pytest.mark.parametrize(
    "environ",
    [
        {"DB_PROVIDER": "postgres"},
        {"DB_PROVIDER": "turso"},
        {"DB_PATH": "s3://bucket/databases"},
        {"DB_PATH": "databases"},
        {"DB_NAME": "text"},
        {"DB_NAME": "folder"},
        {"DB_NAME": "gone"},
    ],
)
def test_another_kind_of_database_is_never_touched(path: Path, environ: dict[str, str]):
    path.with_name("text").write_text(VALUE)
    path.with_name("folder").mkdir()
    root = {"SYSTEM_ROOT_DIRECTORY": str(path.parent.parent)}
    assert databases_of(root | environ) == []


def test_sessions_that_are_kept_elsewhere_are_left_alone(path: Path):
    write(path.with_name("cache.db"), ("CREATE TABLE t (x)", ()))
    root = {"SYSTEM_ROOT_DIRECTORY": str(path.parent.parent)}
    for backend in ("redis", "turso"):
        assert [each.path for each in databases_of(root | {"CACHE_BACKEND": backend})] == [path]


# -- the value -----------------------------------------------------------------------------------


def test_a_look_shows_it_and_changes_nothing(path: Path):
    before = stored(path)
    [row] = scrubbed(path, dry_run=True)
    assert row.state is ScrubState.FOUND
    assert row.count >= 3
    assert VALUE not in row.place + row.detail
    assert stored(path) == before


def test_no_byte_of_it_stays_and_everything_else_does(path: Path):
    assert CORE in stored(path)
    [row] = scrubbed(path)
    assert row.state is ScrubState.CLEANED
    assert "local server" in row.detail
    assert CORE not in stored(path)
    assert read(path, "SELECT id, text, user_id FROM queries ORDER BY id") == [
        ("a", f"is it {MARKER}?", "u"),
        ("b", "which port", "u"),
        ("c", None, "u"),
    ]
    [(value,)] = read(path, "SELECT value FROM results")
    assert json.loads(value) == [MARKER, 7431]
    [(info,)] = read(path, "SELECT run_info FROM pipeline_runs")
    assert MARKER in json.loads(info)["data"]
    assert read(path, "PRAGMA integrity_check") == [("ok",)]
    assert read(path, "PRAGMA journal_mode") == [("wal",)]
    assert scrubbed(path) == []
    assert scrubbed(path, dry_run=True) == []


def test_what_was_deleted_is_taken_out_of_the_database_of_sessions(path: Path):
    cache = path.with_name("cache.db")
    write(
        cache,
        ("CREATE TABLE entries (payload TEXT)", ()),
        ("INSERT INTO entries VALUES (?)", (VALUE,)),
        ("INSERT INTO entries VALUES ('kept')", ()),
        ("DELETE FROM entries WHERE payload <> 'kept'", ()),
    )
    scrubbed(path)
    assert CORE not in stored(cache)
    assert read(cache, "SELECT payload FROM entries") == [("kept",)]


def test_what_is_stored_and_not_only_noted_down_stays_and_is_named(path: Path):
    write(path, ("INSERT INTO data VALUES ('b', ?)", (VALUE,)))
    [row] = scrubbed(path)
    assert row.state is ScrubState.LEFT
    assert "run scrub again" in row.detail
    assert read(path, "SELECT name FROM data") == [(VALUE,)]
    assert VALUE not in str(read(path, "SELECT text FROM queries"))


def test_a_value_across_two_reads_is_counted_once(path: Path, monkeypatch: pytest.MonkeyPatch):
    leak = Leak("plain-value-7431")
    file = path.with_name("file")
    for size in range(leak.longest, leak.longest + 40):
        monkeypatch.setattr(databases, "_CHUNK", size)
        file.write_bytes(b"x" * 37 + b"plain-value-7431" + b"y" * 55 + b"plain-value-7431")
        assert databases._count_in(file, leak) == 2


# -- the server works meanwhile ------------------------------------------------------------------


def test_what_a_server_writes_meanwhile_is_neither_lost_nor_held_up_for_long(path: Path):
    over = threading.Event()
    written: list[int] = []

    def serve() -> None:
        while not over.is_set():
            row = len(written)
            write(path, ("INSERT INTO results VALUES (?, 'fine')", (f"new{row}",)))
            written.append(row)

    server = threading.Thread(target=serve)
    server.start()
    try:
        rows = [row for _ in range(5) for row in scrubbed(path)]
    finally:
        over.set()
        server.join(30)
    assert ScrubState.CLEANED in {row.state for row in rows}
    assert CORE not in stored(path)
    assert read(path, "SELECT count(*) FROM results WHERE value = 'fine'") == [(len(written),)]
    assert read(path, "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.parametrize("lock", ["BEGIN IMMEDIATE", "BEGIN; SELECT * FROM queries"])
def test_a_server_that_keeps_its_database_busy_is_told_and_nothing_is_half_done(
    path: Path, lock: str
):
    with closing(sqlite3.connect(path, isolation_level=None)) as server:
        for statement in lock.split("; "):
            server.execute(statement).fetchone()
        [row] = scrubbed(path, seconds=1.2)
        assert row.state is ScrubState.LEFT
        assert "the server is using it" in row.detail
        if lock == "BEGIN IMMEDIATE":
            assert VALUE in str(server.execute("SELECT text FROM queries").fetchall()[0][0])
    assert read(path, "PRAGMA integrity_check") == [("ok",)]
    [row] = scrubbed(path)
    assert row.state is ScrubState.CLEANED
    assert CORE not in stored(path)


def test_what_fails_in_the_middle_is_undone(path: Path):
    write(
        path,
        (
            "CREATE TRIGGER refuse BEFORE UPDATE ON results BEGIN SELECT RAISE(ABORT, 'no'); END",
            (),
        ),
    )
    before = read(path, "SELECT text FROM queries")
    [row] = scrubbed(path)
    assert row.state is ScrubState.LEFT
    assert read(path, "SELECT text FROM queries") == before


def test_a_damaged_database_is_named_and_left_alone(path: Path):
    broken = path.with_name("broken")
    broken.write_bytes(b"SQLite format 3\0" + VALUE.encode() * 300)
    found = [ServerDatabase(broken, (("queries", "text"),))]
    [row] = scrub(found, Leak(VALUE), Deadline.after(5), dry_run=False)
    assert (row.state, row.place) == (ScrubState.LEFT, str(broken))


# -- whose ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "found"),
    [
        ({}, True),
        ({"COGNEE_LOCAL_SERVER": "embedded"}, False),
        ({"COGNEE_LOCAL_BOOTSTRAP": "false"}, False),
    ],
)
async def test_only_the_databases_of_a_server_that_is_looked_after_are_looked_at(
    machine: Any, path: Path, environ: dict[str, str], *, found: bool
):
    host = machine.host(SYSTEM_ROOT_DIRECTORY=str(path.parent.parent), **environ)
    called = await host.dispatcher.call("cognee_scrub", leak=Leak(VALUE), dry_run=True)
    assert bool([row for rows in called.value for row in rows]) is found


async def test_a_server_that_somebody_named_is_theirs(
    machine: Any, path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.undo()
    host = machine.host(
        SYSTEM_ROOT_DIRECTORY=str(path.parent.parent), COGNEE_BASE_URL="http://127.0.0.1:9"
    )
    called = await host.dispatcher.call("cognee_scrub", leak=Leak(VALUE), dry_run=False)
    assert [row for rows in called.value for row in rows] == []
    assert CORE in stored(path)

"""A leaked value in the databases of a local server that goes on working."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
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
    assert "(data.name); run scrub again" in row.detail
    assert read(path, "SELECT name FROM data") == [(VALUE,)]
    assert VALUE not in str(read(path, "SELECT text FROM queries"))


def test_a_value_across_two_reads_is_counted_once(path: Path, monkeypatch: pytest.MonkeyPatch):
    leak = Leak("plain-value-7431")
    file = path.with_name("file")
    for size in range(leak.longest, leak.longest + 40):
        monkeypatch.setattr(databases, "_CHUNK", size)
        file.write_bytes(b"x" * 37 + b"plain-value-7431" + b"y" * 55 + b"plain-value-7431")
        assert databases._count_in(file, leak, Deadline.after(30)) == 2


def test_a_named_pipe_in_the_place_of_a_database_is_not_waited_for(path: Path):
    os.mkfifo(path.with_name("cache.db"))
    root = {"SYSTEM_ROOT_DIRECTORY": str(path.parent.parent)}
    assert [each.path for each in databases_of(root)] == [path]


def test_the_log_of_a_database_behind_a_link_is_looked_at_where_it_is(path: Path, tmp_path: Path):
    folder = tmp_path / "linked" / "databases"
    folder.mkdir(parents=True)
    (folder / "cognee_db").symlink_to(path)
    assert CORE not in path.read_bytes()  # all is in the log
    [looked] = scrubbed(folder / "cognee_db", dry_run=True)
    assert (looked.place, looked.count) == (
        str(folder / "cognee_db"),
        sum(1 for _ in Leak(VALUE).places(stored(path))),
    )
    [row] = scrubbed(folder / "cognee_db")
    assert row.state is ScrubState.CLEANED
    assert CORE not in stored(path)


KILLED = """
import os, signal, sqlite3, sys

path, mode, value = sys.argv[1:]
server = sqlite3.connect(path, isolation_level=None)
server.execute(f"PRAGMA journal_mode = {mode}")
server.execute("PRAGMA cache_size = 1")  # so that pages are written before the end
server.execute("CREATE TABLE queries (id TEXT PRIMARY KEY, text TEXT)")
server.execute("INSERT INTO queries VALUES ('a', ?)", (value,))
server.execute("BEGIN IMMEDIATE")
for row in range(500):
    server.execute("INSERT INTO queries VALUES (?, ?)", (row, "unfinished" * 50))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("mode", ["WAL", "DELETE", "PERSIST", "TRUNCATE"])
def test_what_a_killed_server_left_is_found_and_cleaned(system: Path, mode: str):
    made = system / "databases" / "cognee_db"
    subprocess.run([sys.executable, "-c", KILLED, made, mode, VALUE], check=False)
    before = {each.name: each.read_bytes() for each in made.parent.iterdir()}
    assert len(before) >= 2
    [looked] = scrubbed(made, dry_run=True)
    assert looked.state is ScrubState.FOUND
    kept = {each.name: each.read_bytes() for each in made.parent.iterdir()}
    assert kept["cognee_db"] == before["cognee_db"]
    [row] = scrubbed(made)
    assert row.state is ScrubState.CLEANED
    assert not any(CORE in each.read_bytes() for each in made.parent.iterdir())
    assert read(made, "SELECT * FROM queries") == [("a", MARKER)]


def test_a_value_that_lies_on_two_pages_is_found(path: Path):
    cache, leak = path.with_name("cache.db"), Leak(VALUE)
    for after in range(3900, 4200, 8):  # a page less a link to the next one
        cache.unlink(missing_ok=True)
        text = "x" * 9000 + VALUE + "y" * after
        write(
            cache,
            ("PRAGMA synchronous = OFF", ()),
            ("CREATE TABLE entries (payload TEXT)", ()),
            ("INSERT INTO entries VALUES (?)", (text,)),
        )
        if not leak.is_in(stored(cache)):
            break
    assert not leak.is_in(stored(cache))
    shown = [(row.place, row.state, row.count) for row in scrubbed(path, dry_run=True)]
    assert (str(cache), ScrubState.FOUND, 1) in shown
    [left] = [row for row in scrubbed(path) if row.state is ScrubState.LEFT]
    assert (left.place, left.count) == (str(cache), 1)
    assert "entries.payload" in left.detail


def test_tables_that_only_a_module_can_read_are_passed_over(path: Path):
    write(
        path,
        ("PRAGMA writable_schema = ON", ()),
        (
            "INSERT INTO sqlite_schema VALUES ('table', 'v', 'v', 0, ?)",
            ("CREATE VIRTUAL TABLE v USING nowhere(x)",),
        ),
    )
    assert [row.state for row in scrubbed(path, dry_run=True)] == [ScrubState.FOUND]
    assert [row.state for row in scrubbed(path)] == [ScrubState.CLEANED]


def test_a_torn_text_keeps_no_other_from_being_cleaned(path: Path):
    write(
        path,
        ("INSERT INTO queries VALUES ('torn', CAST(x'41ff' AS TEXT), 'u')", ()),
        ("INSERT INTO queries VALUES ('both', CAST(? AS TEXT), 'u')", (b"\xff" + VALUE.encode(),)),
    )
    [row] = scrubbed(path)
    assert row.state is ScrubState.CLEANED
    rows = dict(read(path, "SELECT id, CAST(text AS BLOB) FROM queries"))
    assert rows["torn"] == b"A\xff"
    assert rows["both"].endswith(MARKER.encode())
    assert CORE not in stored(path)


def test_a_schema_of_another_cognee_is_named_and_left_as_it_is(path: Path):
    other = "CREATE TABLE results (value TEXT PRIMARY KEY) WITHOUT ROWID"
    write(path, ("DROP TABLE results", ()), (other, ()))
    before = read(path, "SELECT * FROM queries")
    [row] = scrubbed(path)
    assert row.state is ScrubState.LEFT
    assert "using it" not in row.detail
    assert read(path, "SELECT * FROM queries") == before


# -- large files -----------------------------------------------------------------------------------


@pytest.fixture
def keeping(monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite leaves what was deleted in free pages, whatever was asked of it."""
    change = databases._Scrub._change

    def without_overwriting(work: Any, database: sqlite3.Connection, held: Any) -> None:
        change(work, database, held)
        database.execute("PRAGMA secure_delete = OFF")
        database.execute("INSERT INTO data VALUES ('long', ?)", (VALUE * 500,))
        database.execute("DELETE FROM data")

    monkeypatch.setattr(databases._Scrub, "_change", without_overwriting)


@pytest.mark.usefixtures("keeping")
def test_a_file_that_is_too_large_is_cleaned_but_not_packed(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(databases, "PACKED_BYTES", 1000)
    [row] = scrubbed(path)
    assert row.state is ScrubState.LEFT
    assert "too large to be packed" in row.detail
    assert "sqlite3 FILE VACUUM" in row.detail
    assert VALUE not in str(read(path, "SELECT text FROM queries"))


@pytest.mark.usefixtures("keeping")
def test_a_disk_without_room_is_not_filled(path: Path, monkeypatch: pytest.MonkeyPatch):
    usage = shutil.disk_usage(path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=10))
    [row] = scrubbed(path)
    assert row.state is ScrubState.LEFT
    assert "no room" in row.detail


def test_a_file_that_needs_no_packing_is_clean_without(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(databases, "PACKED_BYTES", 0)
    rows = scrubbed(path)
    assert [row.state for row in rows] == [ScrubState.CLEANED]
    assert CORE not in stored(path)


def fill(path: Path, table: str = "results") -> None:
    with closing(sqlite3.connect(path)) as opened, opened:
        rows = ((str(number), "x" * 300) for number in range(5000))
        opened.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)


def test_packing_that_takes_too_long_is_given_up_and_harms_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    fill(path)
    write(path, ("INSERT INTO data VALUES ('b', ?)", (VALUE,)))
    monkeypatch.setattr(databases._Scrub, "_change", lambda *_: None)
    monkeypatch.setattr(databases, "HELD_SECONDS", 0.0)
    monkeypatch.setattr(databases, "_STEPS", 100)
    [row] = scrubbed(path)
    assert row.state is ScrubState.LEFT
    assert "longer than the server would wait" in row.detail
    assert read(path, "PRAGMA integrity_check") == [("ok",)]
    assert read(path, "SELECT count(*) FROM results") == [(5001,)]


def test_a_change_that_takes_too_long_is_undone(path: Path, monkeypatch: pytest.MonkeyPatch):
    before = read(path, "SELECT text FROM queries")
    monkeypatch.setattr(databases, "HELD_SECONDS", 0.0)
    monkeypatch.setattr(databases, "_STEPS", 1)
    [row] = scrubbed(path)
    assert row.state is ScrubState.LEFT
    assert read(path, "SELECT text FROM queries") == before
    assert read(path, "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_look_ends_when_its_time_is_over(
    path: Path, monkeypatch: pytest.MonkeyPatch, *, dry_run: bool
):
    fill(path)
    monkeypatch.setattr(databases, "_STEPS", 100)
    before = stored(path)
    [row] = scrubbed(path, dry_run=dry_run, seconds=0.5)
    assert row.state is ScrubState.LEFT
    assert "in the time that there is" in row.detail
    assert stored(path) == before


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
    before = broken.read_bytes()
    [row] = scrub(found, Leak(VALUE), Deadline.after(5), dry_run=False)
    assert (row.state, row.place) == (ScrubState.LEFT, str(broken))
    assert "SQLITE_NOTADB" in row.detail
    assert broken.read_bytes() == before


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

"""The ledger: counts and hashes of what was done in a session, never a text, safe to share."""

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.results import Act
from cognee_hooks.services import ledger_file
from cognee_hooks.services.filelock import KernelLock
from cognee_hooks.services.ledger import MAX_WHAT, Ledger
from cognee_hooks.services.ledger_file import LedgerFile, LedgerRow, ledger_files
from cognee_hooks.services.session_state import KEPT_SECONDS

SESSION = "claude_abc"


@pytest.fixture
def key_file(tmp_path) -> Path:
    path = tmp_path / "key"
    path.write_bytes(os.urandom(32))
    path.chmod(0o600)
    return path


@pytest.fixture
def ledger(tmp_path, key_file) -> Ledger:
    return Ledger(tmp_path / "ledger", "claude-code", key_file, now=lambda: 1000.0)


def only_file(tmp_path) -> LedgerFile:
    [file] = ledger_files(tmp_path / "ledger")
    return file


def test_making_one_touches_no_file(ledger, tmp_path):
    assert ledger.totals(SESSION) == {}
    assert not (tmp_path / "ledger").exists()


def test_a_row_says_what_was_done_and_how_much_but_not_with_which_text(ledger, tmp_path):
    ledger.record(SESSION, Act.CAPTURED, "qa", content="swordfish ü", seconds=0.0123456)
    file = only_file(tmp_path)
    [row] = file.rows()
    assert (row.time, row.act, row.what, row.count) == (1000.0, Act.CAPTURED, "qa", 1)
    assert (row.size, row.seconds, len(row.digest)) == (12, 0.0123, 16)
    assert b"swordfish" not in file.path.read_bytes()
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert file.head() == {"session_id": SESSION, "agent": "claude-code", "began": 1000.0}


def test_a_session_says_which_dataset_it_belongs_to(ledger, tmp_path):
    ledger.bind(SESSION, "team")
    ledger.record(SESSION, Act.CAPTURED, "qa")
    assert only_file(tmp_path).head()["dataset"] == "team"


def test_texts_are_weighed_by_what_was_done_with_them(ledger, tmp_path):
    assert ledger.sizes("") == {}
    for act, content in ((Act.CAPTURED, "four"), (Act.INJECTED, "eleven char"), (Act.SYNCED, None)):
        ledger.record(SESSION, act, "x", content=content)
    ledger.record(SESSION, Act.INJECTED, "x", content="ü")
    assert ledger.sizes(SESSION) == {Act.CAPTURED: 4, Act.INJECTED: 13}


def test_a_file_that_begins_anew_keeps_dataset_and_sizes(ledger, tmp_path, monkeypatch):
    monkeypatch.setattr(ledger_file, "MAX_BYTES", 400)
    ledger.bind(SESSION, "team")
    for _ in range(20):
        ledger.record(SESSION, Act.INJECTED, "recall", content="12345")
    file = only_file(tmp_path)
    assert file.older.exists()
    assert LedgerFile(file.path).sizes() == {Act.INJECTED: 100}
    assert file.head()["dataset"] == "team"


def test_equal_texts_have_equal_hashes_on_one_machine_only(ledger, tmp_path):
    for content in ("same", b"same", "other"):
        ledger.record(SESSION, Act.INJECTED, "recall", content=content)
    first, second, third = (row.digest for row in only_file(tmp_path).rows())
    assert first == second != third
    (tmp_path / "key2").write_bytes(os.urandom(32))
    other = Ledger(tmp_path / "ledger", "claude-code", tmp_path / "key2")
    other.record(SESSION, Act.INJECTED, "recall", content="same")
    assert [*only_file(tmp_path).rows()][-1].digest not in {first, ""}


def test_without_a_key_there_are_sizes_and_no_hashes(tmp_path):
    ledger = Ledger(tmp_path / "ledger", "claude-code", tmp_path / "missing")
    ledger.record(SESSION, Act.CAPTURED, "qa", content="text")
    [row] = only_file(tmp_path).rows()
    assert (row.size, row.digest) == (4, "")


def test_a_lone_surrogate_is_measured_too(ledger, tmp_path):
    ledger.record(SESSION, Act.CAPTURED, "qa", content="\ud800")
    assert next(only_file(tmp_path).rows()).size == 1


def test_what_is_said_is_short(ledger, tmp_path):
    ledger.record(SESSION, Act.DROPPED, "x" * 500)
    assert len(next(only_file(tmp_path).rows()).what) == MAX_WHAT


def test_without_a_session_nothing_is_recorded(ledger, tmp_path):
    ledger.record("", Act.CAPTURED, "qa")
    assert ledger.totals("") == {}
    assert ledger_files(tmp_path / "ledger") == []


def test_totals_are_those_of_all_processes(ledger, tmp_path, key_file):
    other = Ledger(tmp_path / "ledger", "claude-code", key_file)
    ledger.record(SESSION, Act.REDACTED, "token", count=3)
    assert ledger.totals(SESSION) == {Act.REDACTED: 3}
    other.record(SESSION, Act.REDACTED, "jwt")
    other.record(SESSION, Act.DELIVERED, "qa")
    other.record("another", Act.DELIVERED, "qa")
    assert ledger.totals(SESSION) == {Act.REDACTED: 4, Act.DELIVERED: 1}
    assert other.totals(SESSION) == ledger.totals(SESSION)


def test_a_full_disk_is_a_line_in_the_log_and_nothing_more(tmp_path, key_file, caplog):
    (tmp_path / "ledger").write_text("a file in the place of the folder")
    ledger = Ledger(tmp_path / "ledger", "claude-code", key_file)
    ledger.record(SESSION, Act.CAPTURED, "qa")
    assert "captured is not in the ledger: NotADirectoryError" in caplog.text
    assert ledger.totals(SESSION) == {}


def test_old_ledgers_go_and_current_ones_stay(tmp_path, key_file):
    folder = tmp_path / "ledger"
    ledger = Ledger(folder, "claude-code", key_file)
    for session in ("old", "new"):
        ledger.record(session, Act.CAPTURED, "qa")
    old, new = (LedgerFile.of(folder, each, "", 0).path for each in ("old", "new"))
    old.with_name(f"{old.name}.1").write_text("")
    long_ago = old.stat().st_mtime - KEPT_SECONDS - 10
    os.utime(old, (long_ago, long_ago))
    ledger.sweep()
    assert [path.name for path in folder.glob("[!.]*")] == [new.name]


# -- the file --------------------------------------------------------------------------------------


def row(act: Act = Act.CAPTURED, **fields) -> LedgerRow:
    return LedgerRow(**({"time": 1.0, "act": act, "what": "qa"} | fields))


@pytest.fixture
def file(tmp_path) -> LedgerFile:
    return LedgerFile.of(tmp_path, SESSION, "pi", 5.0)


def test_a_long_file_is_put_aside_and_counted_on(file, monkeypatch):
    monkeypatch.setattr(ledger_file, "MAX_BYTES", 1000)
    for _ in range(100):
        file.append(row())
    assert file.totals() == {Act.CAPTURED: 100}
    assert LedgerFile(file.path).totals() == {Act.CAPTURED: 100}
    assert LedgerFile(file.path).head()["session_id"] == SESSION
    assert file.path.with_name(f"{file.path.name}.1").stat().st_size <= 1100
    assert 20 < len(list(file.rows())) < 60


def test_a_line_that_was_cut_short_spoils_no_other(file):
    file.append(row())
    with file.path.open("ab") as opened:
        opened.write(b'{"time": 2.0, "act": "capt')
    assert file.totals() == {Act.CAPTURED: 1}
    file.append(row(Act.DELIVERED))
    assert [each.act for each in file.rows()] == [Act.CAPTURED, Act.DELIVERED]
    assert file.totals() == {Act.CAPTURED: 1, Act.DELIVERED: 1}


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe",
        b"[]",
        b"[" * 5000,
        b'{"act": "flown", "what": "qa"}',
        b'{"act": ["captured"]}',
        b'{"act": "captured", "count": "many"}',
        b'{"act": "captured", "count": -5}',
        b'{"act": "captured", "count": true}',
        b'{"totals": {"captured": 1e99, "flown": 3, "delivered": -1}}',
        b'{"totals": 3}',
        b"x" * 10_000,
    ],
)
def test_alien_lines_count_for_nothing(file, line):
    file.append(row())
    with file.path.open("ab") as opened:
        opened.write(line + b"\n")
    file.append(row())
    assert file.totals() == {Act.CAPTURED: 2}
    assert len([each for each in file.rows() if each.count > 0]) == 2


def test_fields_of_a_wrong_type_are_left_out(file):
    document = {"act": "injected", "time": "now", "what": 3, "size": "big", "seconds": "long"}
    file.path.write_text(json.dumps(document) + "\n")
    assert list(file.rows()) == [LedgerRow(time=0.0, act=Act.INJECTED, what="", seconds=0.0)]
    assert file.head() == {}


def test_a_file_that_was_replaced_is_counted_anew(file):
    file.append(row(count=5))
    assert file.totals() == {Act.CAPTURED: 5}
    file.path.unlink()
    LedgerFile(file.path, session_id=SESSION, began=6.0).append(row(count=2))
    assert file.totals() == {Act.CAPTURED: 2}
    file.path.write_bytes(b"")
    assert file.totals() == {}


def test_who_was_stopped_with_the_lock_in_hand_stops_nobody_else(file, monkeypatch):
    monkeypatch.setattr(ledger_file, "MAX_BYTES", 10)
    monkeypatch.setattr(ledger_file, "_LOCK_SECONDS", 0.01)
    file.append(row())
    with KernelLock(file.path.with_name(".lock")).holding(Deadline.after(5)):
        file.append(row())
    assert file.totals() == {Act.CAPTURED: 2}
    assert not file.older.exists()


@pytest.mark.parametrize("place", ["link", "pipe", "folder"])
def test_what_is_no_file_of_ours_is_not_written_to(file, tmp_path, place):
    target = tmp_path / "target"
    if place == "link":
        target.write_text("")
        file.path.symlink_to(target)
    elif place == "pipe":
        os.mkfifo(file.path)
    else:
        file.path.mkdir()
    if place != "pipe":
        with pytest.raises(OSError):  # noqa: PT011 - its kind depends on what lies there
            file.append(row())
    assert list(file.rows()) == []
    assert file.head() == {}
    assert not target.exists() or target.read_text() == ""


def _append_many(path: Path) -> None:
    file = LedgerFile(path, session_id=SESSION)
    for _ in range(200):
        file.append(row())


def test_processes_that_write_at_once_lose_nothing(file, monkeypatch):
    monkeypatch.setattr(ledger_file, "MAX_BYTES", 3000)
    monkeypatch.setattr(ledger_file, "_LOCK_SECONDS", 60.0)
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_append_many, args=(file.path,)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert LedgerFile(file.path).totals() == {Act.CAPTURED: 600}

from __future__ import annotations

import json
import logging
import os
import stat

import pytest

from builtin_plugins.sync.files import KEPT_SECONDS, Records
from builtin_plugins.sync.record import Record
from cognee_hooks.services.names import session_file_stem

NOW = 1_800_000_000.0
LOG = logging.getLogger("test")
GOOD = Record(session_id="s", dataset="d").accepted(NOW, 4, "idle", confirmed=True)
STEM = session_file_stem("s")


@pytest.fixture
def records(tmp_path):
    return Records(tmp_path / "improve-state", LOG)


def test_a_record_is_kept_in_a_private_file_named_by_its_session(records, tmp_path):
    records.write(GOOD)
    path = tmp_path / "improve-state" / f"{STEM}.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text().endswith("}\n")
    assert Records(path.parent, LOG).read("s", "d") == GOOD


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"session_id": "s"',
        b"\xff\xfe\x00",
        b"[" * 5000,
        b" " * 200_000 + b"{}",
        json.dumps({"session_id": "other", "dataset": "d", "last_improved_at": 5}).encode(),
        json.dumps({"session_id": "s", "dataset": "other", "last_improved_at": 5}).encode(),
    ],
    ids=["empty", "torn", "list", "null", "cut", "binary", "deep", "huge", "session", "dataset"],
)
def test_what_cannot_be_used_counts_as_no_record(records, tmp_path, content):
    path = tmp_path / "improve-state" / f"{STEM}.json"
    path.parent.mkdir()
    path.write_bytes(content)
    assert records.read("s", "d") == Record(session_id="s", dataset="d")
    records.write(GOOD)
    assert records.read("s", "d") == GOOD


def test_a_named_pipe_in_the_place_of_a_record_holds_nobody_up(records, tmp_path):
    (tmp_path / "improve-state").mkdir()
    os.mkfifo(tmp_path / "improve-state" / f"{STEM}.json")
    assert records.read("s", "d").improved_at == 0.0
    assert records.latest() == Record()


def test_a_disk_that_fails_costs_the_record_only(tmp_path, caplog):
    (tmp_path / "file").touch()
    records = Records(tmp_path / "file", LOG)
    records.write(GOOD)
    assert "not saved" in caplog.text
    assert records.read("s", "d").improved_at == 0.0
    assert records.latest() is None
    assert records.prune(NOW) == 0


def test_a_text_that_is_no_text_costs_the_record_only(records, caplog):
    records.write(Record(session_id="s", dataset="\ud800"))
    assert "not saved" in caplog.text


def test_one_at_a_time_syncs_a_session(records, tmp_path):
    mine = records.lock("s", 60)
    other = Records(tmp_path / "improve-state", LOG)
    assert mine.try_acquire()
    assert not other.lock("s", 60).try_acquire()
    assert other.lock("t", 60).try_acquire()
    mine.release()
    assert other.lock("s", 60).try_acquire()


def test_the_latest_record_is_that_of_the_file_written_last(records, tmp_path):
    assert records.latest() is None
    for session, age in (("s", 10), ("t", 5), ("u", 20)):
        records.write(Record(session_id=session).accepted(NOW, 1, "idle", confirmed=True))
        path = tmp_path / "improve-state" / f"{session_file_stem(session)}.json"
        os.utime(path, (NOW - age, NOW - age))
    assert records.latest().session_id == "t"


def test_w36_records_of_sessions_long_over_are_removed_with_what_their_locks_left(
    records, tmp_path
):
    folder = tmp_path / "improve-state"
    for session in ("s", "t"):
        records.write(Record(session_id=session))
        lock = records.lock(session, 60)
        assert lock.try_acquire()
        lock.release()
    (folder / "notes.txt").touch()
    orphan = folder / f".{'a' * 40}.lock.guard"
    orphan.touch()
    for path in folder.iterdir():
        os.utime(path, (NOW - KEPT_SECONDS - 9, NOW - KEPT_SECONDS - 9))
    os.utime(folder / f"{STEM}.json", (NOW, NOW))
    assert records.prune(NOW) == 3
    left = sorted(path.name for path in folder.iterdir())
    assert left == sorted([f".{STEM}.lock.guard", f"{STEM}.json", "notes.txt"])

from __future__ import annotations

import json
import logging
import os
import stat
from dataclasses import replace

import pytest

from builtin_plugins.sync.files import SyncRecords
from builtin_plugins.sync.record import SyncRecord
from cognee_hooks.services.names import session_file_stem
from cognee_hooks.services.session_state import KEPT_SECONDS

NOW = 1_800_000_000.0
LOG = logging.getLogger("test")
GOOD = SyncRecord(session_id="s", dataset="d").accepted(NOW, 4, "idle", confirmed=True)
EMPTY = SyncRecord(session_id="s", dataset="d")
STEM = session_file_stem("s")


@pytest.fixture
def records(tmp_path):
    return SyncRecords(tmp_path / "improve-state", "", LOG)


def test_a_record_is_kept_in_a_private_file_named_by_its_session(records, tmp_path):
    records.write(GOOD)
    path = tmp_path / "improve-state" / f"{STEM}.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text().endswith("}\n")
    assert SyncRecords(path.parent, "", LOG).read("s", "d") == GOOD


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
    assert records.read("s", "d") == SyncRecord(session_id="s", dataset="d")
    records.write(GOOD)
    assert records.read("s", "d") == GOOD


def test_a_named_pipe_in_the_place_of_a_record_holds_nobody_up(records, tmp_path):
    (tmp_path / "improve-state").mkdir()
    os.mkfifo(tmp_path / "improve-state" / f"{STEM}.json")
    assert records.read("s", "d").improved_at == 0.0
    assert records.latest() is None


def test_a_disk_that_fails_costs_the_record_only(tmp_path, caplog):
    (tmp_path / "file").touch()
    records = SyncRecords(tmp_path / "file", "", LOG)
    records.write(GOOD)
    assert "not saved" in caplog.text
    assert records.read("s", "d").improved_at == 0.0
    assert records.latest() is None
    assert records.prune(NOW) == 0


def test_a_text_that_is_no_text_costs_the_record_only(records, caplog):
    records.write(SyncRecord(session_id="s", dataset="\ud800"))
    assert "not saved" in caplog.text


def test_one_at_a_time_syncs_a_session(records, tmp_path):
    mine = records.lock("s", 60)
    other = SyncRecords(tmp_path / "improve-state", "", LOG)
    assert mine.try_acquire()
    assert not other.lock("s", 60).try_acquire()
    assert other.lock("t", 60).try_acquire()
    mine.release()
    assert other.lock("s", 60).try_acquire()


def aged(records, tmp_path, session, age, record=None):
    """Keep a record that was last written ``age`` seconds ago."""
    records.write(record or SyncRecord(session_id=session, dataset="d"))
    path = tmp_path / "improve-state" / f"{session_file_stem(session)}.json"
    os.utime(path, (NOW - age, NOW - age))
    return path


def test_the_latest_record_is_that_of_the_last_try(records, tmp_path):
    assert records.latest() is None
    aged(records, tmp_path, "s", 5)
    assert records.latest() is None
    for session, tried in (("t", 50), ("u", 70), ("v", 60)):
        record = SyncRecord(session_id=session, dataset="d").failed(tried, "timeout", "idle")
        aged(records, tmp_path, session, 100 - tried, record)
    assert records.latest().session_id == "u"


def test_sessions_that_were_still_for_an_hour_are_left_behind_newest_first(records, tmp_path):
    for session, age in (("s", 9000), ("t", 3599), ("u", 3600), ("v", 5000)):
        aged(records, tmp_path, session, age)
    assert [each.session_id for each in records.left_behind("s", NOW)] == ["u", "v"]


def test_what_lies_under_a_false_name_or_knows_no_dataset_is_nobodys_session(records, tmp_path):
    path = aged(records, tmp_path, "s", 9000)
    path.rename(path.with_name(f"{'0' * 40}.json"))
    os.utime(path.with_name(f"{'0' * 40}.json"), (0, 0))
    aged(records, tmp_path, "t", 9000, SyncRecord(session_id="t"))
    assert records.left_behind("u", NOW) == []


def test_only_so_many_records_are_read(records, tmp_path):
    for number in range(60):
        aged(records, tmp_path, f"s{number}", 4000 + number)
    left = records.left_behind("u", NOW)
    assert [each.session_id for each in left] == [f"s{number}" for number in range(50)]


def test_a_session_that_goes_on_is_not_left_behind(records, tmp_path):
    record = GOOD.failed(NOW, "timeout", "idle")
    path = aged(records, tmp_path, "s", NOW, record)
    records.keep_alive(SyncRecord(session_id="s", dataset="d"))
    assert records.read("s", "d") == record
    assert path.stat().st_mtime > 0
    records.keep_alive(SyncRecord(session_id="t", dataset="d"))
    assert records.read("t", "d") == SyncRecord(session_id="t", dataset="d")
    assert len(list(path.parent.glob("*.json"))) == 2


def test_w36_records_of_sessions_long_over_are_removed_with_what_their_locks_left(
    records, tmp_path
):
    folder = tmp_path / "improve-state"
    for session in ("s", "t"):
        records.write(SyncRecord(session_id=session))
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


def test_what_was_asked_of_another_server_counts_as_no_record(records, tmp_path):
    other = SyncRecords(tmp_path / "improve-state", "other", LOG)
    for each in (GOOD, GOOD.failed(NOW, "timeout", "idle").waits(NOW)):
        other.write(each)
        assert SyncRecords(tmp_path / "improve-state", "ours", LOG).read("s", "d") == EMPTY
        assert other.read("s", "d") == replace(each, server="other")
    records = SyncRecords(tmp_path / "improve-state", "ours", LOG)
    assert records.waiting(NOW) == records.left_behind("t", NOW) == []
    assert records.latest() is None
    records.keep_alive(records.read("s", "d"))
    assert records.read("s", "d") == replace(EMPTY, server="ours")


def test_who_waits_is_known_by_a_file_that_goes_with_the_wait(records, tmp_path):
    folder = tmp_path / "improve-state"
    records.write(EMPTY.waits(NOW))
    assert [each.session_id for each in records.waiting(NOW)] == ["s"]
    mark = folder / f"{STEM}.waiting"
    assert stat.S_IMODE(mark.stat().st_mode) == 0o600
    records.write(GOOD)
    assert not mark.exists()
    mark.touch()  # left by a process that was killed in between
    (folder / f"{'a' * 40}.waiting").touch()
    assert records.waiting(NOW) == []
    for path in folder.iterdir():
        os.utime(path, (NOW - KEPT_SECONDS - 9, NOW - KEPT_SECONDS - 9))
    assert records.prune(NOW) == 3
    assert list(folder.iterdir()) == []


def test_a_session_that_waited_for_a_month_is_left_where_it_is(records, tmp_path):
    aged(records, tmp_path, "s", 9000, EMPTY.waits(NOW - KEPT_SECONDS))
    aged(records, tmp_path, "t", 9000, replace(EMPTY, session_id="t").waits(NOW - 9000))
    assert [each.session_id for each in records.waiting(NOW)] == ["t"]
    assert [each.session_id for each in records.left_behind("u", NOW)] == ["t"]

from __future__ import annotations

import json
import logging
import os
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builtin_plugins.code_lane.record import (
    COMPLETED,
    ERRORED,
    LOST_AFTER,
    IndexRecord,
    pause_after,
)
from builtin_plugins.code_lane.records import IndexRecords
from builtin_plugins.code_lane.repository import Repository

URL = "http://127.0.0.1:8011"
NOW = 1_800_000_000.0


def make(folder, url=URL):
    return IndexRecords(folder / "code-graph", url, logging.getLogger("test"))


def record_of(folder, **fields):
    repository = Repository(str(folder), remote=False)
    known = {"base_url": URL, "repository": repository, "dataset": repository.dataset}
    return IndexRecord(**{**known, "last_index_at": NOW, **fields})


def file_of(folder):
    (path,) = folder.glob("code-graph/*/*.json")
    return path


def test_a_record_comes_back_as_it_was_written(tmp_path):
    records = make(tmp_path)
    for record in (
        record_of(tmp_path, fingerprint="a" * 64, last_status="running", index_vectors=True),
        record_of(tmp_path).failed("no", NOW),
    ):
        records.write(record)
        assert records.read(record.repository) == record
        assert records.around(str(tmp_path)) == record
        assert records.all() == [record]


def test_a_url_has_a_record_too(tmp_path):
    records, repository = make(tmp_path), Repository("https://h/o/r", remote=True)
    record = replace(record_of(tmp_path), repository=repository, dataset=repository.dataset)
    records.write(record)
    assert records.read(repository) == record
    assert records.of_dataset(repository.dataset) == record
    assert json.loads(file_of(tmp_path).read_text())["repo_root"] == ""


def test_the_innermost_indexed_folder_counts(tmp_path):
    inner = tmp_path / "outer" / "inner"
    (inner / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(inner / "deep")
    records = make(tmp_path)
    records.write(record_of(tmp_path / "outer"))
    assert records.around(str(inner)).repository.spec == str(tmp_path / "outer")
    records.write(record_of(inner))
    for folder in (inner, inner / "deep", tmp_path / "link"):
        assert records.around(str(folder)).repository.spec == str(inner)
    assert records.around(str(tmp_path)) is None
    assert records.around(str(tmp_path / "absent")) is None
    assert records.around("nul\0") is None


def test_w16_another_server_knows_nothing_of_it(tmp_path):
    make(tmp_path).write(record_of(tmp_path))
    other = make(tmp_path, "https://other.example")
    assert other.around(str(tmp_path)) is None
    other.write(record_of(tmp_path, base_url="https://other.example", dataset="d-2"))
    assert make(tmp_path).around(str(tmp_path)).dataset != "d-2"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"spec": 7}',
        b'{"spec": "relative", "dataset": "d"}',
        b"[" * 100_000,
        b"x" * 200_000,
    ],
)
def test_w16_a_torn_alien_or_hostile_file_is_no_record(tmp_path, content):
    records = make(tmp_path)
    records.write(record_of(tmp_path))
    file_of(tmp_path).write_bytes(content)
    assert records.around(str(tmp_path)) is None
    assert records.all() == []


@pytest.mark.parametrize(
    "change",
    [
        {"base_url": "http://evil"},
        {"spec": "/somewhere/else"},
        {"dataset": "../../x"},
        {"dataset": ""},
        {"spec_kind": "url"},
    ],
)
def test_a_record_that_lies_about_what_it_is_counts_as_none(tmp_path, change):
    records = make(tmp_path)
    records.write(record_of(tmp_path))
    path = file_of(tmp_path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    assert records.around(str(tmp_path)) is None


def test_a_file_that_others_can_write_to_is_not_believed(tmp_path):
    records = make(tmp_path)
    records.write(record_of(tmp_path))
    file_of(tmp_path).chmod(0o666)
    assert records.around(str(tmp_path)) is None


def test_a_lock_is_not_taken_over_while_a_submission_may_still_go_on(tmp_path):
    records, repository = make(tmp_path), record_of(tmp_path).repository
    assert records.lock(repository).try_acquire()
    (path,) = tmp_path.glob("code-graph/*/*.lock")
    half_an_hour_ago = time.time() - 1800
    os.utime(path, (half_an_hour_ago, half_an_hour_ago))
    assert not records.lock(repository, seconds=3600).try_acquire()
    assert records.lock(repository).try_acquire()


def test_a_disk_that_takes_nothing_costs_the_record_only(tmp_path):
    (tmp_path / "code-graph").write_text("a file in the way")
    records = make(tmp_path)
    records.write(record_of(tmp_path))
    assert records.all() == []


@given(
    st.dictionaries(
        st.sampled_from(list(record_of("/x").failed("e", 1.0).to_json())),
        st.none() | st.floats() | st.integers() | st.text(max_size=9) | st.lists(st.none()),
    )
)
def test_any_values_are_read_without_harm(change):
    found = IndexRecord.of_json(record_of("/x").to_json() | change)
    if found is not None:
        assert found.wait(NOW) >= 0
        assert IndexRecord.of_json(json.loads(json.dumps(found.to_json()))) is not None


@pytest.mark.parametrize(
    ("failures", "seconds"), [(1, 30), (2, 60), (5, 480), (6, 900), (9, 900), (10**9, 900)]
)
def test_vector_62_the_pause_after_failures_grows_to_a_quarter_of_an_hour(failures, seconds):
    assert pause_after(failures) == seconds


def test_a_failure_makes_the_folder_count_as_changed_after_a_pause():
    failed = record_of("/x", fingerprint="a").failed("because " * 99, NOW)
    assert (failed.fingerprint, failed.error_count) == ("", 1)
    assert len(failed.last_error) == 200
    assert (failed.wait(NOW), failed.wait(NOW + 29), failed.wait(NOW + 30)) == (30, 1, 0)


def test_a_clock_that_went_back_counts_as_due():
    assert record_of("/x").failed("no", NOW).wait(NOW - 1000) == 0


def test_a_run_that_goes_on_is_not_joined_by_another_until_it_counts_as_lost():
    record = record_of("/x", last_status="running")
    assert record.pending
    assert record.wait(NOW + 100) == LOST_AFTER - 100
    assert record.wait(NOW + LOST_AFTER) == 0


@pytest.mark.parametrize(("took", "rest"), [(1, 20), (10, 50), (380, 1900), (10_000, 3600)])
def test_a_repository_that_takes_long_is_left_alone_for_longer(took, rest):
    record = record_of("/x", last_status="running").ended(COMPLETED, NOW + took)
    assert not record.pending
    assert record.wait(NOW + took) == max(0, rest - took)


def test_a_run_that_failed_is_a_failure():
    record = record_of("/x", fingerprint="a", last_status="running").ended(ERRORED, NOW + 2)
    assert (record.last_status, record.error_count, record.fingerprint) == (ERRORED, 1, "")

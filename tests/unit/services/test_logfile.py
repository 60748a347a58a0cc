"""Logs stay small, private and whole lines, whoever writes to them."""

from __future__ import annotations

import logging
import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.services import logfile
from cognee_hooks.services.filelock import KernelLock
from cognee_hooks.services.logfile import LogFile, LogHandler, read_end

LINE = b"x" * 99 + b"\n"


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "logs" / "daemon.log"


def names(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir() if not each.name.startswith("."))


def test_a_log_is_bounded_in_size_and_number_and_the_newest_lines_stay(path):
    log = LogFile(path, max_bytes=300, kept=2)
    for number in range(20):
        log.append(b"%099d\n" % number)
    assert names(path) == ["daemon.log", "daemon.log.1", "daemon.log.2"]
    kept = [path.with_name(name).read_text() for name in reversed(names(path))]
    assert [int(line) for line in "".join(kept).splitlines()] == [*range(12, 20)]


def test_all_that_is_written_is_for_its_owner_only(path):
    log = LogFile(path, max_bytes=100, kept=1)
    for _ in range(3):
        log.append(LINE)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert {stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()} == {0o600}


def test_a_log_that_others_could_read_is_closed_to_them(path):
    path.parent.mkdir()
    path.write_bytes(b"before\n")
    path.chmod(0o644)
    LogFile(path, max_bytes=0).append(LINE)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_bytes() == b"before\n" + LINE


def test_without_a_limit_nothing_is_put_aside(path):
    log = LogFile(path, max_bytes=0)
    for _ in range(50):
        log.append(LINE)
    assert names(path) == ["daemon.log"]


def test_a_process_that_has_the_log_open_goes_on_in_the_one_that_people_look_at(path):
    log = LogFile(path, max_bytes=150)
    log.append(LINE)
    with path.open("ab", buffering=0) as stacks:
        log.append(LINE)
        assert names(path) == ["daemon.log", "daemon.log.1"]
        stacks.write(b"stack\n")
    assert path.read_bytes() == LINE + b"stack\n"


def test_one_line_that_is_longer_than_the_limit_is_written_all_the_same(path):
    log = LogFile(path, max_bytes=10)
    log.append(LINE)
    assert path.read_bytes() == LINE
    log.append(b"next\n")
    assert path.read_bytes() == b"next\n"
    assert len(path.with_name("daemon.log.1").read_bytes()) == 10


def test_a_log_that_another_program_made_long_leaves_its_end_only(path):
    path.parent.mkdir()
    path.write_bytes(b"old\n" * 1000 + LINE)
    log = LogFile(path, max_bytes=100)
    log.bound()
    assert path.read_bytes() == b""
    assert path.with_name("daemon.log.1").read_bytes() == LINE
    log.bound()
    assert path.with_name("daemon.log.1").read_bytes() == LINE


def test_a_log_that_is_not_there_is_not_made_by_bounding_it(path):
    LogFile(path, max_bytes=100).bound()
    assert not path.parent.exists()


def test_who_was_stopped_with_the_lock_in_hand_stops_nobody_else(path, monkeypatch):
    monkeypatch.setattr(logfile, "_LOCK_SECONDS", 0.01)
    log = LogFile(path, max_bytes=150)
    log.append(LINE)
    with KernelLock(path.with_name(".daemon.log.lock")).holding(Deadline.after(5)):
        log.append(LINE)
    assert path.read_bytes() == LINE * 2
    log.append(LINE)
    assert path.read_bytes() == LINE


@pytest.mark.parametrize("place", ["link", "pipe", "folder"])
def test_what_is_no_file_of_ours_is_not_written_to(path, tmp_path, place):
    path.parent.mkdir()
    if place == "link":
        path.symlink_to(tmp_path / "target")
    elif place == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(OSError):  # noqa: PT011 - its kind depends on what lies there
        LogFile(path, max_bytes=0).append(LINE)
    assert not (tmp_path / "target").exists()


def _write_many(path: Path, name: bytes) -> None:
    log = LogFile(path, max_bytes=2_000, kept=200)
    for number in range(300):
        log.append(name * 20 + b" %d\n" % number)


def test_two_processes_that_write_at_once_lose_no_line_and_tear_none(path):
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_write_many, args=(path, name)) for name in (b"a", b"b")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    files = [path.with_name(name) for name in names(path)]
    assert all(each.stat().st_size <= 2_000 for each in files)
    lines = b"".join(each.read_bytes() for each in files).splitlines()
    assert sorted(lines) == sorted(
        name * 20 + b" %d" % number for name in (b"a", b"b") for number in range(300)
    )


def record(message: str, *arguments: object) -> logging.LogRecord:
    return logging.LogRecord("cognee_hooks.x", logging.INFO, "x.py", 1, message, arguments, None)


def test_log_records_are_lines_with_time_level_and_name(path):
    LogHandler(LogFile(path, max_bytes=0)).handle(record("hello %s", "wörld"))
    assert path.read_text().endswith(" INFO cognee_hooks.x: hello wörld\n")


def test_a_record_that_cannot_be_written_costs_nothing_but_itself(path):
    class Hostile:
        def __str__(self) -> str:
            raise SystemExit

    handler = LogHandler(LogFile(path, max_bytes=0))
    handler.handle(record("%s", Hostile()))
    handler.handle(record("%d", "no number"))
    handler.handle(record("lone \ud800"))
    path.unlink()
    path.mkdir()
    handler.handle(record("lost"))
    path.rmdir()
    handler.handle(record("next"))
    assert path.read_text().endswith("next\n")


def test_the_end_of_a_file_is_read_and_a_link_only_where_that_is_wanted(tmp_path):
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"0123456789")
    link.symlink_to(file)
    assert read_end(file, 4) == b"6789"
    assert read_end(file, 40) == b"0123456789"
    assert (read_end(link, 4), read_end(link, 4, follow=True)) == (b"", b"6789")
    assert read_end(tmp_path, 4) == read_end(tmp_path / "none", 4) == b""

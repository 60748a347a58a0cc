from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from builtin_plugins.bootstrap import state
from builtin_plugins.bootstrap.state import Phase, Process, ServerRecord
from cognee_hooks.services.process_table import start_time

NOW = 1_800_000_000.0
ME = Process(pid=os.getpid(), started=start_time(os.getpid()))


def test_a_record_survives_the_disk(tmp_path: Path):
    record = ServerRecord(
        phase=Phase.READY, detail="d", at=NOW, streak=2, worker=ME, server=ME, version="1.6.5"
    )
    state.write(tmp_path / "s.json", record)
    assert state.read(tmp_path / "s.json") == record


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{torn",
        "[]",
        '{"phase": "flying", "worker": 3, "server": {"pid": "x"}, "at": "x", "streak": -4}',
        '{"phase": ["ready"], "server": {"pid": true}, "detail": 7, "streak": 1e400}',
        '{"server": {"pid": -1}, "version": null}',
    ],
)
def test_a_file_that_says_nothing_is_an_empty_record(tmp_path: Path, content: str):
    (tmp_path / "s.json").write_text(content)
    (tmp_path / "s.json").chmod(0o600)
    assert state.read(tmp_path / "s.json") == ServerRecord()


def test_a_file_that_others_can_write_is_not_believed(tmp_path: Path):
    (tmp_path / "s.json").write_text(json.dumps({"phase": "ready"}))
    (tmp_path / "s.json").chmod(0o666)
    assert state.read(tmp_path / "s.json") == ServerRecord()


def test_what_a_failure_said_is_one_line_of_bounded_length(tmp_path: Path):
    state.write(
        tmp_path / "s.json", ServerRecord(phase=Phase.FAILED, detail="a\nb\x1b[31m" + "x" * 9000)
    )
    detail = state.read(tmp_path / "s.json").detail
    assert "\n" not in detail
    assert "\x1b" not in detail
    assert len(detail) <= 1000


def test_a_worker_that_is_gone_works_on_nothing():
    assert ServerRecord(phase=Phase.STARTING, worker=ME).working
    assert not ServerRecord(phase=Phase.STARTING, worker=Process(pid=ME.pid, started="1")).working
    assert not ServerRecord(phase=Phase.READY, worker=ME).working


@pytest.mark.parametrize(
    ("phase", "streak", "wait"),
    [
        (Phase.NONE, 0, None),
        (Phase.READY, 1, None),
        (Phase.READY, 2, 30),
        (Phase.READY, 3, 60),
        (Phase.FAILED, 1, 30),
        (Phase.FAILED, 3, 120),
        (Phase.FAILED, 30, 3600),
    ],
)
def test_w22_a_server_that_died_is_tried_again_later_and_later(
    phase: Phase, streak: int, wait: float | None
):
    next_try = ServerRecord(phase=phase, streak=streak, at=NOW).next_try()
    assert next_try == (NOW + wait if wait else 0.0)


def test_w22_a_server_that_lived_long_was_no_failure():
    record = ServerRecord(phase=Phase.READY, streak=4, at=NOW)
    assert record.streak_now(NOW + 299) == 5
    assert record.streak_now(NOW + 300) == 1
    assert ServerRecord(phase=Phase.FAILED, streak=4, at=NOW).streak_now(NOW + 9999) == 5

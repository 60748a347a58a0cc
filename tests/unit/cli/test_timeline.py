from __future__ import annotations

import json

import pytest

from cognee_hooks.cli import main
from cognee_hooks.history.usage import GAP_SECONDS
from cognee_hooks.results import Act
from tests.support.ledgers import LedgerWriter

BEGAN = 1_750_000_000.0


@pytest.fixture
def record(isolated_environment) -> LedgerWriter:
    return LedgerWriter()


def timeline(capsys, *arguments: str) -> list[dict]:
    assert main(["ledger", "--timeline", "--json", *arguments]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_longer_pause_ends_a_stretch_of_work(capsys, record):
    for at in (0, GAP_SECONDS, 2 * GAP_SECONDS + 1):
        record("claude_1", Act.CAPTURED, "qa", at=BEGAN + at)
    first, second = timeline(capsys)
    assert (first["captured"], second["captured"]) == (2, 1)
    assert (first["first"], first["last"]) == (BEGAN, BEGAN + GAP_SECONDS)


def test_sessions_that_work_at_once_stand_side_by_side(capsys, record):
    record("claude_1", Act.CAPTURED, "qa", at=BEGAN)
    record("pi_1", Act.CAPTURED, "qa", at=BEGAN + 1, agent="pi", dataset="team")
    record("claude_1", Act.RECALLED, "hit", at=BEGAN + 2)
    first, second = timeline(capsys)
    assert (first["session_id"], first["hits"]) == ("claude_1", 1)
    assert (second["session_id"], second["dataset"]) == ("pi_1", "team")


def test_rows_that_processes_wrote_out_of_order_are_one_stretch(capsys, record):
    for at in (GAP_SECONDS, 0, 2 * GAP_SECONDS):
        record("claude_1", Act.CAPTURED, "qa", at=BEGAN + at)
    assert len(timeline(capsys)) == 1


def test_the_latest_stretches_of_one_session_are_shown(capsys, record):
    for number in range(3):
        record("claude_1", Act.CAPTURED, "qa", at=BEGAN + number * 2 * GAP_SECONDS)
    record("pi_1", Act.CAPTURED, "qa", at=BEGAN, agent="pi")
    assert len(timeline(capsys, "--session", "claude", "-n", "2")) == 2
    assert timeline(capsys, "-n", "0") == []


def test_people_get_a_table(capsys, record):
    assert main(["ledger", "--timeline"]) == 0
    assert capsys.readouterr().out == "Nothing is recorded yet.\n"
    record("claude_1", Act.INJECTED, "recall", at=BEGAN, content="x" * 8000)
    assert main(["ledger", "--timeline"]) == 0
    assert "2,000" in capsys.readouterr().out


def test_a_terminal_that_has_no_room_for_the_table_is_told_stretch_by_stretch(
    capsys, record, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "60")
    record("claude_1", Act.CAPTURED, "qa", at=BEGAN)
    record("claude_1", Act.CAPTURED, "qa", at=BEGAN + 70)
    assert main(["ledger", "--timeline"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "for: 1 min · session: claude_1" in told
    assert "captured: 2" in told


def test_a_timeline_cannot_be_followed(capsys):
    assert main(["ledger", "--timeline", "--follow"]) == 2
    assert "--follow" in capsys.readouterr().err

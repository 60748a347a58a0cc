from __future__ import annotations

import json
import time
from datetime import datetime

import pytest

from cognee_hooks.cli import main
from cognee_hooks.results import Act
from tests.support.ledgers import DAY, LedgerWriter

NOON = datetime(2026, 3, 10, 12).astimezone().timestamp()


@pytest.fixture
def record(isolated_environment, monkeypatch) -> LedgerWriter:
    monkeypatch.setattr(time, "time", lambda: NOON)
    return LedgerWriter()


def stats(capsys, *arguments: str) -> dict:
    assert main(["stats", "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def two_days(record):
    yesterday = NOON - DAY
    record("claude_1", Act.CAPTURED, "qa", at=yesterday, dataset="team", content="12345678")
    record("claude_1", Act.REDACTED, "password", at=yesterday, count=2)
    record("claude_1", Act.DELIVERED, "qa", at=yesterday)
    record("claude_1", Act.RECALLED, "hit", at=yesterday, seconds=0.5)
    record("claude_1", Act.INJECTED, "recall", at=yesterday, content="x" * 401)
    record("pi_1", Act.RECALLED, "nothing", at=NOON, agent="pi")
    record("pi_1", Act.RECALLED, "server unreachable", at=NOON)
    record("pi_1", Act.DROPPED, "own_tool", at=NOON)
    record("pi_1", Act.DROPPED, "queue_overflow", at=NOON)


def test_days_are_added_up_each_for_itself_and_all_together(capsys, two_days):
    told = stats(capsys)
    assert [*told["groups"]] == ["2026-03-09", "2026-03-10"]
    first, second = told["groups"].values()
    assert (first["captured"], first["redacted"], first["sent"]) == (1, 2, 1)
    assert (first["injected_bytes"], first["tokens_estimated"]) == (401, 101)
    assert (first["hit_rate"], second["hit_rate"]) == (1.0, 0.0)
    assert told["total"]["sessions"] == 2
    assert told["total"]["hit_rate"] == 0.5
    assert told["redactions"] == {"password": 2}


def test_a_recall_that_could_not_ask_is_no_miss(capsys, two_days):
    second = stats(capsys)["groups"]["2026-03-10"]
    assert (second["recalls"], second["answered"], second["hits"]) == (2, 1, 0)


def test_what_the_rules_leave_out_is_not_lost(capsys, two_days):
    second = stats(capsys)["groups"]["2026-03-10"]
    assert (second["left_out"], second["lost"]) == (1, 1)


@pytest.mark.parametrize(
    ("by", "names"), [("agent", ["claude-code", "pi"]), ("dataset", ["?", "team"])]
)
def test_agents_and_datasets_are_told_apart(capsys, two_days, by, names):
    assert [*stats(capsys, "--by", by)["groups"]] == names


def test_what_is_older_does_not_count(capsys, two_days):
    assert [*stats(capsys, "--since", "12h")["groups"]] == ["2026-03-10"]


def test_the_table_ends_with_the_sum(capsys, two_days):
    assert main(["stats"]) == 0
    lines = capsys.readouterr().out.rstrip().splitlines()
    assert lines[-1].split() == ["all", "2", "1", "2", "1", "1", "3", "50%", "1", "101"]


def test_a_terminal_that_has_no_room_for_the_table_is_told_group_by_group(
    capsys, two_days, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["stats"]) == 0
    assert capsys.readouterr().out.splitlines()[-4:] == [
        "all",
        "  sessions: 2 · captured: 1 · redacted: 2 · sent: 1",
        "  lost: 1 · recalls: 3 · hit rate: 50% · injected: 1",
        "  ~tokens: 101",
    ]

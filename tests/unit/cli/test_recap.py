from __future__ import annotations

import json
import os
import re

import pytest

from cognee_hooks.cli import main
from cognee_hooks.results import Act
from cognee_hooks.services.names import session_file_stem
from cognee_hooks.services.paths import Paths
from tests.support.ledgers import LedgerWriter

BEGAN = 1_750_000_000.0


@pytest.fixture
def record(isolated_environment) -> LedgerWriter:
    return LedgerWriter()


@pytest.fixture
def busy(record):
    record("claude_1", Act.CAPTURED, "qa", at=BEGAN, dataset="team")
    for second in range(3):
        record("claude_1", Act.CAPTURED, "trace", at=BEGAN + second)
        record("claude_1", Act.DELIVERED, "trace", at=BEGAN + second)
    record("claude_1", Act.REDACTED, "password", at=BEGAN, count=2)
    record("claude_1", Act.DROPPED, "own_tool", at=BEGAN)
    record("claude_1", Act.DROPPED, "queue_overflow", at=BEGAN)
    for what in ("hit", "hit", "nothing", "server unreachable"):
        record("claude_1", Act.RECALLED, what, at=BEGAN, seconds=0.2)
    record("claude_1", Act.INJECTED, "recall", at=BEGAN, content="x" * 4000)
    record("claude_1", Act.COMPACTED, "manual", at=BEGAN)
    record("claude_1", Act.SYNCED, "final accepted", at=BEGAN + 120, count=4)


def lines(capsys, *arguments: str) -> dict[str, str]:
    assert main(["recap", *arguments]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) <= 10
    return dict(re.split(r":\s+", line, maxsplit=1) for line in shown)


def test_a_session_is_told_in_ten_lines(capsys, busy):
    told = lines(capsys)
    assert told.pop("Time").startswith("20")
    assert told == {
        "Session": "claude_1 (claude-code)",
        "Dataset": "team",
        "Captured": "3 tool calls, 1 turn, 1 call left out by the rules",
        "Redacted": "2 secrets (password 2)",
        "Sent": "3 of 4, 1 lost (queue_overflow 1)",
        "Recalled": "4 prompts, 2 of 3 had hits (67%), 1 skipped (server unreachable 1); "
        "0.2 s on average",
        "Injected": "1 section, 4,000 bytes, about 1,000 tokens (recall 1)",
        "Compacted": "1 time",
        "Synced": "4 entries",
    }


def test_a_wait_of_less_than_a_tenth_of_a_second_is_told_in_milliseconds(capsys, record):
    record("claude_1", Act.RECALLED, "hit", at=BEGAN, seconds=0.006)
    assert lines(capsys)["Recalled"].endswith("; 6 ms on average")


def test_entries_that_wait_are_named(capsys, busy):
    path = Paths.of(os.environ, "claude-code").bridge_dir / f"{session_file_stem('claude_1')}.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"entries": [{"type": "qa"}], "fail_count": 0, "fail_at": 0}))
    assert lines(capsys)["Sent"] == "3 of 4, 1 waiting, 1 lost (queue_overflow 1)"


def test_a_quiet_session_says_so_in_every_line(capsys, record):
    record("pi_1", Act.BUFFERED, at=BEGAN, agent="pi")
    told = lines(capsys)
    assert told["Captured"] == "nothing"
    assert told["Redacted"] == "nothing"
    assert told["Recalled"] == "memory was not asked"
    assert told["Injected"] == "nothing"
    assert told["Synced"] == "nothing yet"
    assert "Compacted" not in told


def test_the_latest_session_is_taken_unless_one_is_named(capsys, record):
    for number, session_id in enumerate(("claude_1", "claude_2")):
        record(session_id, Act.CAPTURED, "qa", at=BEGAN)
        ledger = next(Paths.of(os.environ, "claude-code").ledger_dir.glob(f"*{number + 1}*.jsonl"))
        os.utime(ledger, (BEGAN + number, BEGAN + number))
    assert lines(capsys)["Session"].startswith("claude_2")
    assert lines(capsys, "claude_1")["Session"].startswith("claude_1")


def test_a_session_that_is_not_there_is_wrong_usage(capsys, busy):
    assert main(["recap", "pi_9"]) == 2
    assert "cognee-hooks sessions" in capsys.readouterr().err


def test_programs_get_every_number(capsys, busy):
    assert main(["recap", "claude", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["session_id"], told["dataset"], told["waiting"]) == ("claude_1", "team", 0)
    assert (told["recalls"], told["hits"], told["tokens_estimated"]) == (4, 2, 1000)
    assert told["kinds"]["captured"] == {"trace": 3, "qa": 1}


def test_without_a_session_it_says_what_to_do(capsys):
    assert main(["recap"]) == 0
    assert "cognee-hooks install" in capsys.readouterr().out
    assert main(["recap", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) is None


def test_what_a_torn_or_hostile_ledger_says_stays_on_its_line(capsys, record):
    record("pi_1", Act.INJECTED, "\x1b[2J\nlane", at=BEGAN, agent="pi", content="x")
    assert "\x1b" not in lines(capsys)["Injected"]

from __future__ import annotations

import json
import os
import time

import pytest

from cognee_hooks.cli import main
from cognee_hooks.daemon import control
from cognee_hooks.results import Act
from cognee_hooks.services.ledger import Ledger
from cognee_hooks.services.names import session_file_stem
from cognee_hooks.services.paths import Paths

KEYS = {
    "session_id",
    "agent",
    "live",
    "began",
    "last",
    "captured",
    "delivered",
    "waiting",
    "injected",
}


@pytest.fixture
def daemon(monkeypatch):
    """What the daemon says; None where none runs."""
    said: dict[str, object] = {"reply": None}
    monkeypatch.setattr(control, "ask", lambda folder, verb: said["reply"])
    return said


@pytest.fixture(autouse=True)
def without_daemon(daemon):
    pass


def record(agent: str, session_id: str, *acts: Act) -> None:
    paths = Paths.of(os.environ, agent)
    ledger = Ledger(paths.ledger_dir, agent, paths.key_file)
    for act in acts:
        ledger.record(session_id, act, "x")


def buffer(agent: str, session_id: str, count: int) -> None:
    path = Paths.of(os.environ, agent).bridge_dir / f"{session_file_stem(session_id)}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    entries = [{"sealed": "x", "seq": each, "_buffered_at": 1} for each in range(count)]
    path.write_text(json.dumps({"entries": entries}))


def rows(capsys, *arguments: str) -> list[dict[str, object]]:
    assert main(["sessions", "--json", *arguments]) == 0
    found = json.loads(capsys.readouterr().out)
    assert all(set(row) == KEYS for row in found)
    return found


def live(session_id: str, **more: object) -> dict[str, object]:
    row = {"agent": "claude-code", "session_id": session_id, "began": 5.0, "last_event": 9.0}
    return {**row, "waiting": 0, **more}


def test_without_sessions_it_says_how_one_comes_to_be(capsys):
    assert main(["sessions"]) == 0
    assert "cognee-hooks install" in capsys.readouterr().out
    assert rows(capsys) == []


def test_a_session_is_told_with_what_became_of_its_captures(capsys):
    captured = [Act.CAPTURED] * 4
    record("pi", "pi_1", *captured, Act.DELIVERED, Act.REPLAYED, Act.INJECTED, Act.REDACTED)
    buffer("pi", "pi_1", 2)
    (row,) = rows(capsys)
    began, last = row.pop("began"), row.pop("last")
    assert abs(began - time.time()) < 60
    assert abs(last - time.time()) < 60
    assert row == {
        "session_id": "pi_1",
        "agent": "pi",
        "live": False,
        "captured": 4,
        "delivered": 2,
        "waiting": 2,
        "injected": 1,
    }


def test_live_sessions_are_marked_and_those_without_a_ledger_are_shown_too(capsys, daemon):
    record("pi", "pi_1", Act.CAPTURED)
    record("claude-code", "claude_1", Act.CAPTURED)
    daemon["reply"] = {"sessions": [live("claude_1", waiting=3), live("claude_2")]}
    found = {row["session_id"]: row for row in rows(capsys)}
    assert {name: row["live"] for name, row in found.items()} == {
        "pi_1": False,
        "claude_1": True,
        "claude_2": True,
    }
    assert (found["claude_1"]["waiting"], found["claude_1"]["captured"]) == (3, 1)
    assert (found["claude_2"]["began"], found["claude_2"]["last"]) == (5.0, 9.0)


def test_the_latest_come_first_and_no_more_than_asked_for(capsys):
    for number in range(4):
        record("pi", f"pi_{number}", Act.CAPTURED)
        folder = Paths.of(os.environ, "pi").ledger_dir
        os.utime(folder / f"{session_file_stem(f'pi_{number}')}.jsonl", (number + 1, number + 1))
    assert [row["session_id"] for row in rows(capsys, "-n", "2")] == ["pi_3", "pi_2"]
    assert rows(capsys, "-n", "0") == []


def test_where_none_is_asked_for_nothing_is_said_about_there_being_none(capsys):
    record("pi", "pi_1", Act.CAPTURED)
    assert main(["sessions", "-n", "0"]) == 0
    assert capsys.readouterr().out == ""


def test_what_another_program_left_behind_is_a_session_too(capsys):
    buffer("pi", "pi_left", 3)
    (row,) = rows(capsys)
    assert (row["agent"], row["waiting"], row["captured"]) == ("pi", 3, 0)


def test_people_get_a_table(capsys):
    record("pi", "pi_1", Act.CAPTURED, Act.DELIVERED)
    assert main(["sessions"]) == 0
    _, heading, _, row, *_ = capsys.readouterr().out.splitlines()
    assert heading.split()[:2] == ["session", "agent"]
    assert row.split()[:2] == ["pi_1", "pi"]
    assert row.split()[-4:] == ["1", "1", "0", "0"]


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"sessions": None},
        {"sessions": {"a": 1}},
        {"sessions": [None, 3, {}, live("x", last_event="soon", began=None, waiting="many")]},
        {"sessions": [live(["x"], last_event=1e300)]},
        {"sessions": [live("x", agent=3)]},
    ],
)
@pytest.mark.parametrize("option", [[], ["--json"]])
def test_what_a_daemon_of_another_version_says_is_shown_as_far_as_it_is_understood(
    capsys, daemon, reply, option
):
    daemon["reply"] = reply
    assert main(["sessions", *option]) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize("option", [[], ["--json"]])
def test_nothing_that_was_written_reaches_the_terminal_as_a_command(capsys, daemon, option):
    daemon["reply"] = {"sessions": [live("a\x1b[2Jb\x9b31m", agent="\x1b]0;title\x07pi")]}
    assert main(["sessions", *option]) == 0
    assert not set(capsys.readouterr().out) & set("\x1b\x9b\x07")

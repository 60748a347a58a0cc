"""How plugins behave in live sessions, in ``plugins``, ``doctor`` and ``stats``."""

from __future__ import annotations

import json
import time
from datetime import datetime

import pytest

from cognee_hooks.cli import main
from cognee_hooks.daemon import control
from cognee_hooks.results import Act
from tests.support.ledgers import LedgerWriter

NOON = datetime(2026, 3, 10, 12).astimezone().timestamp()
STOP, PROMPT = "cognee_stop", "cognee_user_prompt_submit"


def hook(name: str, **more: object) -> dict[str, object]:
    usual = {"calls": 5, "seconds": 0.5, "slowest": 0.25, "faults": 0, "last_fault": "", "slow": 0}
    return {"hook": name, **usual, "quarantined": False, **more}


def session(**plugins: list[dict[str, object]]) -> dict[str, object]:
    told = [{"name": name, "hooks": hooks} for name, hooks in plugins.items()]
    return {"session_id": "claude_1", "agent": "claude-code", "plugins": told}


OFF = hook(STOP, faults=5, last_fault="ValueError notes.py:3", quarantined=True)


@pytest.fixture
def daemon(isolated_environment, monkeypatch):
    """What the daemon says; None where none runs."""
    monkeypatch.setenv("COGNEE_LOCAL_API_URL", "http://127.0.0.1:9")
    said: dict[str, object] = {"reply": None}

    def ask(folder, verb, deadline=None, **fields):
        return said["reply"] if verb == "plugins" else None

    monkeypatch.setattr(control, "ask", ask)
    return said


def told(capsys, *arguments: str) -> str:
    assert main([*arguments]) in {0, 1}
    return capsys.readouterr().out


def test_the_list_of_plugins_tells_what_each_does_in_live_sessions(daemon, capsys):
    daemon["reply"] = {"sessions": [session(notes=[OFF]), session(recall=[hook(PROMPT)])]}
    out = told(capsys, "plugins")
    live = out.split("In live sessions:")[1].splitlines()
    assert [line.split() for line in live if line.strip().startswith(("notes", "recall"))] == [
        ["notes", "5", "100.0", "250.0", "5", "stop"],
        ["recall", "5", "100.0", "250.0"],
    ]
    assert "notes" not in told(capsys, "plugins", "--hook", "user_prompt_submit")


def test_without_live_sessions_the_list_is_as_it_was(daemon, capsys):
    assert "live" not in told(capsys, "plugins")
    assert {row["live"] for row in json.loads(told(capsys, "plugins", "--json"))} == {None}


def test_programs_get_each_hook(daemon, capsys):
    daemon["reply"] = {"sessions": [session(recall=[OFF, hook(PROMPT)])] * 2}
    rows = {row["name"]: row for row in json.loads(told(capsys, "plugins", "--json"))}
    live = rows["recall"]["live"]
    assert (live["sessions"], live["calls"], live["mean_ms"]) == (2, 20, 100.0)
    assert (live["slowest_ms"], live["faults"], live["quarantined"]) == (250.0, 10, [STOP])
    assert [each["hook"] for each in live["hooks"]] == [STOP, PROMPT]
    assert rows["capture"]["live"] is None


def doctor_rows(capsys) -> list[dict[str, str]]:
    rows = json.loads(told(capsys, "doctor", "--json"))
    return [row for row in rows if row["name"] == "live plugins"]


def test_doctor_names_who_is_switched_off_in_a_live_session(daemon, capsys):
    daemon["reply"] = {"sessions": [session(notes=[OFF], recall=[hook(PROMPT)])]}
    [row] = doctor_rows(capsys)
    assert row["status"] == "warning"
    assert row["detail"].startswith("notes failed 5 times in a row and is switched off")
    assert "plugins disable notes" in row["remedy"]


def test_doctor_says_that_all_is_well_and_nothing_without_sessions(daemon, capsys):
    assert doctor_rows(capsys) == []
    daemon["reply"] = {"sessions": [session(recall=[hook(PROMPT)])]}
    [row] = doctor_rows(capsys)
    assert (row["status"], row["detail"]) == (
        "ok",
        "none of them fails or is slow in 1 live session",
    )


def test_a_name_that_is_a_command_to_the_terminal_is_only_a_name(daemon, capsys):
    name = "\x1b[2Jevil\n" + "n" * 5000
    daemon["reply"] = {"sessions": [session(**{name: [OFF]})]}
    for command in ("plugins", "doctor", "stats"):
        out = told(capsys, command, *(["--by", "plugin"] if command == "stats" else []))
        assert "\x1b[2J" not in out
        assert "evil" in out
        assert "n" * 200 not in out


@pytest.fixture
def ended(daemon, monkeypatch) -> None:
    monkeypatch.setattr(time, "time", lambda: NOON)
    record = LedgerWriter()
    record("claude_0", Act.CAPTURED, "qa", at=NOON)
    record("claude_0", Act.RAN, "recall", at=NOON, count=15, seconds=3.5)
    record("claude_0", Act.RAN, "capture", at=NOON, count=10, seconds=0.05)


def test_statistics_by_plugin_add_up_what_ended_and_what_lives(ended, daemon, capsys):
    daemon["reply"] = {"sessions": [session(notes=[OFF], recall=[hook(PROMPT)])]}
    lines = [line.split() for line in told(capsys, "stats", "--by", "plugin").splitlines()]
    assert [line for line in lines if line[:1] in (["recall"], ["notes"], ["capture"])] == [
        ["recall", "2", "20", "4.0", "200.0", "250.0"],
        ["notes", "1", "5", "0.5", "100.0", "250.0", "5", "stop"],
        ["capture", "1", "10", "0.1", "5.0"],
    ]
    groups = json.loads(told(capsys, "stats", "--by", "plugin", "--json"))["groups"]
    assert {name: each["seconds"] for name, each in groups.items()} == {
        "capture": 0.05,
        "notes": 0.5,
        "recall": 4.0,
    }
    assert groups["notes"]["live"]["quarantined"] == [STOP]
    assert groups["capture"]["live"] is None


def test_without_a_daemon_the_ledgers_tell(ended, capsys):
    out = told(capsys, "stats", "--by", "plugin")
    assert "of live sessions only" not in out
    assert "recall" in out


def test_where_nothing_is_recorded_the_statistics_say_so(daemon, capsys):
    assert told(capsys, "stats", "--by", "plugin") == "Nothing is recorded for that time.\n"


def test_the_times_of_plugins_fill_no_ledger_timeline_or_recap(ended, capsys):
    acts = [json.loads(line)["act"] for line in told(capsys, "ledger", "--json").splitlines()]
    assert acts == ["captured"]
    for command in (["ledger"], ["ledger", "--timeline"], ["recap"], ["status"], ["stats"]):
        assert "ran" not in told(capsys, *command).replace("transport", "").split()

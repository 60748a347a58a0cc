from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.history.listing import Listed
from cognee_hooks.registry import PluginRecord
from cognee_hooks.results import Act
from cognee_hooks.services.names import session_file_stem
from cognee_hooks.services.paths import Paths
from cognee_hooks.view import snapshot
from cognee_hooks.view.installed import Found
from cognee_hooks.view.snapshot import detail, key_of, summary
from tests.unit.view.conftest import NOW

KEYS = {
    "key",
    "session_id",
    "agent",
    "dataset",
    "live",
    "began",
    "last",
    "captured",
    "redacted",
    "sent",
    "waiting",
    "lost",
    "recalls",
    "injected",
    "injected_bytes",
    "tokens",
}
HOSTILE = "\x1b[2J\u202e<img src=x onerror=alert(1)>\x9b31m\ud800" + "x" * 5000


def seen(sources, record):
    record("claude_1", Act.CAPTURED, "qa", at=NOW, dataset="team")
    return summary(sources.everything(), "9.9")


def test_all_is_added_up(sources, record, daemon, put):
    record("claude_1", Act.CAPTURED, "qa", at=NOW - 5, dataset="team", count=3)
    record("claude_1", Act.REDACTED, "github-token", at=NOW - 5, count=2)
    record("claude_1", Act.DELIVERED, "qa", at=NOW - 5)
    record("claude_1", Act.DROPPED, "rejected", at=NOW - 5)
    record("claude_1", Act.DROPPED, "own_tool", at=NOW - 5)
    record("claude_1", Act.RECALLED, "hit", at=NOW - 5)
    record("pi_1", Act.RECALLED, "nothing", at=NOW - 4, agent="pi")
    record("pi_1", Act.INJECTED, "graph", at=NOW - 4, agent="pi", content="x" * 10)
    put("pi_1", '{"entries": [{}, {}]}')
    daemon.serves("pi_2")
    made = summary(sources.everything(), "9.9")
    assert made["totals"] == {
        "sessions": 3,
        "captured": 3,
        "redacted": 2,
        "sent": 1,
        "waiting": 2,
        "lost": 1,
        "recalls": 2,
        "hit_rate": 0.5,
        "injected": 1,
        "injected_bytes": 10,
        "tokens": 3,
    }
    assert (made["version"], made["now"]) == ("9.9", NOW)
    assert made["daemon"] == {"running": True, "pid": 77, "version": "1.2.3"}
    assert made["problems"] == []


def test_a_session_tells_everything_that_is_known_of_it(sources, record, daemon):
    daemon.serves("claude_1")
    (row,) = seen(sources, record)["sessions"]
    assert set(row) == KEYS
    assert row["key"] == session_file_stem("claude_1")
    assert (row["session_id"], row["agent"], row["dataset"]) == ("claude_1", "claude-code", "team")
    assert (row["live"], row["captured"], row["began"]) == (True, 1, NOW)


def test_what_is_not_known_is_null(sources, daemon, put):
    put("pi_1", "torn")
    made = summary(sources.everything(), "9.9")
    (row,) = made["sessions"]
    assert set(row) == KEYS
    assert [row[name] for name in ("session_id", "dataset", "began", "last")] == [None] * 4
    assert made["daemon"] == {"running": False, "pid": None, "version": None}
    assert made["totals"]["hit_rate"] is None


def test_live_sessions_come_first(sources, record, daemon):
    record("claude_1", Act.CAPTURED, at=NOW)
    daemon.serves("pi_1")
    daemon.answers["status"]["sessions"][0]["last_event"] = 1.0
    made = summary(sources.everything(), "9.9")
    assert [each["session_id"] for each in made["sessions"]] == ["pi_1", "claude_1"]


def test_the_buffer_tells_what_waits_and_what_was_put_aside(sources, record, put):
    record("pi_1", Act.CAPTURED, at=NOW, agent="pi")
    buffered = {"_buffered_at": (NOW - 60) * 1000}
    waits = {"entries": [buffered], "fail_count": 1, "fail_at": NOW * 1000}
    put("pi_1", json.dumps(waits))
    put("pi_1", json.dumps({"entries": [{"_put_aside_at": NOW * 1000}, 3]}), "quarantine")
    made = summary(sources.everything(), "9.9")
    assert made["buffer"]["waiting"] == [
        {
            "session_id": "pi_1",
            "agent": "pi",
            "entries": 1,
            "oldest": NOW - 60,
            "retry_at": NOW + 60,
            "problem": None,
        }
    ]
    (aside,) = made["buffer"]["quarantined"]
    assert (aside["entries"], aside["problem"]) == (1, "1 elements of another form")
    (problem,) = made["problems"]
    assert "quarantine" in problem


@pytest.mark.parametrize(
    "content", [b"", b"torn", b"[]\n", b"\xff\x00" * 99, b'{"session_id": 3}\n', b"[" * 100_000]
)
def test_a_ledger_that_is_none_is_named_and_hides_no_other(sources, record, content):
    record("claude_1", Act.CAPTURED, at=NOW)
    (Paths.of(os.environ, "claude-code").ledger_dir / "bad.jsonl").write_bytes(content)
    made = summary(sources.everything(), "9.9")
    assert {each["session_id"] for each in made["sessions"]} == {"claude_1", None}
    (problem,) = made["problems"]
    assert "bad.jsonl" in problem


def test_no_name_of_a_file_does_any_harm(sources, record):
    record("claude_1", Act.CAPTURED, at=NOW)
    folder = os.fsencode(Paths.of(os.environ, "claude-code").ledger_dir)
    name = b"/a\x1b[2J\xe2\x80\xae\xff<b>.jsonl"
    os.close(os.open(folder + name, os.O_CREAT | os.O_WRONLY))
    made = summary(sources.everything(), "9.9")
    text = json.dumps(made, ensure_ascii=False)
    text.encode()
    assert not set(text) & set("\x1b\u202e")
    keys = [each["key"] for each in made["sessions"]]
    assert all(len(each) == 40 and each.isalnum() for each in keys)
    assert sources.conversation(lambda each: key_of(each) == keys[0]) is not None


@given(st.text())
def test_a_key_is_never_a_path_whatever_a_file_is_called(stem):
    key = key_of(Listed(stem=stem.encode("utf-8", "ignore").decode(), session_id="", agent=""))
    assert len(key) == 40
    assert set(key) <= set("0123456789abcdef")


def test_hostile_text_is_made_safe_and_short(sources, record, daemon):
    daemon.serves(HOSTILE, version=HOSTILE, pid=10**400)
    record("claude_1", Act.CAPTURED, HOSTILE[:70], at=NOW, dataset=HOSTILE)
    made = summary(sources.everything(), "9.9")
    text = json.dumps(made, ensure_ascii=False, allow_nan=False)
    assert len(text.encode()) < 5000
    assert not set(text) & set("\x1b\u202e\x9b\ud800")


def test_too_many_sessions_are_told(sources, daemon, monkeypatch):
    monkeypatch.setattr(snapshot, "MAX_SESSIONS", 2)
    daemon.serves("pi_1", "pi_2", "pi_3")
    made = summary(sources.everything(), "9.9")
    assert (len(made["sessions"]), made["totals"]["sessions"]) == (2, 3)
    assert made["problems"] == ["Only 2 of 3 sessions are listed."]


def test_too_many_problems_are_counted(sources, put, monkeypatch):
    monkeypatch.setattr(snapshot, "MAX_PROBLEMS", 2)
    for number in range(4):
        put(f"pi_{number}", "torn")
    first, second = summary(sources.everything(), "9.9")["problems"]
    assert "torn" in first
    assert second == "3 more."


def test_problems_of_plugins_and_ledgers_that_were_left_out_are_told(sources, record, monkeypatch):
    monkeypatch.setattr("cognee_hooks.view.sources.MAX_LEDGERS", 0)
    record("claude_1", Act.CAPTURED, at=NOW)
    monkeypatch.setattr(sources, "_installed", lambda: Found(problems=["x is\x1b[2J broken"]))
    first, second = summary(sources.everything(), "9.9")["problems"]
    assert first.startswith("1 older ledgers are not counted here")
    assert second == "x is broken"


def test_a_daemon_that_runs_and_does_not_answer_is_told(sources):
    folder = Paths.of(os.environ, "daemon").daemon_dir
    folder.mkdir(parents=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = summary(sources.everything(), "9.9")
    (problem,) = made["problems"]
    assert "does not answer" in problem
    assert made["daemon"]["running"] is None


def test_an_older_daemon_that_does_not_know_the_question_is_told(sources, daemon):
    daemon.serves()
    daemon.answers["plugins"] = {"error": "no such request: 'plugins'"}
    (problem,) = summary(sources.everything(), "9.9")["problems"]
    assert "another version" in problem


def test_plugins_that_are_not_active_are_shown_with_the_reason(sources, monkeypatch):
    monkeypatch.setattr(
        sources, "_installed", lambda: Found([PluginRecord(name="bad", reason="It is refused.")])
    )
    (row,) = summary(sources.everything(), "9.9")["plugins"]
    assert (row["name"], row["reason"]) == ("bad", "It is refused.")


# -- one conversation --------------------------------------------------------------------------


def one(sources) -> dict[str, object]:
    return detail(sources.conversation(lambda each: True))


def test_what_was_done_comes_newest_first_and_redactions_by_kind(sources, record):
    record("claude_1", Act.CAPTURED, "qa", at=NOW - 2, content="x" * 7, seconds=0.25)
    record("claude_1", Act.REDACTED, "github-token", at=NOW - 1, count=2)
    record("claude_1", Act.REDACTED, "jwt", at=NOW)
    made = one(sources)
    assert made["session"]["session_id"] == "claude_1"
    assert [(each["act"], each["what"]) for each in made["acts"]] == [
        ("redacted", "jwt"),
        ("redacted", "github-token"),
        ("captured", "qa"),
    ]
    assert made["acts"][-1] == {
        "time": NOW - 2,
        "act": "captured",
        "what": "qa",
        "count": 1,
        "bytes": 7,
        "seconds": 0.25,
    }
    assert made["redactions"] == [
        {"kind": "github-token", "count": 2},
        {"kind": "jwt", "count": 1},
    ]
    assert made["prompts"] == []


def test_of_very_many_acts_the_newest_are_told(sources, record, monkeypatch):
    monkeypatch.setattr(snapshot, "MAX_ACTS", 2)
    for number in range(4):
        record("claude_1", Act.CAPTURED, str(number), at=NOW + number)
    assert [each["what"] for each in one(sources)["acts"]] == ["3", "2"]


def test_prompts_are_told_with_the_conversation(sources, record, daemon):
    key = Paths.of(os.environ, "claude-code").key_file
    key.parent.mkdir(parents=True)
    key.write_bytes(bytes(32))
    key.chmod(0o600)
    record("claude_1", Act.INJECTED, "graph", at=NOW, content="x", prompt="Why?")
    (made,) = one(sources)["prompts"]
    assert [each["lane"] for each in made["sections"]] == ["graph"]


def test_what_plugins_took_is_no_event(sources, record):
    record("claude_1", Act.RAN, "recall", at=NOW, count=3, seconds=0.5)
    made = summary(sources.everything(), "9.9")
    assert [(each["name"], each["calls"]) for each in made["plugins"]] == [("recall", 3)]
    assert one(sources)["acts"] == []


def test_a_path_is_told_as_it_is(sources, put):
    path = put("pi_1", "torn")
    assert isinstance(path, Path)
    (problem,) = summary(sources.everything(), "9.9")["problems"]
    assert problem.startswith(f"{path} cannot be read as a whole")

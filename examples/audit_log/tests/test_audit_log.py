"""The example's own tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cognee_hooks_audit_log import AuditLog

from cognee_hooks.events import PostToolUseFailure, SessionEnd, SessionStart
from cognee_hooks.results import ScrubState
from cognee_hooks.testing import assert_plugin

WHO = {"session_id": "s1", "agent": "claude-code"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_the_plugin_is_sound(tmp_path: Path, file: Path) -> None:
    assert_plugin(AuditLog, tmp_path, options={"file": str(file)})


def test_each_event_is_a_line_without_anybodys_words(cognee_session: Any, file: Path) -> None:
    session = cognee_session(AuditLog, environ={"COGNEE_AUDIT_FILE": str(file)})
    session.fire(SessionStart(**WHO))
    session.prompt("a very private question")
    session.tool("Bash", "ok", command="cat private.txt")
    session.fire(PostToolUseFailure(**WHO, tool_name="Read", error="private"))
    session.fire(SessionEnd(**WHO))
    assert [each["event"] for each in lines(file)] == [
        "session_start",
        "prompt",
        "tool",
        "tool",
        "session_end",
    ]
    assert [each["outcome"] for each in lines(file) if "outcome" in each] == ["ok", "failed"]
    assert "private" not in file.read_text()


def test_the_file_is_the_users_own(cognee_session: Any, file: Path) -> None:
    cognee_session(AuditLog, environ={"COGNEE_AUDIT_FILE": str(file)}).prompt("hello there")
    assert file.stat().st_mode & 0o777 == 0o600


def test_only_the_tools_that_were_asked_for_are_noted(cognee_session: Any, file: Path) -> None:
    environ = {"COGNEE_AUDIT_FILE": str(file), "COGNEE_AUDIT_TOOLS": "Write"}
    session = cognee_session(AuditLog, environ=environ)
    session.tool("Bash", "ok", command="ls")
    session.tool("Write", "ok", file_path="/p/a")
    assert [each["tool"] for each in lines(file)] == ["Write"]


def test_a_leaked_value_is_shown_first_and_then_taken_out(cognee_session: Any, file: Path) -> None:
    value = "correct" + "horse" + "7431"
    session = cognee_session(AuditLog, environ={"COGNEE_AUDIT_FILE": str(file)})
    session.tool(f"mcp__{value}", "ok")
    session.tool("Bash", "ok")
    with file.open("a") as torn:
        torn.write('{"tool": "' + value)
    before = file.read_bytes()

    [found] = session.scrub(value, dry_run=True)
    assert (found.place, found.state, found.count) == (str(file), ScrubState.FOUND, 2)
    assert file.read_bytes() == before

    [cleaned] = session.scrub(value)
    assert (cleaned.state, cleaned.count) == (ScrubState.CLEANED, 2)
    assert value not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    named, other, rest = file.read_text().splitlines()
    assert json.loads(named)["tool"] == "mcp__[redacted:scrubbed]"
    assert json.loads(other)["tool"] == "Bash"
    assert rest == '{"tool": "[redacted:scrubbed]'
    assert session.scrub(value) == []


def test_a_value_that_the_file_does_not_hold_changes_nothing(
    cognee_session: Any, file: Path
) -> None:
    session = cognee_session(AuditLog, environ={"COGNEE_AUDIT_FILE": str(file)})
    assert session.scrub("never-seen-7431") == []  # there is no file yet
    session.tool("Bash", "ok")
    before = file.stat()
    assert session.scrub("never-seen-7431") == []
    assert file.stat().st_ino == before.st_ino


@pytest.mark.cognee_expects_faults
def test_a_file_that_cannot_be_written_costs_the_session_nothing(
    cognee_session: Any, tmp_path: Path
) -> None:
    environ = {"COGNEE_AUDIT_FILE": str(tmp_path / "no" / "such" / "folder" / "x")}
    session = cognee_session(AuditLog, environ=environ)
    session.prompt("Which port does billing use?")
    session.stop("7431.")
    assert len(session.server.entries) == 1

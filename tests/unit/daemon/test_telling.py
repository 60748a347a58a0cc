"""What a daemon tells of its live sessions."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace
from typing import Any

import pytest

from cognee_hooks.agents import BUILT_IN
from cognee_hooks.daemon import control, telling
from cognee_hooks.daemon.telling import MAX_BYTES
from cognee_hooks.events import UserPromptSubmit
from cognee_hooks.host_parts.prompts import AFTER_SECONDS, Prompts
from cognee_hooks.markers import hookimpl
from cognee_hooks.results import AdditionalContext
from cognee_hooks.testing import PluginSession
from tests.support.waiting import wait_until

pytestmark = pytest.mark.expects_faults
TOKEN = "ghp_" + "a1B2" * 9


class Notes:
    """Finds something for each prompt, and fails whenever the model has answered."""

    @hookimpl
    def cognee_user_prompt_submit(self, event: UserPromptSubmit) -> AdditionalContext:
        return AdditionalContext(text="a note", lane="notes")

    @hookimpl
    def cognee_stop(self) -> None:
        raise ValueError


def live(host: Any, session_id: str = "claude_1", own_id: str = "") -> Any:
    """What is looked at of a live session."""
    return SimpleNamespace(
        host=host,
        prompts=host and host.prompts,
        session_id=session_id,
        own_id=own_id or session_id,
        agent=BUILT_IN["claude-code"],
    )


@pytest.fixture
def session(tmp_path):
    with PluginSession(tmp_path, {"notes": Notes()}) as session:
        session.host.prompts = Prompts(session.host.redaction)
        yield session


def told(answer: Any, name: str) -> dict[str, Any]:
    [row] = answer["sessions"]
    [plugin] = [each for each in row["plugins"] if each["name"] == name]
    return {each["hook"]: each for each in plugin["hooks"]}


def test_calls_faults_and_quarantine_of_each_plugin_are_told(session):
    session.prompt("what is next?")
    for _ in range(6):
        session.stop("this")
    answer = telling.plugins([live(session.host)])
    hooks = told(answer, "notes")
    prompt, stop = hooks["cognee_user_prompt_submit"], hooks["cognee_stop"]
    assert (prompt["calls"], prompt["faults"], prompt["quarantined"]) == (1, 0, False)
    assert 0 < prompt["slowest"] == prompt["seconds"]
    assert (stop["calls"], stop["faults"], stop["quarantined"]) == (5, 5, True)
    assert stop["last_fault"].startswith("ValueError test_telling.py:")
    assert "cognee_user_prompt_submit" in told(answer, "recall")


def test_a_session_that_is_still_being_made_has_no_plugins_yet():
    answer = telling.plugins([live(None)])
    assert answer == {
        "sessions": [{"session_id": "claude_1", "agent": "claude-code", "plugins": []}]
    }
    assert telling.prompts([live(None)], "claude_1") == {"prompts": []}


def test_of_more_sessions_than_an_answer_holds_the_latest_are_told(session):
    session.stop("this")
    one = telling.plugins([live(session.host)])
    count = 2 * MAX_BYTES // len(json.dumps(one))
    answer = telling.plugins([live(session.host, f"claude_{n}") for n in range(count)])
    assert len(json.dumps(answer)) < control.MAX_BYTES
    known = [each["session_id"] for each in answer["sessions"]]
    assert known == [f"claude_{n}" for n in range(count - len(known), count)]


def test_the_prompts_of_a_session_are_found_by_either_of_its_ids(session):
    session.prompt(f"use {TOKEN} for what?")

    def ask(session_id: str) -> Any:
        sessions = [live(None, "claude_0"), live(session.host, "claude_1", "claude_1~2")]
        return telling.prompts(sessions, session_id)["prompts"]

    wait_until(lambda: ask("claude_1"), "the prompt")
    [prompt] = ask("claude_1")
    assert ask("claude_1~2") == [prompt]
    assert ask("claude_2") == []
    assert TOKEN not in json.dumps(prompt)
    [section] = [each for each in prompt["sections"] if each["plugin"] == "notes"]
    assert (section["lane"], section["text"], section["bytes"]) == ("notes", "a note", 6)


def test_a_host_of_which_nobody_tells_keeps_no_prompt(tmp_path, monkeypatch):
    """A Python agent's own loop would have to make it safe."""
    with PluginSession(tmp_path, {"notes": Notes()}) as session:
        monkeypatch.setattr(Prompts, "add", lambda *_: pytest.fail("it is kept"))
        assert session.prompt("which harbour does the ferry use?") == "a note"
        assert session.host.prompts is None


def test_where_nothing_is_to_be_captured_no_prompt_is_kept_either(tmp_path):
    off = {"COGNEE_CAPTURE": "false"}
    with PluginSession(tmp_path, {"notes": Notes()}, environ=off) as session:
        session.host.prompts = Prompts(session.host.redaction)
        assert session.prompt("which harbour does the ferry use?") == "a note"
        time.sleep(3 * AFTER_SECONDS)
        assert telling.prompts([live(session.host)], "claude_1") == {"prompts": []}


def test_nothing_of_a_prompt_or_of_what_was_injected_is_written_to_disk(session, tmp_path):
    session.prompt("which harbour does the ferry use?")
    session.stop("")
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert b"harbour" not in path.read_bytes()
            assert b"a note" not in path.read_bytes()

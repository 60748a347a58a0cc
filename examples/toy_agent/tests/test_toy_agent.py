"""The example's own tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cognee_hooks_toy_agent import ToyAgent, ToyAgentPlugin

from cognee_hooks.events import PostToolUse, PostToolUseFailure
from cognee_hooks.testing import assert_plugin
from cognee_hooks.testing.agent_conformance import assert_conforms

WHO = {"conversation": "c1", "folder": "/home/user/project"}
SAMPLES = {
    "start": [WHO],
    "prompt": [{**WHO, "text": "Which port does the billing service use?"}],
    "tool": [{**WHO, "tool": "shell", "arguments": {"command": "ls"}, "result": "a.txt"}],
    "failure": [{**WHO, "tool": "shell", "arguments": {"command": "make"}, "error": "code 2"}],
    "answer": [{**WHO, "text": "It uses port 7431."}],
    "end": [WHO],
}


def test_the_plugin_is_sound(tmp_path: Path) -> None:
    assert_plugin(ToyAgentPlugin, tmp_path)


def test_no_payload_breaks_the_adapter() -> None:
    assert_conforms(ToyAgent(), SAMPLES)


def test_calls_are_told_apart_by_how_they_ended() -> None:
    read = ToyAgent().read
    assert isinstance(read("tool", SAMPLES["tool"][0], session_id="s"), PostToolUse)
    failed = read("failure", SAMPLES["failure"][0], session_id="s")
    assert isinstance(failed, PostToolUseFailure)
    assert failed.error == "code 2"


def test_a_prompt_is_answered_with_memory(cognee_session: Any) -> None:
    session = cognee_session(ToyAgentPlugin, agent="toy-agent")
    session.remember("The billing service uses port 7431.")
    event = ToyAgent().read("prompt", SAMPLES["prompt"][0], session_id="s")
    context = session.run(session.host.dispatch(event)).context
    assert "port 7431" in ToyAgent().answer("prompt", context, "")

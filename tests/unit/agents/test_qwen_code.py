from __future__ import annotations

import json

import pytest

from cognee_hooks.agents.qwen_code import CONTEXT_EVENTS, QwenCode
from tests.support.documented import Documented

agent = QwenCode()
documented = Documented(agent)
read = documented.read
captured = Documented(agent, "0.24.4")


def test_every_documented_payload_becomes_an_event():
    assert documented.kinds() == {
        "SessionStart.startup": "SessionStart",
        "SessionStart.compact": "SessionStart",
        "UserPromptSubmit": "UserPromptSubmit",
        "UserPromptSubmit.continuation": "UserPromptSubmit",
        "PostToolUse.run_shell_command": "PostToolUse",
        "PostToolUseFailure.read_file": "PostToolUseFailure",
        "SubagentStop": "Stop",
        "Stop": "Stop",
        "PreCompact.manual": "PreCompact",
        "SessionEnd": "SessionEnd",
    }


def test_every_captured_payload_becomes_an_event():
    assert captured.kinds() == {
        "SessionStart": "SessionStart",
        "UserPromptSubmit": "UserPromptSubmit",
        "UserPromptSubmit.continuation": "UserPromptSubmit",
        "PostToolUse.shell": "PostToolUse",
        "PostToolUseFailure.read_file": "PostToolUseFailure",
        "PostToolUseFailure.run_shell_command": "PostToolUseFailure",
        "Stop": "Stop",
    }
    assert not captured.read("UserPromptSubmit").machine_made
    assert captured.read("UserPromptSubmit.continuation").machine_made
    turns = {captured.read(path.stem).prompt_id for path in captured.paths}
    assert len(turns - {""}) == 1


def test_an_answer_names_no_prompt_since_prompts_of_two_processes_have_the_same_id():
    assert captured.read("Stop").prompt_id == ""


def test_what_the_model_is_told_of_a_call_is_its_response():
    assert "Output: 3 passed" in captured.read("PostToolUse.shell").tool_response
    assert read("PostToolUse.run_shell_command", tool_response="plain").tool_response == "plain"


def test_fields_are_passed_on():
    assert read("SessionStart.compact").source == "compact"
    assert read("Stop").last_assistant_message == "I changed a.txt."
    assert read("SubagentStop").agent_id == "sub-1"
    assert read("PreCompact.manual").custom_instructions == "keep the file names"
    assert read("SessionEnd").reason == "prompt_input_exit"
    assert read("PostToolUseFailure.read_file").error == "File not found: none.txt"
    assert read("PostToolUse.run_shell_command").tool_use_id == "toolu_1"


def test_a_prompt_is_what_the_user_submitted():
    event = read("UserPromptSubmit")
    assert event.prompt == "Please update @a.txt and run the tests"
    assert not event.machine_made


@pytest.mark.parametrize("submitted", [None, 3, {"text": "x"}])
def test_a_prompt_that_nobody_is_known_to_have_submitted_is_not_the_users(submitted):
    assert read("UserPromptSubmit.continuation").machine_made
    assert read("UserPromptSubmit", submitted_prompt=submitted).machine_made


@pytest.mark.parametrize("event", ["PreToolUse", "StopFailure", "MessageDisplay", ""])
def test_events_that_are_not_used_are_left_alone(event):
    assert agent.read(event, {"prompt": "x"}, session_id="s") is None


@pytest.mark.parametrize("event", sorted(CONTEXT_EVENTS))
def test_context_goes_where_the_agent_takes_it(event):
    assert json.loads(agent.answer(event, "context", "notice")) == {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": "context"},
        "systemMessage": "notice",
    }


@pytest.mark.parametrize("event", ["Stop", "SubagentStop", "PreCompact", "PostToolUse", "nonsense"])
def test_nothing_is_ever_decided(event):
    assert agent.answer(event, "context", "notice") == agent.empty(event) == "{}"

from __future__ import annotations

import json

import pytest

from cognee_hooks.agents.gemini_cli import CONTEXT_EVENTS, GeminiCli
from tests.support.documented import Documented

agent = GeminiCli()
documented = Documented(agent)
read = documented.read
captured = Documented(agent, "0.61.0")


def test_every_documented_payload_becomes_an_event():
    assert documented.kinds() == {
        "SessionStart.startup": "SessionStart",
        "SessionStart.resume": "SessionStart",
        "SessionStart.clear": "SessionStart",
        "BeforeAgent": "UserPromptSubmit",
        "AfterTool.run_shell_command": "PostToolUse",
        "AfterTool.parts": "PostToolUse",
        "AfterTool.mcp": "PostToolUse",
        "AfterTool.failed": "PostToolUseFailure",
        "AfterAgent": "Stop",
        "PreCompress.auto": "NoneType",
        "PreCompress.manual": "PreCompact",
        "SessionEnd.exit": "SessionEnd",
    }


def test_every_captured_payload_becomes_an_event_but_what_comes_before_each_request():
    assert captured.kinds() == {
        "SessionStart": "SessionStart",
        "BeforeAgent": "UserPromptSubmit",
        "AfterTool.shell": "PostToolUse",
        "AfterTool.shell_failed": "PostToolUseFailure",
        "AfterAgent": "Stop",
        "PreCompress.auto": "NoneType",
        "SessionEnd": "SessionEnd",
    }


def test_a_command_that_ends_with_an_error_failed():
    assert "Exit Code: 3" in captured.read("AfterTool.shell_failed").error
    told = {"llmContent": "Output: Exit Code: 3\nExit Code: 0"}
    assert type(read("AfterTool.run_shell_command", tool_response=told)).__name__ == "PostToolUse"
    told = {"llmContent": "Exit Code: 3"}
    assert type(read("AfterTool.parts", tool_response=told)).__name__ == "PostToolUse"


def test_fields_are_passed_on():
    assert read("SessionStart.resume").source == "resume"
    assert read("BeforeAgent").prompt == "Please update a.txt and run the tests"
    assert read("BeforeAgent").cwd == "/home/user/project"
    assert read("AfterAgent").last_assistant_message == "I changed a.txt."
    assert read("PreCompress.manual").trigger == "manual"
    assert read("SessionEnd.exit").reason == "exit"
    call = read("AfterTool.run_shell_command")
    assert call.tool_name == "run_shell_command"
    assert call.tool_input["command"] == "echo 3 passed"


def test_what_the_model_is_told_of_a_call_is_its_response():
    assert read("AfterTool.run_shell_command").tool_response.endswith("Output: 3 passed")
    assert read("AfterTool.parts").tool_response == [{"text": "hello world"}]
    assert read("AfterTool.parts", tool_response="plain").tool_response == "plain"
    assert read("AfterTool.parts", tool_response=None).tool_response is None


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"message": "File not found: none.txt"}, "File not found: none.txt"),
        ("boom", "boom"),
        ({"code": 3}, "told"),
        ([1], "told"),
    ],
)
def test_a_call_that_failed_carries_its_error(error, expected):
    response = {"llmContent": "told", "error": error}
    assert read("AfterTool.failed", tool_response=response).error == expected
    assert read("AfterTool.failed", tool_response={"error": {"code": 3}}).error == "failed"


@pytest.mark.parametrize("event", ["BeforeTool", "BeforeModel", "AfterModel", "Notification", ""])
def test_events_that_are_not_used_are_left_alone(event):
    assert agent.read(event, {"prompt": "x"}, session_id="s") is None


@pytest.mark.parametrize("event", sorted(CONTEXT_EVENTS))
def test_context_goes_where_the_agent_takes_it(event):
    assert json.loads(agent.answer(event, "context", "notice")) == {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": "context"},
        "systemMessage": "notice",
    }


@pytest.mark.parametrize("event", ["AfterAgent", "AfterTool", "SessionEnd", "nonsense"])
def test_nothing_is_ever_decided(event):
    assert agent.answer(event, "context", "notice") == agent.empty(event) == "{}"
    assert json.loads(agent.answer("PreCompress", "context", "notice")) == {
        "systemMessage": "notice"
    }

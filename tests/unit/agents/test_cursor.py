from __future__ import annotations

import json

import pytest

from cognee_hooks.agents import session_id_of
from cognee_hooks.agents.cursor import Cursor
from tests.support.documented import Documented

agent = Cursor()
documented = Documented(agent)
read = documented.read


def test_every_documented_payload_becomes_an_event():
    assert documented.kinds() == {
        "sessionStart": "SessionStart",
        "beforeSubmitPrompt": "UserPromptSubmit",
        "postToolUse.Shell": "PostToolUse",
        "postToolUse.MCP": "PostToolUse",
        "postToolUseFailure.Shell": "PostToolUseFailure",
        "afterAgentResponse": "Stop",
        "stop.completed": "NoneType",
        "stop.aborted": "Stop",
        "preCompact": "PreCompact",
        "sessionEnd": "SessionEnd",
    }


def test_fields_are_passed_on():
    prompt = read("beforeSubmitPrompt")
    assert prompt.prompt == "Please update a.txt and run the tests"
    assert prompt.prompt_id == "gen-0001"
    assert prompt.cwd == "/home/user/project"
    assert read("sessionStart").model == "auto"
    assert read("afterAgentResponse").last_assistant_message == "I changed a.txt."
    assert read("preCompact").trigger == "auto"
    assert read("sessionEnd").reason == "completed"


def test_a_call_is_decoded():
    call = read("postToolUse.Shell")
    assert call.tool_response == {"exitCode": 0, "stdout": "3 passed"}
    assert call.duration_ms == 54
    mcp = read("postToolUse.MCP")
    assert mcp.tool_name == "mcp__cognee_search"
    assert mcp.tool_input == {"query": "parser"}
    assert read("postToolUse.MCP", tool_name="MCP:demo:recall").tool_name == "mcp__demo__recall"


@pytest.mark.parametrize(
    ("output", "expected"), [("{torn", "{torn"), ("plain", "plain"), (None, None), ("[1]", [1])]
)
def test_output_that_is_no_json_is_taken_as_it_is(output, expected):
    assert read("postToolUse.Shell", tool_output=output).tool_response == expected


def test_a_call_that_failed_carries_its_error():
    assert read("postToolUseFailure.Shell").error == "Command timed out after 30s"
    assert read("postToolUseFailure.Shell", error_message=None).error == "timeout"
    nothing = read("postToolUseFailure.Shell", error_message="", failure_type=None)
    assert nothing.error == "failed"


def test_an_answer_names_no_prompt_since_nothing_promises_that_it_has_the_same_id():
    assert read("afterAgentResponse").prompt_id == read("stop.aborted").prompt_id == ""


@pytest.mark.parametrize("status", ["aborted", "error", None])
def test_a_turn_that_was_not_completed_ends_without_an_answer(status):
    assert read("stop.aborted", status=status).last_assistant_message == ""


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "/home/user/project"),
        ({"workspace_roots": []}, "/elsewhere"),
        ({"workspace_roots": None}, "/elsewhere"),
        ({"workspace_roots": [3]}, "/elsewhere"),
        ({"workspace_roots": ["relative"]}, ""),
    ],
)
def test_the_folder_is_the_workspaces(changes, expected):
    document = documented.payload("postToolUse.Shell", cwd="/elsewhere", **changes)
    assert agent.origin(document).cwd == expected
    assert agent.read("postToolUse", document, session_id="s").cwd == expected


def test_a_conversation_has_one_id_on_all_events():
    ids = {session_id_of(agent, json.loads(path.read_text())) for path in documented.paths}
    assert ids == {"cursor_c0a8e1d2-3333-4444-8555-66778899aabb"}


def test_a_prompt_may_always_go_on():
    assert json.loads(agent.empty("beforeSubmitPrompt")) == {"continue": True}
    assert json.loads(agent.answer("beforeSubmitPrompt", "context", "notice")) == {
        "continue": True,
        "additional_context": "context",
    }


def test_other_events_take_what_they_know():
    assert json.loads(agent.answer("sessionStart", "context", "notice")) == {
        "additional_context": "context"
    }
    assert json.loads(agent.answer("preCompact", "context", "notice")) == {"user_message": "notice"}
    for event in ("stop", "sessionEnd", "postToolUse", "afterAgentResponse", "nonsense"):
        assert agent.answer(event, "context", "notice") == agent.empty(event) == "{}"


@pytest.mark.parametrize("event", ["preToolUse", "beforeShellExecution", "afterAgentThought", ""])
def test_events_that_are_not_used_are_left_alone(event):
    assert agent.read(event, {"prompt": "x"}, session_id="s") is None

from __future__ import annotations

import json

import pytest

from cognee_hooks.agents.copilot_cli import CopilotCli
from tests.support.documented import Documented
from tests.support.scripted import ScriptedClient, scripted_host

agent = CopilotCli()
documented = Documented(agent)
read = documented.read


def line(kind: str, content: object, **data: object) -> str:
    return json.dumps({"type": kind, "id": "e", "data": {"content": content, **data}}) + "\n"


def test_every_documented_payload_becomes_an_event():
    assert documented.kinds() == {
        "sessionStart.startup": "SessionStart",
        "sessionStart.resume": "SessionStart",
        "sessionStart.new": "SessionStart",
        "userPromptSubmitted": "UserPromptSubmit",
        "postToolUse.bash": "PostToolUse",
        "postToolUse.text-arguments": "PostToolUse",
        "postToolUse.failure": "PostToolUseFailure",
        "postToolUseFailure.view": "PostToolUseFailure",
        "subagentStop": "Stop",
        "agentStop": "Stop",
        "preCompact.auto": "PreCompact",
        "sessionEnd": "SessionEnd",
    }


@pytest.mark.parametrize(
    ("name", "source"),
    [("startup", "startup"), ("new", "startup"), ("resume", "resume")],
)
def test_a_session_start_says_why(name, source):
    assert read(f"sessionStart.{name}").source == source


def test_fields_are_passed_on():
    assert agent.origin(documented.payload("userPromptSubmitted")).conversation.startswith("9f8e")
    assert read("userPromptSubmitted").cwd == "/home/user/project"
    assert read("postToolUse.bash").tool_response == "3 passed"
    text = read("postToolUse.text-arguments")
    assert text.tool_input == {"path": "/home/user/project/a.txt"}
    assert read("postToolUse.failure").error == "exited with code 1"
    assert read("postToolUseFailure.view").error == "Path does not exist"
    assert read("preCompact.auto").trigger == "auto"
    assert read("sessionEnd").reason == "complete"


def test_a_result_of_another_shape_is_taken_as_it_is():
    assert read("postToolUse.bash", toolResult="plain").tool_response == "plain"
    result = {"resultType": "denied", "textResultForLlm": None}
    assert read("postToolUse.bash", toolResult=result).error == "failed"


def test_a_patch_that_is_sent_alone_is_a_command():
    patch = "*** Begin Patch\n*** Update File: .env\n+KEY=1\n*** End Patch"
    event = read("postToolUse.bash", toolName="apply_patch", toolArgs=patch)
    assert event.tool_input == {"command": patch}


def test_a_sub_agent_is_told_from_the_agent():
    event = read("subagentStop")
    assert (event.agent_id, event.agent_type) == ("call_1", "explore")
    assert event.last_assistant_message == "The docs are fine."
    assert read("subagentStop", agentId=None).agent_id == "explore"
    assert read("subagentStop", agentId=None, agentName="") is None


async def test_nothing_is_looked_up_for_a_prompt_whose_answer_is_dropped(isolated_environment):
    client = ScriptedClient()
    host = scripted_host(isolated_environment, client)
    prompt = await host.dispatch(read("userPromptSubmitted"))
    assert prompt.context == ""
    assert client.queries == []


def test_the_answer_stands_in_the_transcript(tmp_path):
    transcript = tmp_path / "events.jsonl"
    transcript.write_text(
        line("user.message", "first")
        + line("assistant.message", "old answer")
        + line("user.message", "second")
        + line("assistant.message", "I will look.")
        + line("assistant.message", "I changed a.txt.")
        + line("assistant.message", "", toolRequests=[])
        + line("assistant.message", "inside", parentToolCallId="call_1")
        + line("assistant.turn_end", None)
        + '{"type": "assistant.mess'
    )
    event = read("agentStop", transcriptPath=str(transcript))
    assert event.last_assistant_message == "I changed a.txt."


def test_an_earlier_turns_answer_is_not_this_ones(tmp_path):
    transcript = tmp_path / "events.jsonl"
    transcript.write_text(line("assistant.message", "old") + line("user.message", "second"))
    assert read("agentStop", transcriptPath=str(transcript)).last_assistant_message == ""
    transcript.write_text(line("assistant.message", ["no text"]) + "[]\n\n")
    assert read("agentStop", transcriptPath=str(transcript)).last_assistant_message == ""


def test_context_is_taken_at_the_start_only():
    assert json.loads(agent.answer("sessionStart", "context", "notice")) == {
        "additionalContext": "context"
    }
    for event in (*agent.events[1:], "nonsense"):
        assert agent.answer(event, "context", "notice") == agent.empty(event) == "{}"


@pytest.mark.parametrize("event", ["preToolUse", "notification", "permissionRequest", ""])
def test_events_that_are_not_used_are_left_alone(event):
    assert agent.read(event, {"prompt": "x"}, session_id="s") is None

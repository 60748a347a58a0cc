from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks import events
from cognee_hooks.agents import BUILT_IN, session_id_of
from cognee_hooks.agents.codex import CONTEXT_EVENTS, Codex
from cognee_hooks.deadline import Deadline
from tests.support.faults import failures
from tests.support.scripted import RECALL, ScriptedClient, remembers, scripted_host

FOLDER = Path(__file__).parents[2] / "data" / "codex" / "0.171.0"
PAYLOADS = sorted(FOLDER.glob("*.json"))
NAMES = {"SubagentStop": "Stop", "Interrupt": "Stop"}
UNUSED = {"PreToolUse", "PostCompact", "PermissionRequest", "SubagentStart"}
SID = "codex_s1"
agent = Codex()


def payload(name: str, **changes) -> dict:
    return json.loads((FOLDER / f"{name}.json").read_text()) | changes


def read(document: dict):
    return agent.read(document["hook_event_name"], document, session_id=SID)


def test_it_is_registered_under_its_name():
    assert BUILT_IN["codex"].session_prefix == "codex"
    assert BUILT_IN["codex"].max_context_bytes <= 10_000
    assert len(PAYLOADS) >= 28


@pytest.mark.parametrize("path", PAYLOADS, ids=lambda path: path.stem)
def test_every_captured_payload_becomes_the_event_of_its_name(path):
    document = json.loads(path.read_text())
    event = read(document)
    name = document["hook_event_name"]
    if name in UNUSED:
        assert event is None
        return
    assert type(event).__name__ == NAMES.get(name, name)
    assert event.session_id == SID
    assert event.agent == "codex"
    assert event.prompt_id == document.get("turn_id", "")
    for field in ("cwd", "transcript_path", "agent_id", "agent_type"):
        assert getattr(event, field) == document.get(field, "")


@pytest.mark.parametrize("path", PAYLOADS, ids=lambda path: path.stem)
async def test_every_captured_payload_gets_an_answer_that_the_agent_takes(
    path, isolated_environment
):
    document = json.loads(path.read_text())
    client = ScriptedClient()
    client.scripts[RECALL] = remembers("a fact")
    host = scripted_host(isolated_environment, client, SID)
    event = read(document)
    prompt = await host.dispatch(event) if event else None
    name = document["hook_event_name"]
    answer = agent.answer(name, prompt.context if prompt else "", "")
    assert bool(answer) is (name == "UserPromptSubmit")
    if answer:
        assert json.loads(answer) == {
            "hookSpecificOutput": {"hookEventName": name, "additionalContext": prompt.context}
        }
        assert "a fact" in prompt.context
    assert failures(host) == []


def test_our_session_is_named_after_the_agents():
    document = payload("UserPromptSubmit")
    assert session_id_of(agent, document) == "codex_01a22a76-468e-71d3-8f70-92c043847fdf"
    assert agent.origin(document).cwd == "/home/user/project"
    inside = payload("UserPromptSubmit.in-subagent")
    assert session_id_of(agent, inside) == "codex_01a22a76-52b9-7203-9ade-528627e549f0"


def test_a_session_without_a_transcript_has_none():
    assert read(payload("SessionStart.startup", transcript_path=None)).transcript_path == ""


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", "fork"])
def test_a_session_start_says_why(source):
    assert read(payload(f"SessionStart.{source}")).source == source


def test_what_a_shell_command_printed_is_its_response():
    event = read(payload("PostToolUse.Bash"))
    assert isinstance(event, events.PostToolUse)
    assert event.tool_input == {"command": "echo 3 passed"}
    assert event.tool_response == "3 passed\n"
    assert read(payload("PostToolUse.Bash.no-output")).tool_response == ""


def test_a_patch_is_a_command():
    event = read(payload("PostToolUse.apply_patch"))
    assert event.tool_name == "apply_patch"
    assert event.tool_input["command"].startswith("*** Begin Patch")


def test_an_mcp_tool_may_fail():
    good = payload("PostToolUse.mcp__demo__recall")
    assert read(good).tool_response["isError"] is False
    content = [{"type": "text", "text": "no such table"}, {"type": "image"}, 3]
    failed = read({**good, "tool_response": {"content": content, "isError": True}})
    assert isinstance(failed, events.PostToolUseFailure)
    assert failed.error == "no such table"
    assert failed.tool_name == "mcp__demo__recall"


def test_a_sub_agents_prompt_is_marked():
    event = read(payload("UserPromptSubmit.in-subagent"))
    assert event.agent_id == "01a22a76-5357-7383-b83c-269e8407b95a"
    assert not event.machine_made


def test_a_sub_agents_end_without_its_id_is_not_taken_for_the_end_of_the_turn():
    assert read(payload("SubagentStop")).last_assistant_message == "sub says empty"
    assert read(payload("SubagentStop", agent_id="")) is None


@pytest.mark.parametrize(
    "prompt",
    [
        "<environment_context>\n  <cwd>/home/user/project</cwd>\n</environment_context>",
        "\n<user_instructions>\nBe brief.",
        "<user_shell_command>\nls",
        "<turn_aborted>\nThe user interrupted",
        "<subagent_notification>\n{}",
        "<skill>\n<name>x</name>",
        "# AGENTS.md instructions for /home/user/project\n\n<INSTRUCTIONS>",
    ],
)
def test_what_the_agent_writes_as_the_user_is_recognised(prompt):
    assert read(payload("UserPromptSubmit", prompt=prompt)).machine_made


@pytest.mark.parametrize(
    "prompt",
    [
        "What is <environment_context>?",
        "<skills> are missing",
        "# AGENTS.md is out of date",
        "<div>fix this</div>",
        "",
    ],
)
def test_what_the_user_writes_is_the_users(prompt):
    assert not read(payload("UserPromptSubmit", prompt=prompt)).machine_made


async def test_an_interrupted_prompt_is_kept_and_gets_no_later_answer(isolated_environment):
    client = ScriptedClient()
    host = scripted_host(isolated_environment, client, SID)
    turns = [
        payload("UserPromptSubmit", prompt="Rewrite everything in Rust", turn_id="t1"),
        payload("Interrupt", turn_id="t1"),
        payload("UserPromptSubmit", prompt="Only fix the typo", turn_id="t2"),
        payload("Stop", turn_id="t2"),
    ]
    for document in turns:
        await host.dispatch(read(document))
        await host.flush(Deadline.after(30))
    assert [(entry["question"], entry["answer"]) for entry in client.entries] == [
        ("Rewrite everything in Rust", ""),
        ("Only fix the typo", "I changed a.txt."),
    ]
    await host.close(Deadline.after(30))


async def test_a_late_answer_without_a_prompt_is_not_kept(isolated_environment):
    client = ScriptedClient()
    host = scripted_host(isolated_environment, client, SID)
    for name in ("UserPromptSubmit", "Interrupt", "Stop"):
        await host.dispatch(read(payload(name, turn_id="t1")))
        await host.flush(Deadline.after(30))
    assert [entry["answer"] for entry in client.entries] == [""]
    await host.close(Deadline.after(30))


@pytest.mark.parametrize("event", [*sorted(UNUSED), "PostToolUseFailure", "", "nonsense"])
def test_events_that_are_not_used_are_left_alone(event):
    assert agent.read(event, {"prompt": "x"}, session_id=SID) is None


@pytest.mark.parametrize("event", [*agent.events, *UNUSED, "nonsense"])
def test_only_two_events_are_ever_answered(event):
    assert bool(agent.answer(event, "context", "notice")) is (event in CONTEXT_EVENTS)
    assert agent.empty(event) == ""
    assert agent.answer(event, "", "") == ""


@pytest.mark.parametrize("event", sorted(CONTEXT_EVENTS))
def test_an_answer_holds_documented_keys_only(event):
    assert json.loads(agent.answer(event, "context", "notice")) == {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": "context"},
        "systemMessage": "notice",
    }
    assert json.loads(agent.answer(event, "", "notice")) == {"systemMessage": "notice"}


@given(st.text(st.characters(exclude_categories=())), st.sampled_from(sorted(CONTEXT_EVENTS)))
def test_every_answer_is_one_ascii_line_of_whole_characters(text, event):
    answer = agent.answer(event, text, text)
    if answer:
        assert answer.isascii()
        assert "\n" not in answer
        json.dumps(json.loads(answer), ensure_ascii=False).encode()

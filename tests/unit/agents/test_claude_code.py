from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks import events
from cognee_hooks.agents import BUILT_IN
from cognee_hooks.agents.claude_code import CONTEXT_EVENTS, ClaudeCode
from tests.support.faults import failures
from tests.support.scripted import RECALL, ScriptedClient, remembers, scripted_host

PAYLOADS = sorted((Path(__file__).parents[2] / "data" / "claude-code").glob("*/*.json"))
USED = (
    "SessionStart UserPromptSubmit PostToolUse PostToolUseFailure SubagentStop Stop PreCompact "
    "SessionEnd"
).split()
SID = "claude_s1"
agent = ClaudeCode()


def ids(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


def payload(name: str, version: str = "2.1.332") -> dict:
    return json.loads((PAYLOADS[0].parents[1] / version / f"{name}.json").read_text())


def read(document: dict):
    return agent.read(document["hook_event_name"], document, session_id=SID)


def test_it_is_registered_under_its_name():
    assert BUILT_IN["claude-code"].session_prefix == "claude"
    assert BUILT_IN["claude-code"].max_context_bytes <= 10_000


@pytest.mark.parametrize("path", PAYLOADS, ids=ids)
def test_every_captured_payload_becomes_the_event_of_its_name(path):
    document = json.loads(path.read_text())
    event = read(document)
    if path.stem == "SubagentStop.compaction":
        assert event is None  # the summariser, which nobody started
        return
    name = document["hook_event_name"]
    assert type(event).__name__ == ("Stop" if name == "SubagentStop" else name)
    assert event.session_id == SID
    assert event.agent == "claude-code"
    for name in ("cwd", "transcript_path", "prompt_id", "agent_id", "agent_type"):
        assert getattr(event, name) == document.get(name, "")


@pytest.mark.parametrize("path", PAYLOADS, ids=ids)
async def test_every_captured_payload_gets_an_answer_that_the_agent_takes(
    path, isolated_environment
):
    document = json.loads(path.read_text())
    client = ScriptedClient()
    client.scripts[RECALL] = remembers("a fact")
    host = scripted_host(isolated_environment, client)
    event = read(document)
    prompt = await host.dispatch(event) if event else None
    name = document["hook_event_name"]
    answer = agent.answer(name, prompt.context if prompt else "", "")
    asked = path.name == "UserPromptSubmit.json"
    assert bool(answer) is asked
    if asked:
        assert json.loads(answer) == {
            "hookSpecificOutput": {
                "hookEventName": name,
                "additionalContext": prompt.context,
            }
        }
    assert failures(host) == []


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", "fork"])
def test_a_session_start_says_why(source):
    event = read(payload(f"SessionStart.{source}"))
    assert isinstance(event, events.SessionStart)
    assert event.source == source


def test_a_prompt_is_passed_on_as_it_is():
    event = read(payload("UserPromptSubmit"))
    assert event.prompt == "Please update a.txt and run the tests"
    assert not event.machine_made


def test_a_finished_background_task_is_no_prompt_of_the_user():
    assert read(payload("UserPromptSubmit.task-notification")).machine_made


@pytest.mark.parametrize(
    "prompt",
    [
        "<task-notification>\n<task-id>1</task-id>",
        "\n <system-reminder>be careful</system-reminder>",
        "<command-name>/clear</command-name>",
        "<command-message>x</command-message>",
        "<local-command-stdout>out</local-command-stdout>",
        "<local-command-caveat>x</local-command-caveat>",
        "<bash-input>ls</bash-input>",
        "<bash-stdout>x</bash-stdout>",
        "<user-prompt-submit-hook>x",
        '<teammate-message from="x">hi',
    ],
)
def test_what_the_agent_writes_through_the_prompt_event_is_recognised(prompt):
    assert read({"hook_event_name": "UserPromptSubmit", "prompt": prompt}).machine_made


@pytest.mark.parametrize(
    "prompt",
    [
        "What does <system-reminder> mean?",
        "<task-notifications> are noisy",
        "<div>fix this</div>",
        "/hello world",
        "",
    ],
)
def test_what_the_user_writes_is_the_users(prompt):
    assert not read({"hook_event_name": "UserPromptSubmit", "prompt": prompt}).machine_made


def test_a_failed_call_carries_its_error():
    event = read(payload("PostToolUseFailure.Bash"))
    assert isinstance(event, events.PostToolUseFailure)
    assert event.error == "Exit code 3\nboom"
    assert event.tool_input["command"] == "echo boom >&2; exit 3"
    assert not event.is_interrupt
    assert event.duration_ms == 22


def test_a_call_inside_a_sub_agent_is_marked():
    event = read(payload("PostToolUse.in-subagent.Bash"))
    assert (event.agent_id, event.agent_type) == ("aa2a0339a577e123e", "general-purpose")


def test_an_end_of_turn_carries_the_answer():
    event = read(payload("Stop"))
    assert event.last_assistant_message == "I changed a.txt and wrote notes.md."
    assert not event.stop_hook_active


@pytest.mark.parametrize("version", ["2.1.197", "2.1.332"])
def test_an_end_of_turn_carries_what_the_transcript_says_was_asked(version):
    folder = Path(__file__).parents[2] / "data" / "claude-code" / version
    document = json.loads((folder / "Stop.json").read_text())
    stop = read(document | {"transcript_path": str(folder / "transcript.jsonl")})
    assert stop.questions == ("Please update a.txt and run the tests",)


def said(prompt: str, turn: str = "p1", **fields: object) -> dict[str, object]:
    message = {"role": "user", "content": prompt}
    return {"type": "user", "promptId": turn, "message": message} | fields


def queued(prompt: object, mode: str = "prompt") -> dict[str, object]:
    sent = {"type": "queued_command", "prompt": prompt, "commandMode": mode}
    return {"type": "attachment", "attachment": sent}


RESULT = said([{"type": "tool_result", "content": "ok"}])
ASKED = said("first question")


@pytest.mark.parametrize(
    ("records", "questions"),
    [
        ([ASKED, RESULT], ("first question",)),
        (
            [ASKED, queued("more"), RESULT, queued([{"type": "text", "text": "still more"}])],
            ("first question", "more", "still more"),
        ),
        ([ASKED, queued("<task-notification>x", "task-notification")], ("first question",)),
        ([queued("of an earlier turn"), ASKED], ("first question",)),
        ([ASKED, said("next question", "p2"), queued("of a later turn")], ("first question",)),
        ([ASKED, said("what a hook adds", isMeta=True)], ("first question",)),
        ([said("[Request interrupted by user]"), ASKED], ("first question",)),
        ([ASKED, said("[Request interrupted by user]"), said("<bash-input>ls", "")], ("",)),
        ([ASKED, said("<bash-input>ls"), said("<bash-stdout>x")], ("",)),
        ([ASKED, said("<bash-input>ls", "p2"), said("<bash-stdout>x", "p2")], ("first question",)),
        ([said("<bash-input>ls"), said("<bash-stdout>x")], ("",)),
        ([said("<task-notification>done")], ("",)),
        ([said("<command-name>/foo</command-name>"), said("Do foo", isMeta=True)], ()),
        ([said("first question", "p2"), queued("of that turn")], ()),
        ([queued("without a turn")], ()),
        ([{"type": "user", "promptId": "p1"}, queued(7), queued(None)], ()),
        ([], ()),
    ],
)
def test_only_what_the_user_asked_in_the_turn_is_its_question(tmp_path, records, questions):
    transcript = tmp_path / "transcript.jsonl"
    lines = [json.dumps(each, separators=(",", ":")) for each in records]
    transcript.write_text("\n".join(lines))
    stop = payload("Stop") | {"transcript_path": str(transcript), "prompt_id": "p1"}
    assert read(stop).questions == questions
    assert read(stop | {"prompt_id": ""}).questions == ()


@pytest.mark.parametrize("trigger", ["auto", "manual"])
def test_a_compaction_says_who_asked(trigger):
    assert read(payload(f"PreCompact.{trigger}")).trigger == trigger


@pytest.mark.parametrize("reason", ["clear", "other", "prompt_input_exit"])
def test_a_session_end_says_why(reason):
    assert read(payload(f"SessionEnd.{reason}")).reason == reason


@pytest.mark.parametrize("event", ["PreToolUse", "Notification", "SubagentStop", "", "nonsense"])
def test_events_that_are_not_used_are_left_alone(event):
    assert agent.read(event, {"prompt": "x"}, session_id=SID) is None


@pytest.mark.parametrize(
    "event", ["Stop", "PreCompact", "SessionEnd", "PostToolUse", "PostToolUseFailure", "nonsense"]
)
def test_events_that_take_no_context_are_answered_with_silence(event):
    assert agent.answer(event, "context", "notice") == ""
    assert agent.empty(event) == ""


@pytest.mark.parametrize("event", sorted(CONTEXT_EVENTS))
def test_an_answer_holds_documented_keys_only(event):
    document = json.loads(agent.answer(event, "context", "notice"))
    assert document == {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": "context"},
        "systemMessage": "notice",
    }
    assert json.loads(agent.answer(event, "", "notice")) == {"systemMessage": "notice"}
    assert agent.answer(event, "", "") == ""


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
FIELDS = (
    "prompt session_id cwd tool_name tool_input tool_response error is_interrupt duration_ms "
    "source trigger reason last_assistant_message stop_hook_active agent_id prompt_id"
).split()


@given(st.sampled_from(USED), st.dictionaries(st.sampled_from(FIELDS), json_like))
def test_no_payload_raises_and_every_field_has_its_type(name, document):
    event = agent.read(name, document, session_id=SID)
    if event is None:
        assert name == "SubagentStop"  # a summariser's
        return
    assert isinstance(event, events.Event)
    assert all(isinstance(getattr(event, each), str) for each in ("cwd", "prompt_id", "agent_id"))


@given(st.text(), st.text(), st.sampled_from(sorted(CONTEXT_EVENTS)))
def test_every_answer_is_one_ascii_json_document(context, notice, event):
    answer = agent.answer(event, context, notice)
    if answer:
        assert answer.isascii()
        assert "\n" not in answer
        assert isinstance(json.loads(answer), dict)

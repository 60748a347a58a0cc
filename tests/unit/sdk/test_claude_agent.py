"""Options of the Claude Agent SDK, and answers to the agent's hook calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import ClaudeAgentOptions, HookMatcher

from cognee_hooks import Deadline, hookimpl
from cognee_hooks.host import Host
from cognee_hooks.results import NESTED, AdditionalContext
from cognee_hooks.sdk import session
from cognee_hooks.sdk.claude_agent import EVENTS, _sdk_tool, memory_server, with_memory
from tests.support.command import payload
from tests.support.scripted import ScriptedClient


class Recorder:
    """Keeps all events."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    @hookimpl
    async def cognee_user_prompt_submit(self, event):
        self.events.append(event)
        return AdditionalContext(text="memory")

    @hookimpl
    async def cognee_post_tool_use(self, event):
        self.events.append(event)

    @hookimpl
    async def cognee_stop(self, event):
        self.events.append(event)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def host(recorder: Recorder, isolated_environment: Path) -> Host:
    return Host(
        "claude-code",
        environ={"HOME": str(isolated_environment), "COGNEE_CAPTURE": "false"},
        session_id="claude_s1",
        client=ScriptedClient(),
        plugins={"recorder": recorder},
        entry_points=(),
    )


async def call(host: Host, event: str, given: dict[str, Any]) -> Any:
    options = with_memory(None, host)
    assert options.hooks is not None
    [matcher] = options.hooks[event]  # type: ignore[index]
    [callback] = matcher.hooks
    return await callback(given, None, {"signal": None})  # type: ignore[arg-type]


def test_the_programs_options_are_kept_and_left_as_they_are(host: Host) -> None:
    async def own(given, tool_use_id, context):
        return {}

    matcher = HookMatcher(matcher="Bash", hooks=[own])
    options = ClaudeAgentOptions(
        hooks={"PreToolUse": [matcher], "Stop": [matcher]}, env={"A": "b"}, max_turns=3
    )
    made = with_memory(options, host)
    assert made.max_turns == 3
    assert made.env == {"A": "b", NESTED: "1"}
    assert made.hooks is not None
    assert set(made.hooks) == {"PreToolUse", *EVENTS}
    assert made.hooks["PreToolUse"] == [matcher]
    assert [len(made.hooks["Stop"]), made.hooks["Stop"][0]] == [2, matcher]
    assert options.hooks == {"PreToolUse": [matcher], "Stop": [matcher]}
    assert options.env == {"A": "b"}


async def test_a_prompt_is_answered_with_context(host: Host, recorder: Recorder) -> None:
    answer = await call(host, "UserPromptSubmit", payload("UserPromptSubmit"))
    assert answer == {
        "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "memory"}
    }
    [event] = recorder.events
    assert (event.session_id, event.agent) == ("claude_s1", "claude-code")


@pytest.mark.parametrize("event", [each for each in EVENTS if each != "UserPromptSubmit"])
async def test_every_other_event_gets_the_empty_answer(host: Host, event: str) -> None:
    names = {"PostToolUse": "PostToolUse.Bash", "PostToolUseFailure": "PostToolUseFailure.Bash"}
    given = payload(names.get(event, "PreCompact.auto" if event == "PreCompact" else event))
    host.say("A notice that waits for a place to be shown.")
    assert await call(host, event, given) == {}
    await host.background.close()
    assert host.notices.take()


async def test_the_end_of_a_summariser_is_no_event(host: Host, recorder: Recorder) -> None:
    assert await call(host, "SubagentStop", payload("SubagentStop.compaction")) == {}
    assert recorder.events == []


@pytest.mark.expects_faults
async def test_a_fault_of_the_adapter_is_an_empty_answer(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(host, "dispatch", broken)
    assert await call(host, "UserPromptSubmit", payload("UserPromptSubmit")) == {}
    [fault] = host.faults.rows("claude-agent-sdk")
    assert (fault.hook, fault.error_type) == ("UserPromptSubmit", "RuntimeError")


async def test_the_model_s_tools_are_an_mcp_server_inside_the_program(host):
    server = memory_server(host)
    assert (server["type"], server["name"]) == ("sdk", "cognee")
    tools = {tool.name: tool for tool in map(_sdk_tool, session.tools(host))}
    assert {"cognee_remember", "cognee_recall"} <= set(tools)
    await host.start()
    answer = await tools["cognee_recall"].handler({})
    assert answer["is_error"]
    assert "say what to search for" in answer["content"][0]["text"]
    await host.close(Deadline.after(1))

"""No agent's calls on files of secrets are captured, whatever it calls its tools and arguments."""

from __future__ import annotations

from typing import Any

import pytest

from cognee_hooks.agents import BUILT_IN
from cognee_hooks.deadline import Deadline
from tests.support.scripted import ScriptedClient, scripted_host

PATCH = "*** Begin Patch\n*** Update File: .env.production\n+KEY=1\n*** End Patch"


def claude_like(tool: str, arguments: Any) -> dict[str, Any]:
    return {"tool_name": tool, "tool_input": arguments, "tool_response": "KEY=1"}


def gemini(tool: str, arguments: Any) -> dict[str, Any]:
    return {**claude_like(tool, arguments), "tool_response": {"llmContent": "KEY=1"}}


def cursor(tool: str, arguments: Any) -> dict[str, Any]:
    return {"tool_name": tool, "tool_input": arguments, "tool_output": '{"contents": "KEY=1"}'}


def copilot(tool: str, arguments: Any) -> dict[str, Any]:
    result = {"resultType": "success", "textResultForLlm": "KEY=1"}
    return {"toolName": tool, "toolArgs": arguments, "toolResult": result}


def opencode(tool: str, arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "args": arguments, "output": "KEY=1"}


CALLS = {
    "claude-code": ("PostToolUse", claude_like("Read", {"file_path": "/p/.env.production"})),
    "codex": ("PostToolUse", claude_like("Bash", {"command": "cat deploy/id_rsa"})),
    "codex patch": ("PostToolUse", claude_like("apply_patch", {"command": PATCH})),
    "gemini-cli": ("AfterTool", gemini("read_file", {"file_path": "/p/.env.production"})),
    "gemini-cli many": ("AfterTool", gemini("read_many_files", {"include": ["deploy/id_rsa"]})),
    "qwen-code": ("PostToolUse", claude_like("read_file", {"absolute_path": "/p/.env"})),
    "cursor": ("postToolUse", cursor("Read", {"target_file": "deploy/id_rsa"})),
    "cursor text": ("postToolUse", cursor("Shell", '{"command": "cat .env"}')),
    "copilot-cli": ("postToolUse", copilot("view", {"path": "/home/u/.aws/credentials"})),
    "copilot-cli patch": ("postToolUse", copilot("apply_patch", PATCH)),
    "opencode": ("tool_result", opencode("read", {"filePath": "/p/.env.production"})),
    "opencode patch": ("tool_result", opencode("apply_patch", {"patchText": PATCH})),
}


@pytest.mark.parametrize("name", CALLS)
async def test_a_call_on_a_file_of_secrets_is_left_out(name, isolated_environment):
    event, payload = CALLS[name]
    client = ScriptedClient()
    host = scripted_host(isolated_environment, client)
    read = BUILT_IN[name.partition(" ")[0]].read(event, payload, session_id="s")
    assert read is not None
    await host.dispatch(read)
    await host.close(Deadline.after(30))
    assert client.entries == []


@pytest.mark.parametrize("name", [name for name in CALLS if " " not in name and name != "codex"])
async def test_a_call_on_another_file_is_kept(name, isolated_environment):
    event, payload = CALLS[name]
    harmless = {
        key: dict.fromkeys(value, "/p/readme.md")
        if key in {"tool_input", "toolArgs", "args"}
        else value
        for key, value in payload.items()
    }
    client = ScriptedClient()
    host = scripted_host(isolated_environment, client)
    await host.dispatch(BUILT_IN[name].read(event, harmless, session_id="s"))
    await host.close(Deadline.after(30))
    assert [entry["type"] for entry in client.entries] == ["trace"]

"""Memory for the Claude Agent SDK: the hooks of Claude Code, answered inside the program.

The SDK drives the same agent that the command-line hooks serve, so payloads and answers go through
the same adapter. Three lines::

    async with running(Host("claude-code", environ=os.environ)) as host:
        async for message in query(prompt="…", options=with_memory(options, host)):
            ...

``mcp_servers={"cognee": memory_server(host)}`` in the options also lets the model remember, recall,
search and forget by itself.

Needs the extra ``claude-agent-sdk``.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, cast

import cognee_hooks
from cognee_hooks.agents.claude_code import ClaudeCode
from cognee_hooks.deadline import Deadline
from cognee_hooks.host import Host
from cognee_hooks.results import NESTED, Failure
from cognee_hooks.sdk.session import (
    EVENT_SECONDS,
    PROMPT_MARGIN_SECONDS,
    MemoryTool,
    contained,
    missing,
    running,
    tools,
)

try:
    from claude_agent_sdk import (
        ClaudeAgentOptions,
        HookMatcher,
        SdkMcpTool,
        create_sdk_mcp_server,
    )
    from claude_agent_sdk.types import (
        HookContext,
        HookEvent,
        HookInput,
        HookJSONOutput,
        McpSdkServerConfig,
    )
except ImportError as error:
    raise missing("Claude Agent SDK", "claude-agent-sdk", error) from error

__all__ = ["memory_server", "running", "with_memory"]

OWNER = "claude-agent-sdk"
"""Name under which faults of this adapter are counted."""
PROMPT: HookEvent = "UserPromptSubmit"
# The agent tells a program neither the start nor the end of its session: `running` stands for both.
EVENTS: tuple[HookEvent, ...] = (
    PROMPT,
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStop",
    "Stop",
    "PreCompact",
)
AGENT_SECONDS = 30.0
"""When the agent gives up on us; never reached, since we give up much earlier."""


def with_memory(options: ClaudeAgentOptions | None, host: Host) -> ClaudeAgentOptions:
    """Return options with which the agent has memory.

    Hooks that the options hold already stay in force and are called beside ours. Hooks of
    cognee-hooks in the agent's own settings files stay silent, so that nothing is kept twice.

    Args:
        options: The program's own options, left as they are; None for the defaults.
        host: A started host; it serves one conversation. A conversation that is resumed wants the
            same ``session_id`` as before.

    Returns:
        A copy of the options.
    """
    chosen = ClaudeAgentOptions() if options is None else options
    memory = _Memory(host)
    own = chosen.hooks or {}
    ours = {
        event: [
            *own.get(event, []),
            HookMatcher(hooks=[memory.on_event], timeout=AGENT_SECONDS),
        ]
        for event in EVENTS
    }
    return replace(chosen, hooks={**own, **ours}, env={**chosen.env, NESTED: "1"})


def memory_server(host: Host) -> McpSdkServerConfig:
    """Return an MCP server, inside the program, with the tools that let the model use the memory.

    Args:
        host: A started host.
    """
    return create_sdk_mcp_server(
        "cognee", cognee_hooks.__version__, [_sdk_tool(tool) for tool in tools(host)]
    )


def _sdk_tool(tool: MemoryTool) -> SdkMcpTool[dict[str, Any]]:
    async def handle(arguments: dict[str, Any]) -> dict[str, Any]:
        text = await tool.call(arguments)
        content = [{"type": "text", "text": text}]
        return {"content": content, "is_error": isinstance(text, Failure)}

    return SdkMcpTool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.parameters),
        handler=handle,
    )


class _Memory:
    """Answers the agent's hook calls with a host."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._adapter = ClaudeCode()

    async def on_event(
        self, given: HookInput, _tool_use_id: str | None, _context: HookContext
    ) -> HookJSONOutput:
        """Pass an event on; the empty answer where anything fails."""
        event = given["hook_event_name"]
        seconds = EVENT_SECONDS
        if event == PROMPT:
            seconds = self._host.core.recall_seconds + PROMPT_MARGIN_SECONDS
        answer = await contained(
            self._host,
            OWNER,
            event,
            lambda: self._answer(event, given),
            Deadline.after(seconds),
        )
        return answer or {}

    async def _answer(self, event: str, given: HookInput) -> HookJSONOutput:
        host, adapter = self._host, self._adapter
        read = adapter.read(event, given, session_id=host.session.session_id)
        if read is None:
            return {}
        prompt = await host.dispatch(read)
        if prompt is None:
            return {}
        notice = " ".join(each.text for each in host.notices.take())
        document = adapter.answer(event, prompt.context, notice)
        return cast("HookJSONOutput", json.loads(document)) if document else {}

"""Memory for the OpenAI Agents SDK.

Three lines::

    async with running(Host("openai-agents", environ=os.environ)) as host:
        memory = CogneeMemory(host)
        await Runner.run(agent, "…", hooks=memory.hooks, run_config=memory.run_config)

Recalled memory goes to the model through the run's ``call_model_input_filter``: what the program
stores of the conversation (a ``Session``, ``result.to_input_list()``) never holds it. Prompts,
answers and tool calls are kept by the run's hooks. Which tools is the host's setting
``capture.tools``, whose default knows the tools of coding agents only.

Not told to programs, and so not kept: tools that the model's provider runs by itself, such as its
web search, and answers of runs that fail. An answer that an output guardrail rejects afterwards is
kept by then.

``Agent(…, tools=[*mine, *memory.tools])`` also lets the model remember, recall, search and forget
by itself.

Needs the extra ``openai-agents``.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from cognee_hooks.deadline import Deadline
from cognee_hooks.host import Host
from cognee_hooks.sdk.openai_items import arguments_of
from cognee_hooks.sdk.openai_turns import Into, Turns
from cognee_hooks.sdk.session import (
    EVENT_SECONDS,
    PROMPT_MARGIN_SECONDS,
    MemoryTool,
    contained,
    contained_call,
    missing,
    running,
    tools,
)

try:
    from agents import (
        Agent,
        AgentHookContext,
        FunctionTool,
        ModelResponse,
        RunConfig,
        RunContextWrapper,
        RunHooks,
        Tool,
        ToolErrorFormatterArgs,
        TResponseInputItem,
    )
    from agents.run_config import CallModelData, ModelInputData
    from agents.tool_context import ToolContext
except ImportError as error:
    raise missing("OpenAI Agents SDK", "openai-agents", error) from error

__all__ = ["CogneeMemory", "running"]

OWNER = "openai-agents"
"""Name under which faults of this adapter are counted."""


class CogneeMemory:
    """Gives the runs of one conversation memory.

    The runs follow one another, as the turns of a conversation do; several conversations want a
    host and a memory each. Pass both `hooks` and `run_config` to every run, streamed or not. No
    fault of the memory reaches the run.

    Args:
        host: A started host.
        into: Where recalled memory goes. ``input`` puts a message before the prompt, which keeps
            the earlier part of the conversation in the provider's prompt cache. Where the provider
            stores the conversation (``conversation_id``, ``previous_response_id``) that message is
            stored there with the rest; ``instructions`` appends to the agent's instructions
            instead, which no provider stores.

    Attributes:
        hooks: The ``hooks`` of a run that has no hooks of its own.
        run_config: The ``run_config`` of a run that has none of its own.
    """

    def __init__(self, host: Host, *, into: Into = "input") -> None:
        self._host = host
        self._turns = Turns(host, into)
        self.hooks: RunHooks[Any] = self.hooks_with(RunHooks())
        self.run_config: RunConfig = self.run_config_with(RunConfig())

    @property
    def tools(self) -> list[FunctionTool]:
        """What lets the model use the memory by itself, for the ``tools`` of an agent."""
        return [_function_tool(tool) for tool in tools(self._host)]

    def hooks_with(self, own: RunHooks[Any]) -> RunHooks[Any]:
        """Return hooks that serve the memory and then call the program's own.

        Args:
            own: The program's hooks. What they raise reaches the run as it would without us.
        """
        return _Hooks(self._host, self._turns, own)

    def run_config_with(self, own: RunConfig) -> RunConfig:
        """Return a copy of the program's run configuration that brings recalled memory.

        Args:
            own: The configuration. Its own input filter runs first, and its own error formatter
                decides what the model is told.
        """

        async def put_memory(data: CallModelData[Any]) -> ModelInputData:
            before = tuple(data.model_data.input)
            chosen = data.model_data
            if own.call_model_input_filter is not None:
                given = own.call_model_input_filter(data)
                chosen = await given if inspect.isawaitable(given) else given
            filtered: ModelInputData | None = self._do(
                "call_model_input_filter",
                lambda: self._turns.with_memory(data.agent, before, chosen),
            )
            return chosen if filtered is None else filtered

        def note_failure(failed: ToolErrorFormatterArgs[Any]) -> Any:
            self._do("tool_error_formatter", lambda: self._turns.tool_failed(failed))
            return None if own.tool_error_formatter is None else own.tool_error_formatter(failed)

        return replace(own, call_model_input_filter=put_memory, tool_error_formatter=note_failure)

    def _do(self, where: str, work: Callable[[], Any]) -> Any:
        return contained_call(self._host, OWNER, where, work)


def _function_tool(tool: MemoryTool) -> FunctionTool:
    async def invoke(_: ToolContext[Any], arguments: str) -> str:
        return await tool.call(arguments_of(arguments))

    return FunctionTool(
        name=tool.name,
        description=tool.description,
        params_json_schema=dict(tool.parameters),
        on_invoke_tool=invoke,
        # Strict schemas know no optional arguments.
        strict_json_schema=False,
    )


class _Hooks(RunHooks[Any]):
    """Serves the memory first, then the program's own hooks."""

    def __init__(self, host: Host, turns: Turns, own: RunHooks[Any]) -> None:
        self._host = host
        self._turns = turns
        self._own = own

    async def on_agent_start(self, context: AgentHookContext[Any], agent: Agent[Any]) -> None:
        seconds = self._host.core.recall_seconds + PROMPT_MARGIN_SECONDS
        await self._do("on_agent_start", lambda: self._turns.started(context, agent), seconds)
        await self._own.on_agent_start(context, agent)

    async def on_agent_end(
        self, context: AgentHookContext[Any], agent: Agent[Any], output: Any
    ) -> None:
        await self._do("on_agent_end", lambda: self._turns.ended(agent, output))
        await self._own.on_agent_end(context, agent, output)

    async def on_handoff(
        self, context: RunContextWrapper[Any], from_agent: Agent[Any], to_agent: Agent[Any]
    ) -> None:
        self._turns.handed_over(from_agent, to_agent)
        await self._own.on_handoff(context, from_agent, to_agent)

    async def on_tool_start(
        self, context: RunContextWrapper[Any], agent: Agent[Any], tool: Tool
    ) -> None:
        await self._own.on_tool_start(context, agent, tool)

    async def on_tool_end(
        self, context: RunContextWrapper[Any], agent: Agent[Any], tool: Tool, result: object
    ) -> None:
        await self._do("on_tool_end", lambda: self._turns.tool_ended(context, agent, tool, result))
        await self._own.on_tool_end(context, agent, tool, result)

    async def on_llm_start(
        self,
        context: RunContextWrapper[Any],
        agent: Agent[Any],
        system_prompt: str | None,
        input_items: list[TResponseInputItem],
    ) -> None:
        await self._own.on_llm_start(context, agent, system_prompt, input_items)

    async def on_llm_end(
        self, context: RunContextWrapper[Any], agent: Agent[Any], response: ModelResponse
    ) -> None:
        await self._own.on_llm_end(context, agent, response)

    async def _do(
        self, where: str, work: Callable[[], Awaitable[None]], seconds: float = EVENT_SECONDS
    ) -> None:
        await contained(self._host, OWNER, where, work, Deadline.after(seconds))

"""What one conversation of OpenAI agents tells a host, and what its model calls get in return."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from cognee_hooks.events import PostToolUse, PostToolUseFailure, Stop, UserPromptSubmit
from cognee_hooks.host import Host
from cognee_hooks.sdk.openai_items import (
    arguments_of,
    last_of_user,
    last_prompt,
    output_text,
    plain,
    user_message,
)
from cognee_hooks.sdk.session import tell

if TYPE_CHECKING:
    from agents import (
        Agent,
        AgentHookContext,
        RunContextWrapper,
        Tool,
        ToolErrorFormatterArgs,
        TResponseInputItem,
    )
    from agents.run_config import ModelInputData

Into = Literal["input", "instructions"]
"""Where recalled memory goes; see `cognee_hooks.sdk.openai_agents.CogneeMemory`."""


@dataclass(slots=True)
class RunTurn:
    """One run: a prompt and the work for it.

    Attributes:
        usage: The run's token counter, which the contexts of one run share and no other run has.
        first: The agent that got the prompt.
        agent: The agent that has the conversation now.
        given: The run's input.
        prompt: The user's text.
        prompt_id: Our id of it.
        context: What the model should know; "" for nothing.
        awaited: An agent that was given the conversation and did not start yet.
    """

    usage: object
    first: object
    agent: object
    given: Sequence[TResponseInputItem]
    prompt: str
    prompt_id: str
    context: str = ""
    awaited: object = None


class Turns:
    """The runs of one conversation, one after the other.

    Args:
        host: Takes the events.
        into: Where recalled memory goes.
    """

    def __init__(self, host: Host, into: Into) -> None:
        self._host = host
        self._into = into
        self._turn: RunTurn | None = None
        self._failures: dict[str, str] = {}

    async def started(self, context: AgentHookContext[Any], agent: Agent[Any]) -> None:
        """An agent starts: recall, unless it takes over or helps out within a run."""
        turn = self._turn
        if turn is not None and (context.usage is turn.usage or agent is turn.awaited):
            turn.awaited = None
            return
        if turn is not None and agent is turn.agent and context.turn_input == turn.given:
            # A run that waited for an approval goes on, or one that failed is tried again.
            turn.usage = context.usage
            return
        self._failures.clear()
        self._turn = turn = RunTurn(
            usage=context.usage,
            first=agent,
            agent=agent,
            given=context.turn_input,
            prompt=last_prompt(context.turn_input),
            prompt_id=uuid.uuid4().hex,
        )
        if turn.prompt:
            event = UserPromptSubmit(**self._common(agent), prompt=turn.prompt)
            turn.context = (await self._host.user_prompt_submit(event)).context

    def handed_over(self, giver: Agent[Any], taker: Agent[Any]) -> None:
        """An agent gives the conversation to another one."""
        turn = self._turn
        if turn is not None and giver is turn.agent:
            turn.agent = turn.awaited = taker

    def tool_failed(self, failed: ToolErrorFormatterArgs[Any]) -> None:
        """A tool raised; its end, which comes next, looks like that of any other."""
        if failed.kind == "tool_exception" and failed.error is not None:
            self._failures[failed.call_id] = f"{type(failed.error).__name__}: {failed.error}"

    async def tool_ended(
        self, context: RunContextWrapper[Any], agent: Agent[Any], tool: Tool, result: object
    ) -> None:
        """A tool came back, with a result or with what the model is told of its failure."""
        # Only function tools, those of MCP servers among them, come with the call itself.
        call_id: str = getattr(context, "tool_call_id", "")
        called = {
            **self._common(agent),
            "tool_name": tool.name,
            "tool_input": arguments_of(getattr(context, "tool_arguments", "")),
            "tool_use_id": call_id,
        }
        failure = self._failures.pop(call_id, None)
        if failure is None:
            await self._host.post_tool_use(PostToolUse(**called, tool_response=plain(result)))
        else:
            await self._host.post_tool_use_failure(PostToolUseFailure(**called, error=failure))

    async def ended(self, agent: Agent[Any], output: Any) -> None:
        """An agent gave its final output."""
        common = self._common(agent)
        if self._turn is None or agent is self._turn.agent:
            # The answer to the user's prompt, whichever agent gives it in the end.
            common["agent_id"] = ""
            self._turn = None
        await self._host.stop(Stop(**common, last_assistant_message=output_text(output)))
        tell(self._host)

    def with_memory(
        self,
        agent: Agent[Any],
        before: Sequence[TResponseInputItem],
        chosen: ModelInputData,
    ) -> ModelInputData:
        """Return the input of a model call with memory in it.

        Args:
            agent: The agent that calls the model.
            before: The input before the program's own filter.
            chosen: The input after it.
        """
        turn = self._turn
        if turn is None or not turn.context or agent is not turn.agent:
            return chosen
        if self._into == "input":
            asked = last_of_user(before, turn.prompt) is not None
            place = last_of_user(chosen.input) if asked else None
            if place is not None:
                # The SDK tells items apart by identity, so theirs stay as they are.
                memory = cast("TResponseInputItem", user_message(turn.context))
                return replace(chosen, input=[*chosen.input[:place], memory, *chosen.input[place:]])
            if turn.agent is turn.first:
                # The provider has the prompt already, and the memory before it.
                return chosen
            # A handover may have folded the prompt into a summary.
        parts = (chosen.instructions, turn.context)
        return replace(chosen, instructions="\n\n".join(part for part in parts if part))

    def _common(self, agent: Agent[Any]) -> dict[str, Any]:
        """Fields of every event; the SDK has no ids of agents, so their names stand for them."""
        turn, session = self._turn, self._host.session
        name = agent.name if turn is not None and agent is not turn.first else ""
        return {
            "session_id": session.session_id,
            "agent": session.agent,
            "cwd": session.cwd,
            "prompt_id": turn.prompt_id if turn else "",
            "agent_id": name,
            "agent_type": name,
        }

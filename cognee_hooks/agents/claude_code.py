"""Claude Code: its hook payloads and answers, as versions 2.1.197 to 2.1.332 send and take them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from cognee_hooks.agents.fields import flag, mapping, number, origin, text
from cognee_hooks.events import (
    Event,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    SessionEnd,
    SessionStart,
    Stop,
    UserPromptSubmit,
)
from cognee_hooks.results import Origin

CONTEXT_EVENTS = frozenset({"SessionStart", "UserPromptSubmit"})
"""Events whose context reaches the model without making it go on."""

# A prompt event is also how the agent reports what it did by itself.
_MACHINE_MADE = re.compile(
    r"\s*<(?:task-notification|system-reminder|command-(?:name|message|args|contents)"
    r"|local-command-(?:stdout|stderr|caveat)|bash-(?:input|stdout|stderr)"
    r"|user-prompt-submit-hook|teammate-message|agent-notification)[\s>]"
)


class ClaudeCode:
    """Adapter for Claude Code.

    Its hooks get one JSON object on standard input and may print one JSON object. Only
    ``SessionStart`` and ``UserPromptSubmit`` take context; anything printed on ``Stop`` would make
    the model go on, and anything printed before a compaction would be pasted into its instructions.
    """

    name = "claude-code"
    session_prefix = "claude"
    # The agent cuts a hook's output at 10,000 UTF-16 units.
    max_context_bytes = 9_500
    events: tuple[str, ...] = (
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "PostToolUseFailure",
        "SubagentStop",
        "Stop",
        "PreCompact",
        "SessionEnd",
    )

    def origin(self, payload: Mapping[str, Any]) -> Origin:
        """Tell which conversation and folder a payload belongs to."""
        return origin(payload, "session_id")

    def read(self, event: str, payload: Mapping[str, Any], *, session_id: str) -> Event | None:
        """Turn a payload into one of our events.

        Args:
            event: Name of the hook event.
            payload: What the agent sent.
            session_id: Our id of the conversation.

        Returns:
            The event, or None where we do not use it.
        """
        read = self._readers.get(event)
        if read is None:
            return None
        common = {
            "session_id": session_id,
            "agent": self.name,
            **{
                name: text(payload, name)
                for name in ("cwd", "transcript_path", "prompt_id", "agent_id", "agent_type")
            },
        }
        return read(payload, common)

    def answer(self, event: str, context: str, notice: str) -> str:
        """Return the document to print; "" where the event takes none or there is nothing to say.

        Args:
            event: Name of the hook event.
            context: Text for the model.
            notice: One line for the person.
        """
        if event not in CONTEXT_EVENTS:
            return self.empty(event)
        answer: dict[str, Any] = {}
        if context:
            answer["hookSpecificOutput"] = {
                "hookEventName": event,
                "additionalContext": context,
            }
        if notice:
            answer["systemMessage"] = notice
        return json.dumps(answer) if answer else self.empty(event)

    def empty(self, event: str) -> str:  # noqa: ARG002 - other agents' empty answers differ by event
        """Return the answer that changes nothing: no output at all."""
        return ""

    @property
    def _readers(
        self,
    ) -> Mapping[str, Callable[[Mapping[str, Any], dict[str, Any]], Event | None]]:
        return {
            "SessionStart": _session_start,
            "UserPromptSubmit": _user_prompt_submit,
            "PostToolUse": _post_tool_use,
            "PostToolUseFailure": _post_tool_use_failure,
            "SubagentStop": _subagent_stop,
            "Stop": _stop,
            "PreCompact": _pre_compact,
            "SessionEnd": _session_end,
        }


def _session_start(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return SessionStart(
        **common, source=text(payload, "source") or "startup", model=text(payload, "model")
    )


def _user_prompt_submit(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    prompt = text(payload, "prompt")
    return UserPromptSubmit(
        **common, prompt=prompt, machine_made=_MACHINE_MADE.match(prompt) is not None
    )


def _post_tool_use(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return PostToolUse(
        **common,
        tool_name=text(payload, "tool_name"),
        tool_input=mapping(payload, "tool_input"),
        tool_response=payload.get("tool_response"),
        tool_use_id=text(payload, "tool_use_id"),
        duration_ms=number(payload, "duration_ms"),
    )


def _post_tool_use_failure(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return PostToolUseFailure(
        **common,
        tool_name=text(payload, "tool_name"),
        tool_input=mapping(payload, "tool_input"),
        error=text(payload, "error"),
        is_interrupt=flag(payload, "is_interrupt"),
        tool_use_id=text(payload, "tool_use_id"),
        duration_ms=number(payload, "duration_ms"),
    )


def _stop(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return Stop(
        **common,
        last_assistant_message=text(payload, "last_assistant_message"),
        stop_hook_active=flag(payload, "stop_hook_active"),
    )


def _subagent_stop(payload: Mapping[str, Any], common: dict[str, Any]) -> Event | None:
    # The summariser of a compaction ends like a sub-agent, only that it has no type.
    return _stop(payload, common) if common["agent_type"] else None


def _pre_compact(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return PreCompact(
        **common,
        trigger=text(payload, "trigger") or "auto",
        custom_instructions=text(payload, "custom_instructions"),
    )


def _session_end(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return SessionEnd(**common, reason=text(payload, "reason") or "other")

"""Reads payloads that use Claude Code's field names, as the hooks of several agents do.

Each reader gets the payload and the fields that all events share (`shared`), and makes one event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cognee_hooks.agents.fields import flag, mapping, number, text
from cognee_hooks.events import (
    Event,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    SessionEnd,
    SessionStart,
    Stop,
    Turn,
)

Reader = Callable[[Mapping[str, Any], dict[str, Any]], Event | None]


def shared(
    agent: str, session_id: str, payload: Mapping[str, Any], prompt_id: str = "prompt_id"
) -> dict[str, Any]:
    """Return the fields that every event has.

    Args:
        agent: Short name of the agent.
        session_id: Our id of the conversation.
        payload: What the agent sent.
        prompt_id: Name of the field that holds the agent's id of the turn.
    """
    return {
        "session_id": session_id,
        "agent": agent,
        "prompt_id": text(payload, prompt_id),
        **{
            name: text(payload, name)
            for name in ("cwd", "transcript_path", "agent_id", "agent_type")
        },
    }


def session_start(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    """Read the beginning of a conversation."""
    return SessionStart(
        **common, source=text(payload, "source") or "startup", model=text(payload, "model")
    )


def post_tool_use(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    """Read a tool call that succeeded."""
    return PostToolUse(
        **common,
        tool_name=text(payload, "tool_name"),
        tool_input=mapping(payload, "tool_input"),
        tool_response=payload.get("tool_response"),
        tool_use_id=text(payload, "tool_use_id"),
        duration_ms=number(payload, "duration_ms"),
    )


def post_tool_use_failure(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    """Read a tool call that failed."""
    return PostToolUseFailure(
        **common,
        tool_name=text(payload, "tool_name"),
        tool_input=mapping(payload, "tool_input"),
        error=text(payload, "error"),
        is_interrupt=flag(payload, "is_interrupt"),
        tool_use_id=text(payload, "tool_use_id"),
        duration_ms=number(payload, "duration_ms"),
    )


def stop(
    payload: Mapping[str, Any], common: dict[str, Any], questions: tuple[str, ...] = ()
) -> Event:
    """Read the end of a turn.

    Args:
        payload: What the agent sent.
        common: The fields that all events share.
        questions: What the turn was about, where the agent's own records tell.
    """
    return Stop(
        **common,
        last_assistant_message=text(payload, "last_assistant_message"),
        stop_hook_active=flag(payload, "stop_hook_active"),
        questions=questions,
    )


def subagent_stop(payload: Mapping[str, Any], common: dict[str, Any]) -> Event | None:
    """Read the end of a sub-agent; without its id it could not be told from the end of a turn."""
    return stop(payload, common) if common["agent_id"] else None


def pre_compact(
    payload: Mapping[str, Any], common: dict[str, Any], turns: tuple[Turn, ...] = ()
) -> Event:
    """Read the announcement of a compaction.

    Args:
        payload: What the agent sent.
        common: The fields that all events share.
        turns: What the transcript holds, where it can be read.
    """
    return PreCompact(
        **common,
        trigger=text(payload, "trigger") or "auto",
        custom_instructions=text(payload, "custom_instructions"),
        turns=turns,
    )


def session_end(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    """Read the end of a conversation."""
    return SessionEnd(**common, reason=text(payload, "reason") or "other")

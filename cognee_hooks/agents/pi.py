"""pi: what our extension for it sends and takes, for pi 0.73.1 to 1.6.0.

pi has no hook commands; an extension runs inside of it (``pi_extension.ts``, part of this package).
The extension never sends pi's own event objects, which hold images, abort signals and the whole
context. It picks fields, and cuts each text to 64 KiB. Every payload holds ``sessionId``, ``cwd``,
``sessionFile`` (where the session is kept), ``promptId`` (inside a turn) and ``eventId``, which
stays the same when an event is sent a second time. Beside those, by pi's name of the event:

* ``session_start``: ``reason``, ``resumed`` (the session holds messages already), ``model``
* ``before_agent_start``: ``prompt``, ``messageType`` (``user``, ``custom``, or none before 1.2.0)
* ``message_end``: ``prompt``, which came while the agent was at work on another one
* ``tool_execution_end``: ``toolName``, ``toolCallId``, ``input``, ``output`` (its text),
  ``isError``, ``durationMs``; also for calls that pi refused
* ``agent_end`` or ``agent_settled``, whichever ends the turn: ``text``, what was answered
* ``session_before_compact``: ``reason``, ``customInstructions``, ``messages`` (what is to be
  summarised, at most 40: ``role``, which is ``user`` or ``assistant``, and ``text``)
* ``session_compact``: nothing more
* ``session_shutdown``: ``reason``
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cognee_hooks.agents.answers import document
from cognee_hooks.agents.fields import flag, mapping, number, origin, text
from cognee_hooks.agents.turns import spoken, turns_of
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

CONTEXT_EVENTS = frozenset({"before_agent_start"})
"""Events whose context the extension puts in front of the model."""


class Pi:
    """Adapter for pi. Its answers are read by our own extension."""

    name = "pi"
    session_prefix = "pi"
    # pi takes more, but what is injected stays in the session and is sent again every time.
    max_context_bytes = 9_500
    events: tuple[str, ...] = (
        "session_start",
        "before_agent_start",
        "message_end",
        "tool_execution_end",
        "agent_end",
        "agent_settled",
        "session_before_compact",
        "session_compact",
        "session_shutdown",
    )

    def origin(self, payload: Mapping[str, Any]) -> Origin:
        """Tell which conversation and folder a payload belongs to."""
        return origin(payload, "sessionId")

    def read(self, event: str, payload: Mapping[str, Any], *, session_id: str) -> Event | None:
        """Turn a payload into one of our events.

        Args:
            event: pi's name of the event.
            payload: What the extension sent.
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
            "cwd": text(payload, "cwd"),
            "transcript_path": text(payload, "sessionFile"),
            "prompt_id": text(payload, "promptId"),
        }
        return read(payload, common)

    def answer(self, event: str, context: str, notice: str) -> str:
        """Return the document for the extension: ``context`` and ``notice``, where there are any.

        Args:
            event: pi's name of the event.
            context: Text for the model; left out where the event takes none.
            notice: One line for the person.
        """
        answer = {"context": context if event in CONTEXT_EVENTS else "", "notice": notice}
        return document({name: value for name, value in answer.items() if value})

    def empty(self, event: str) -> str:  # noqa: ARG002 - other agents' empty answers differ by event
        """Return the answer that changes nothing."""
        return "{}"

    @property
    def _readers(
        self,
    ) -> Mapping[str, Callable[[Mapping[str, Any], dict[str, Any]], Event | None]]:
        return {
            "session_start": _session_start,
            "before_agent_start": _prompt,
            "message_end": _late_prompt,
            "tool_execution_end": _tool,
            "agent_end": _stop,
            "agent_settled": _stop,
            "session_before_compact": _pre_compact,
            "session_compact": _compacted,
            "session_shutdown": _session_end,
        }


def _session_start(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    reason = text(payload, "reason")
    # A session that is continued from the command line says "startup", like a new one.
    if reason not in {"resume", "fork"}:
        reason = "resume" if flag(payload, "resumed") else "startup"
    return SessionStart(**common, source=reason, model=text(payload, "model"))


def _prompt(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    machine_made = text(payload, "messageType") == "custom"
    return UserPromptSubmit(**common, prompt=text(payload, "prompt"), machine_made=machine_made)


def _late_prompt(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    # The model has it already: there is nobody to look anything up for.
    return UserPromptSubmit(**common, prompt=text(payload, "prompt"), replayed=True)


def _tool(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    call: dict[str, Any] = {
        "tool_name": text(payload, "toolName"),
        "tool_input": mapping(payload, "input"),
        "tool_use_id": text(payload, "toolCallId"),
        "duration_ms": number(payload, "durationMs"),
    }
    output = text(payload, "output")
    if flag(payload, "isError"):
        return PostToolUseFailure(**common, **call, error=output)
    return PostToolUse(**common, **call, tool_response=output)


def _stop(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return Stop(**common, last_assistant_message=text(payload, "text"))


def _pre_compact(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    instructions = text(payload, "customInstructions")
    # Only newer releases say why; in older ones instructions tell that a person asked for it.
    manual = text(payload, "reason") == "manual" or bool(instructions)
    trigger = "manual" if manual else "auto"
    return PreCompact(
        **common,
        trigger=trigger,
        custom_instructions=instructions,
        turns=turns_of(spoken(payload)),
    )


def _compacted(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:  # noqa: ARG001 - table
    return SessionStart(**common, source="compact")


def _session_end(payload: Mapping[str, Any], common: dict[str, Any]) -> Event | None:
    reason = text(payload, "reason") or "other"
    # Only the extensions are loaded again; the conversation goes on.
    return None if reason == "reload" else SessionEnd(**common, reason=reason)

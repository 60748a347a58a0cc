"""Gemini CLI: its hooks as google-gemini/gemini-cli documents them (hooks reference, 2026)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from cognee_hooks.agents import readers
from cognee_hooks.agents.answers import document, hook_answer
from cognee_hooks.agents.fields import mapping, origin, text
from cognee_hooks.events import Event, UserPromptSubmit
from cognee_hooks.results import Origin

CONTEXT_EVENTS = frozenset({"SessionStart", "BeforeAgent"})
"""Events whose answer may carry text for the model."""
NOTICE_EVENTS = CONTEXT_EVENTS | {"PreCompress"}
"""Events whose answer may carry a line for the person, without the agent acting on it."""


def _before_agent(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return UserPromptSubmit(**common, prompt=text(payload, "prompt"))


def _after_tool(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    response = mapping(payload, "tool_response")
    error = response.get("error")
    if error:
        message = error if isinstance(error, str) else text(mapping(response, "error"), "message")
        failed = {**payload, "error": message or text(response, "llmContent") or "failed"}
        return readers.post_tool_use_failure(failed, common)
    told = response.get("llmContent", payload.get("tool_response"))
    return readers.post_tool_use({**payload, "tool_response": told}, common)


def _after_agent(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    answered = {**payload, "last_assistant_message": payload.get("prompt_response")}
    return readers.stop(answered, common)


_READERS: Mapping[str, readers.Reader] = MappingProxyType(
    {
        "SessionStart": readers.session_start,
        "BeforeAgent": _before_agent,
        "AfterTool": _after_tool,
        "AfterAgent": _after_agent,
        "PreCompress": readers.pre_compact,
        "SessionEnd": readers.session_end,
    }
)


class GeminiCli:
    """Adapter for Gemini CLI.

    Its hooks get one JSON object on standard input, and standard output is read as one; text that
    is none is shown to the person. ``AfterAgent`` could make the model try again, and the agent
    does not wait for ``SessionEnd``. Events name no turn.
    """

    name = "gemini-cli"
    session_prefix = "gemini"
    max_context_bytes = 9_500
    events: tuple[str, ...] = tuple(_READERS)

    def origin(self, payload: Mapping[str, Any]) -> Origin:
        """Tell which conversation and folder a payload belongs to."""
        return origin(payload, "session_id")

    def read(self, event: str, payload: Mapping[str, Any], *, session_id: str) -> Event | None:
        """Turn a payload into one of our events, or None where we do not use it."""
        reader = _READERS.get(event)
        if reader is None:
            return None
        return reader(payload, readers.shared(self.name, session_id, payload))

    def answer(self, event: str, context: str, notice: str) -> str:
        """Return the document to print.

        Args:
            event: Name of the hook event.
            context: Text for the model; left out where the event takes none.
            notice: One line for the person; left out where the event takes none.
        """
        told = context if event in CONTEXT_EVENTS else ""
        said = notice if event in NOTICE_EVENTS else ""
        return document(hook_answer(event, told, said))

    def empty(self, event: str) -> str:
        """Return the answer that changes nothing: an empty object."""
        return self.answer(event, "", "")

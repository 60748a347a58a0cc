"""Qwen Code: its hooks as QwenLM/qwen-code documents them, and release 0.24 runs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from cognee_hooks.agents import readers
from cognee_hooks.agents.answers import document, hook_answer
from cognee_hooks.agents.fields import blocks, mapping, origin, text
from cognee_hooks.agents.transcripts import TURNS_BYTES, last_records
from cognee_hooks.agents.turns import turns_of
from cognee_hooks.events import Event, UserPromptSubmit
from cognee_hooks.results import Origin

CONTEXT_EVENTS = frozenset({"SessionStart", "UserPromptSubmit"})
"""Events whose answer may carry text for the model."""


def _user_prompt_submit(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    # The event also comes before the model goes on with a tool's result or a hook's text, and only
    # ``submitted_prompt`` is known to be what the user typed; ``prompt`` is no substitute for it.
    submitted = payload.get("submitted_prompt")
    if isinstance(submitted, str):
        return UserPromptSubmit(**common, prompt=submitted)
    return UserPromptSubmit(**common, prompt=text(payload, "prompt"), machine_made=True)


def _post_tool_use(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    told = mapping(payload, "tool_response").get("llmContent", payload.get("tool_response"))
    return readers.post_tool_use({**payload, "tool_response": told}, common)


def _stop(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    # Ids are numbers that begin again with every process, and prompts may join a turn that runs.
    return readers.stop(payload, common | {"prompt_id": ""})


def _pre_compact(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return readers.pre_compact(payload, common, turns_of(_said(common["transcript_path"])))


def _said(transcript: str) -> Iterator[tuple[str, str]]:
    """Yield who said what since the last compression, the latest first."""
    lines = (b'"user"', b'"assistant"', b'"chat_compression"')
    for record in last_records(transcript, TURNS_BYTES, lines):
        role = text(record, "type")
        if text(record, "subtype") == "chat_compression":
            return
        if role in {"user", "assistant"}:
            typed = role == "assistant" or text(record, "provenance") in {"", "real_user"}
            yield role, blocks(mapping(record, "message"), "parts") if typed else ""


_READERS: Mapping[str, readers.Reader] = MappingProxyType(
    {
        "SessionStart": readers.session_start,
        "UserPromptSubmit": _user_prompt_submit,
        "PostToolUse": _post_tool_use,
        "PostToolUseFailure": readers.post_tool_use_failure,
        "SubagentStop": readers.subagent_stop,
        "Stop": _stop,
        "PreCompact": _pre_compact,
        "SessionEnd": readers.session_end,
    }
)


class QwenCode:
    """Adapter for Qwen Code.

    Its hooks get one JSON object on standard input, and standard output is read as one. ``Stop``
    and ``SubagentStop`` could make the model go on. Where the agent does not mark a prompt as
    the user's, nothing is recalled for it and it is not captured; the documentation says so of
    headless runs, other programs that drive the agent, and vim mode, but release 0.24 marks
    prompts of headless runs.
    ``SessionEnd`` does not come from headless runs.
    """

    name = "qwen-code"
    session_prefix = "qwen"
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
        taken = event in CONTEXT_EVENTS
        return document(hook_answer(event, context, notice) if taken else {})

    def empty(self, event: str) -> str:
        """Return the answer that changes nothing: an empty object."""
        return self.answer(event, "", "")

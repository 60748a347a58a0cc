"""Gemini CLI: its hooks as google-gemini/gemini-cli documents them, and release 0.61 runs them."""

from __future__ import annotations

import re
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

CONTEXT_EVENTS = frozenset({"SessionStart", "BeforeAgent"})
"""Events whose answer may carry text for the model."""
NOTICE_EVENTS = CONTEXT_EVENTS | {"PreCompress"}
"""Events whose answer may carry a line for the person, without the agent acting on it."""
_SHELL = "run_shell_command"
_FAILED = re.compile(r"^Exit Code: -?[1-9]", re.MULTILINE)
# What the agent puts into its transcript in the user's place.
_MACHINE_MADE = re.compile(r"\s*<(?:session_context|hook_context|state_snapshot)[\s>]")
_SPEAKERS: Mapping[str, str] = MappingProxyType({"user": "user", "gemini": "assistant"})


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
    # For the agent a command that ends with an error is a call that succeeded.
    if payload.get("tool_name") == _SHELL and isinstance(told, str) and _FAILED.search(told):
        return readers.post_tool_use_failure({**payload, "error": told}, common)
    return readers.post_tool_use({**payload, "tool_response": told}, common)


def _after_agent(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    answered = {**payload, "last_assistant_message": payload.get("prompt_response")}
    return readers.stop(answered, common)


def _pre_compress(payload: Mapping[str, Any], common: dict[str, Any]) -> Event | None:
    # With any other trigger it comes before each request to the model, and hardly ever is anything
    # compressed then.
    if text(payload, "trigger") != "manual":
        return None
    turns = turns_of(_said(common["transcript_path"]), _written_by_the_agent)
    return readers.pre_compact(payload, common, turns)


def _said(transcript: str) -> Iterator[tuple[str, str]]:
    """Yield who said what, the latest first."""
    for record in last_records(transcript, TURNS_BYTES, (b'"user"', b'"gemini"')):
        # Where a session is taken up again or compressed, all that is left of it is set anew.
        whole = mapping(record, "$set").get("messages")
        for message in reversed(whole if isinstance(whole, list) else [record]):
            if isinstance(message, Mapping) and (said := blocks(message, "content")):
                yield _SPEAKERS.get(text(message, "type"), ""), said
        if whole is not None:
            return


def _written_by_the_agent(prompt: str) -> bool:
    return _MACHINE_MADE.match(prompt) is not None


_READERS: Mapping[str, readers.Reader] = MappingProxyType(
    {
        "SessionStart": readers.session_start,
        "BeforeAgent": _before_agent,
        "AfterTool": _after_tool,
        "AfterAgent": _after_agent,
        "PreCompress": _pre_compress,
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

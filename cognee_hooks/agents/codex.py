"""OpenAI Codex CLI: its hook payloads and answers, as version 0.171.0 sends and takes them."""

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
from cognee_hooks.events import Event, Stop, UserPromptSubmit
from cognee_hooks.results import Origin

CONTEXT_EVENTS = frozenset({"SessionStart", "UserPromptSubmit"})
"""Events whose answer the agent reads without going on because of it."""

# What the agent tells the model in a user message of its own.
_MACHINE_MADE = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|user_shell_command|turn_aborted"
    r"|subagent_notification|skill|INSTRUCTIONS)[\s>]|# AGENTS\.md instructions for )"
)


def _user_prompt_submit(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    prompt = text(payload, "prompt")
    return UserPromptSubmit(**common, prompt=prompt, machine_made=_machine_made(prompt))


def _machine_made(prompt: str) -> bool:
    return _MACHINE_MADE.match(prompt) is not None


def _post_tool_use(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    response = mapping(payload, "tool_response")
    if response.get("isError") is True:  # an MCP tool's own word for it
        failed = {**payload, "error": blocks(response, "content")}
        return readers.post_tool_use_failure(failed, common)
    return readers.post_tool_use(payload, common)


def _interrupt(_: Mapping[str, Any], common: dict[str, Any]) -> Event:
    # No Stop follows. The turn ends here, without an answer, or the prompt would wait for the next
    # turn's and be stored with it.
    return Stop(**common)


def _pre_compact(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    turns = turns_of(_said(common["transcript_path"]), _machine_made)
    return readers.pre_compact(payload, common, turns)


def _said(transcript: str) -> Iterator[tuple[str, str]]:
    """Yield who said what since the last compaction, the latest first.

    What hooks injected stands there under the role ``developer``.
    """
    for record in last_records(transcript, TURNS_BYTES, (b'"message"', b'"compacted"')):
        kind, item = record.get("type"), mapping(record, "payload")
        if kind == "compacted":
            return
        if kind == "response_item" and item.get("type") == "message":
            yield text(item, "role"), blocks(item, "content")


_READERS: Mapping[str, readers.Reader] = MappingProxyType(
    {
        "SessionStart": readers.session_start,
        "UserPromptSubmit": _user_prompt_submit,
        "PostToolUse": _post_tool_use,
        "SubagentStop": readers.subagent_stop,
        "Stop": readers.stop,
        "PreCompact": _pre_compact,
        "Interrupt": _interrupt,
        "SessionEnd": readers.session_end,
    }
)


class Codex:
    """Adapter for Codex.

    Its hooks get one JSON object on standard input and print nothing, or one JSON object whose keys
    the agent all knows: one that it does not know voids the answer. Anything printed on ``Stop``
    makes the model go on without end, so only ``SessionStart`` and ``UserPromptSubmit`` are ever
    answered. What happened is told apart less than elsewhere: a shell command that failed arrives
    like one that succeeded, with its output and no exit code.
    """

    name = "codex"
    session_prefix = "codex"
    session_variables = ("CODEX_SESSION_ID", "CODEX_THREAD_ID")
    # Behind its terminal, a process of its own serves all conversations, and stays.
    outlives_sessions = True
    # The agent cuts the middle out of more than 2,500 tokens, which it counts as 4 bytes each.
    max_context_bytes = 9_500
    events: tuple[str, ...] = tuple(_READERS)

    def origin(self, payload: Mapping[str, Any]) -> Origin:
        """Tell which conversation and folder a payload belongs to."""
        return origin(payload, "session_id")

    def read(self, event: str, payload: Mapping[str, Any], *, session_id: str) -> Event | None:
        """Turn a payload into one of our events, or None where we do not use it.

        A sub-agent's payloads carry the session of the agent that started it, and ``agent_id``.
        """
        reader = _READERS.get(event)
        if reader is None:
            return None
        return reader(payload, readers.shared(self.name, session_id, payload, "turn_id"))

    def answer(self, event: str, context: str, notice: str) -> str:
        """Return the document to print; "" where the event takes none or there is nothing to say.

        Args:
            event: Name of the hook event.
            context: Text for the model.
            notice: One line for the person, which the agent's terminal shows and ``exec`` does not.
        """
        if event not in CONTEXT_EVENTS or not (context or notice):
            return self.empty(event)
        return document(hook_answer(event, context, notice))

    def empty(self, event: str) -> str:  # noqa: ARG002 - other agents' empty answers differ by event
        """Return the answer that changes nothing: no output at all."""
        return ""

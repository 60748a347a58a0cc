"""Claude Code: its hook payloads and answers, as versions 2.1.197 to 2.1.332 send and take them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from cognee_hooks.agents import readers
from cognee_hooks.agents.answers import document, hook_answer
from cognee_hooks.agents.fields import blocks, mapping, origin, text
from cognee_hooks.agents.transcripts import TAIL_BYTES, TURNS_BYTES, last_records
from cognee_hooks.agents.turns import turns_of
from cognee_hooks.events import Event, UserPromptSubmit
from cognee_hooks.results import Origin

CONTEXT_EVENTS = frozenset({"SessionStart", "UserPromptSubmit"})
"""Events whose context reaches the model without making it go on."""

# A prompt event is also how the agent reports what it did by itself.
_MACHINE_MADE = re.compile(
    r"\s*<(?:task-notification|system-reminder|command-(?:name|message|args|contents)"
    r"|local-command-(?:stdout|stderr|caveat)|bash-(?:input|stdout|stderr)"
    r"|user-prompt-submit-hook|teammate-message|agent-notification)[\s>]"
)
_INTERRUPTED = "[Request interrupted by user"
_NOBODYS = (_INTERRUPTED, "<bash-", "<task-notification")
"""How the last words of the user begin in a turn whose answer is to no prompt."""
_ASIDE = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage")
"""Marks of records in a transcript that neither the person nor the model said."""
_PROMPTS = (b'"promptId"', b'"queued_command"')
_SPOKEN = (b'"user"', b'"assistant"', b"compact_boundary")


def _user_prompt_submit(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    prompt = text(payload, "prompt")
    machine_made = _MACHINE_MADE.match(prompt) is not None
    return UserPromptSubmit(**common, prompt=prompt, machine_made=machine_made)


def _subagent_stop(payload: Mapping[str, Any], common: dict[str, Any]) -> Event | None:
    # The summariser of a compaction ends like a sub-agent, only that it has no type.
    return readers.stop(payload, common) if common["agent_type"] else None


def _stop(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    # In its terminal the agent announces a prompt that is sent while it works under the id of the
    # turn that runs. Unless the model gets it along with a tool's result, it then begins a turn of
    # its own, whose id is never announced: only the transcript tells which prompt was answered.
    prompt_id = common["prompt_id"]
    questions = _asked(common["transcript_path"], prompt_id) if prompt_id else ()
    return readers.stop(payload, common, questions)


def _asked(transcript: str, prompt_id: str) -> tuple[str, ...]:
    """Return what the user asked in a turn, the latest last; empty where nothing tells.

    What the model says to a shell command of the user's comes, in older versions, under the id of
    the prompt before. That one has been answered, or was interrupted and never will be. The end of
    the file may still be on its way into it.
    """
    added: list[str] = []
    for record in last_records(transcript, TAIL_BYTES, _PROMPTS):
        sent, message = mapping(record, "attachment"), mapping(record, "message")
        if sent.get("type") == "queued_command" and sent.get("commandMode") == "prompt":
            added.append(blocks(sent, "prompt"))
        elif text(record, "type") == "user" and _is_spoken(record, message):
            prompt, same = blocks(message, "content"), record.get("promptId") == prompt_id
            if same and prompt.startswith(_NOBODYS):
                return ("",)
            if same and not _written_by_the_agent(prompt):
                return tuple(filter(str.strip, (prompt, *reversed(added))))
            if not _written_by_the_agent(prompt):
                added.clear()  # to a turn that came later
    return ()


def _is_spoken(record: Mapping[str, Any], message: Mapping[str, Any]) -> bool:
    aside = any(record.get(mark) is True for mark in _ASIDE)
    return not aside and not _is_result(message)


def _pre_compact(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    # Here, since the agent waits: once it has been answered, it writes the summary into the file.
    turns = turns_of(_said(common["transcript_path"]), _written_by_the_agent)
    return readers.pre_compact(payload, common, turns)


def _said(transcript: str) -> Iterator[tuple[str, str]]:
    """Yield who said what since the last compaction, the latest first."""
    for record in last_records(transcript, TURNS_BYTES, _SPOKEN):
        if record.get("subtype") == "compact_boundary":
            return  # older records stay in the file
        role, message = text(record, "type"), mapping(record, "message")
        if role in {"user", "assistant"} and _is_spoken(record, message):
            yield role, blocks(message, "content")


def _is_result(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, Mapping) and part.get("type") == "tool_result" for part in parts)


def _written_by_the_agent(prompt: str) -> bool:
    return prompt.startswith(_INTERRUPTED) or _MACHINE_MADE.match(prompt) is not None


_READERS: Mapping[str, readers.Reader] = MappingProxyType(
    {
        "SessionStart": readers.session_start,
        "UserPromptSubmit": _user_prompt_submit,
        "PostToolUse": readers.post_tool_use,
        "PostToolUseFailure": readers.post_tool_use_failure,
        "SubagentStop": _subagent_stop,
        "Stop": _stop,
        "PreCompact": _pre_compact,
        "SessionEnd": readers.session_end,
    }
)


class ClaudeCode:
    """Adapter for Claude Code.

    Its hooks get one JSON object on standard input and may print one JSON object. Only
    ``SessionStart`` and ``UserPromptSubmit`` take context; anything printed on ``Stop`` would make
    the model go on, and anything printed before a compaction would be pasted into its instructions.
    """

    name = "claude-code"
    session_prefix = "claude"
    session_variables = ("CLAUDE_CODE_SESSION_ID",)
    # The agent cuts a hook's output at 10,000 UTF-16 units.
    max_context_bytes = 9_500
    shows_colour = True
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
        """Return the document to print; "" where the event takes none or there is nothing to say.

        Args:
            event: Name of the hook event.
            context: Text for the model.
            notice: One line for the person.
        """
        if event not in CONTEXT_EVENTS or not (context or notice):
            return self.empty(event)
        return document(hook_answer(event, context, notice))

    def empty(self, event: str) -> str:  # noqa: ARG002 - other agents' empty answers differ by event
        """Return the answer that changes nothing: no output at all."""
        return ""

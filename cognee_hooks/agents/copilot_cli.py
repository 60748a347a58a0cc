"""GitHub Copilot CLI: its hooks as the GitHub documentation describes them (hooks reference, 2026).

Only what was said, which no hook carries, is taken from the transcript that the agent names, in the
form that version 1 of its session events has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from cognee_hooks.agents import readers
from cognee_hooks.agents.answers import document
from cognee_hooks.agents.fields import as_command, decoded, flag, mapping, origin, text
from cognee_hooks.agents.transcripts import TURNS_BYTES, last_records
from cognee_hooks.agents.turns import turns_of
from cognee_hooks.events import Event, PreCompact, Stop, UserPromptSubmit
from cognee_hooks.results import Origin


def _session_start(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    source = "resume" if text(payload, "source") == "resume" else "startup"
    return readers.session_start({"source": source}, common)


def _user_prompt_submitted(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    # The agent does not look at a command's answer to this event, so there is nobody to look
    # anything up for.
    return UserPromptSubmit(**common, prompt=text(payload, "prompt"), replayed=True)


def _call(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool call with the field names that others use."""
    return {
        "tool_name": payload.get("toolName"),
        "tool_input": as_command(decoded(payload.get("toolArgs"))),
        "error": payload.get("error"),
    }


def _post_tool_use(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    call, result = _call(payload), mapping(payload, "toolResult")
    told = result.get("textResultForLlm", payload.get("toolResult"))
    if text(result, "resultType") in {"failure", "denied"}:  # before failures had their own event
        call["error"] = told if isinstance(told, str) else "failed"
        return readers.post_tool_use_failure(call, common)
    return readers.post_tool_use(call | {"tool_response": told}, common)


def _post_tool_use_failure(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return readers.post_tool_use_failure(_call(payload), common)


def _subagent_stop(payload: Mapping[str, Any], common: dict[str, Any]) -> Event | None:
    agent_id = text(payload, "agentId") or text(payload, "agentName")
    agent_type = text(payload, "agentType") or text(payload, "agentName")
    if not agent_id:
        return None
    inside = common | {"agent_id": agent_id, "agent_type": agent_type}
    return Stop(**inside, last_assistant_message=text(payload, "response"))


def _agent_stop(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return Stop(
        **common,
        last_assistant_message=_answer_in(common["transcript_path"]),
        stop_hook_active=flag(payload, "stop_hook_active"),
    )


def _pre_compact(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return PreCompact(
        **common,
        trigger=text(payload, "trigger") or "auto",
        custom_instructions=text(payload, "customInstructions"),
        turns=turns_of(_said(common["transcript_path"])),
    )


_READERS: Mapping[str, readers.Reader] = MappingProxyType(
    {
        "sessionStart": _session_start,
        "userPromptSubmitted": _user_prompt_submitted,
        "postToolUse": _post_tool_use,
        "postToolUseFailure": _post_tool_use_failure,
        "subagentStop": _subagent_stop,
        "agentStop": _agent_stop,
        "preCompact": _pre_compact,
        "sessionEnd": readers.session_end,
    }
)


class CopilotCli:
    """Adapter for GitHub Copilot CLI.

    Its hooks get one JSON object on standard input, and standard output is read as one. The agent
    takes context at ``sessionStart`` only and drops what a command answers to a prompt: it is
    captured, and its model asks for memory through tools. ``agentStop`` and ``subagentStop`` could
    make the model go on. No event takes a line for the person.
    """

    name = "copilot-cli"
    session_prefix = "copilot"
    # The agent cuts joined context at 10 KB.
    max_context_bytes = 9_500
    events: tuple[str, ...] = tuple(_READERS)

    def origin(self, payload: Mapping[str, Any]) -> Origin:
        """Tell which conversation and folder a payload belongs to."""
        return origin(payload, "sessionId")

    def read(self, event: str, payload: Mapping[str, Any], *, session_id: str) -> Event | None:
        """Turn a payload into one of our events, or None where we do not use it."""
        reader = _READERS.get(event)
        if reader is None:
            return None
        common = {
            "session_id": session_id,
            "agent": self.name,
            "cwd": text(payload, "cwd"),
            "transcript_path": text(payload, "transcriptPath"),
        }
        return reader(payload, common)

    def answer(self, event: str, context: str, notice: str) -> str:  # noqa: ARG002 - no event shows notices
        """Return the document to print.

        Args:
            event: Name of the hook event.
            context: Text for the model; left out where the event takes none.
            notice: One line for the person, for whom no event has a place.
        """
        return document(
            {"additionalContext": context} if context and event == "sessionStart" else {}
        )

    def empty(self, event: str) -> str:
        """Return the answer that changes nothing: an empty object."""
        return self.answer(event, "", "")


def _said(transcript: str) -> Iterator[tuple[str, str]]:
    """Yield who said what, the latest first."""
    for record in last_records(transcript, TURNS_BYTES, (b"user.message", b"assistant.message")):
        data = mapping(record, "data")
        if not text(data, "parentToolCallId"):  # else a sub-agent's
            yield text(record, "type").removesuffix(".message"), text(data, "content")


def _answer_in(transcript: str) -> str:
    """Return what the model said last in the latest turn; "" where it said nothing."""
    for record in last_records(transcript):
        data = mapping(record, "data")
        if record.get("type") == "user.message":
            return ""
        own = not text(data, "parentToolCallId")  # else a sub-agent's
        if own and record.get("type") == "assistant.message" and text(data, "content").strip():
            return text(data, "content")
    return ""

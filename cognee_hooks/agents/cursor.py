"""Cursor: its agent hooks as its documentation describes them, and 3.20 to 3.24 run them (2026)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from cognee_hooks.agents import readers
from cognee_hooks.agents.answers import document
from cognee_hooks.agents.fields import as_command, blocks, decoded, mapping, text
from cognee_hooks.agents.transcripts import TURNS_BYTES, last_records
from cognee_hooks.agents.turns import turns_of
from cognee_hooks.events import Event, Stop, UserPromptSubmit
from cognee_hooks.results import Origin

CONTEXT_EVENTS = frozenset({"sessionStart", "beforeSubmitPrompt"})
"""Events whose answer may carry text for the model.

The documentation names ``additional_context`` for the first only; the program takes it for both.
"""
_MCP = "MCP:"


def _session_start(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return readers.session_start({"source": "startup", "model": payload.get("model")}, common)


def _before_submit_prompt(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return UserPromptSubmit(**common, prompt=text(payload, "prompt"))


def _call(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool call with the field names and the spelling of MCP tools that others use."""
    tool = text(payload, "tool_name")
    if tool.startswith(_MCP):
        tool = "mcp__" + tool.removeprefix(_MCP).strip().replace(":", "__")
    return {
        **payload,
        "tool_name": tool,
        "tool_input": as_command(decoded(payload.get("tool_input"))),
        "tool_response": decoded(payload.get("tool_output")),
        "error": payload.get("error_message"),
        "duration_ms": payload.get("duration"),
    }


def _post_tool_use(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return readers.post_tool_use(_call(payload), common)


def _post_tool_use_failure(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    call = _call(payload)
    call["error"] = call["error"] or text(payload, "failure_type") or "failed"
    return readers.post_tool_use_failure(call, common)


def _after_agent_response(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return Stop(**_unpaired(common), last_assistant_message=text(payload, "text"))


def _stop(payload: Mapping[str, Any], common: dict[str, Any]) -> Event | None:
    # A turn that was completed has been answered before; one that was not must not leave its prompt
    # to the next turn's answer.
    return None if text(payload, "status") == "completed" else Stop(**_unpaired(common))


def _unpaired(common: dict[str, Any]) -> dict[str, Any]:
    # Nothing says that a prompt, which is checked before its generation begins, has the same id.
    return common | {"prompt_id": ""}


def _pre_compact(payload: Mapping[str, Any], common: dict[str, Any]) -> Event:
    return readers.pre_compact(payload, common, turns_of(_said(common["transcript_path"])))


def _said(transcript: str) -> Iterator[tuple[str, str]]:
    """Yield who said what, the latest first; results of tools hold no text."""
    for record in last_records(transcript, TURNS_BYTES, (b'"user"', b'"assistant"')):
        if said := blocks(mapping(record, "message"), "content"):
            yield text(record, "role"), said


_READERS: Mapping[str, readers.Reader] = MappingProxyType(
    {
        "sessionStart": _session_start,
        "beforeSubmitPrompt": _before_submit_prompt,
        "postToolUse": _post_tool_use,
        "postToolUseFailure": _post_tool_use_failure,
        "afterAgentResponse": _after_agent_response,
        "stop": _stop,
        "preCompact": _pre_compact,
        "sessionEnd": readers.session_end,
    }
)


class Cursor:
    """Adapter for Cursor's agent.

    Its hooks get one JSON object on standard input, and standard output is read as one. The answer
    to a prompt must say that it may go on. ``stop`` could send the model a further message. The
    only place for a line to the person is ``preCompact``.
    """

    name = "cursor"
    session_prefix = "cursor"
    # More than 10,000 characters go to a file that the model is told to read.
    max_context_bytes = 9_500
    events: tuple[str, ...] = tuple(_READERS)

    def origin(self, payload: Mapping[str, Any]) -> Origin:
        """Tell which conversation and folder a payload belongs to."""
        conversation = text(payload, "session_id") or text(payload, "conversation_id")
        return Origin(conversation=conversation, cwd=_folder(payload))

    def read(self, event: str, payload: Mapping[str, Any], *, session_id: str) -> Event | None:
        """Turn a payload into one of our events, or None where we do not use it."""
        reader = _READERS.get(event)
        if reader is None:
            return None
        common = readers.shared(self.name, session_id, payload, "generation_id")
        return reader(payload, common | {"cwd": _folder(payload)})

    def answer(self, event: str, context: str, notice: str) -> str:
        """Return the document to print.

        Args:
            event: Name of the hook event.
            context: Text for the model; left out where the event takes none.
            notice: One line for the person; left out where the event takes none.
        """
        answer: dict[str, Any] = {}
        if event == "beforeSubmitPrompt":
            answer["continue"] = True
        if context and event in CONTEXT_EVENTS:
            answer["additional_context"] = context
        if notice and event == "preCompact":
            answer["user_message"] = notice
        return document(answer)

    def empty(self, event: str) -> str:
        """Return the answer that changes nothing: an object, which lets a prompt go on."""
        return self.answer(event, "", "")


def _folder(payload: Mapping[str, Any]) -> str:
    """Return the workspace's folder, else the one that the event names; "" without any."""
    roots = payload.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else None
    folder = first if isinstance(first, str) else text(payload, "cwd")
    return folder if folder.startswith("/") else ""

"""What agents take on standard output, as data, and whether an answer fits it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

_NOTHING: Mapping[str, Any] = MappingProxyType({})
SHOWN = 200
"""Characters of an answer that a report quotes."""
_VERDICTS = frozenset({"ask", "block", "deny"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What one agent takes as an answer.

    Places are keys joined by dots, such as ``hookSpecificOutput.additionalContext``. An answer may
    hold what the shape names for its event and nothing else.

    Attributes:
        context: Place of the text for the model, by event; other events take none.
        notice: Place of the line for the person, by event; other events take none.
        fixed: Values by place, by event, that have to be there wherever the object is that holds
            them.
        speaks: Events that take output at all; an event with a place does. On others even an empty
            object is wrong.
    """

    context: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    notice: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    fixed: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: _NOTHING)
    speaks: frozenset[str] = frozenset()

    def problem(self, event: str, output: str) -> str:
        """Say in one line what is wrong with an answer; "" where it fits.

        Args:
            event: The agent's name of the event.
            output: What was printed.
        """
        wrong = form_problem(output)
        if wrong or not output:
            return wrong
        places = {each[event] for each in (self.context, self.notice) if event in each}
        fixed = self.fixed.get(event, {})
        if not places and not fixed and event not in self.speaks:
            return f"the agent takes no output on this event: {_short(output)}"
        document = json.loads(output)
        for place, value in leaves(document):
            if place in fixed:
                if value != fixed[place]:
                    return f"{place} must be {fixed[place]!r}, not {value!r}"
            elif place not in places:
                return f"the agent knows no {place} here: {_short(output)}"
            elif not isinstance(value, str):
                return f"{place} must be text: {_short(output)}"
        for place in fixed:
            holder, _, key = place.rpartition(".")
            found = value_at(document, holder) if holder else document
            if isinstance(found, Mapping) and key not in found:
                return f"{place} is missing: {_short(output)}"
        return ""


def form_problem(output: str) -> str:
    """Say what holds an answer back from being nothing or one JSON object that decides nothing."""
    if not output:
        return ""
    try:
        document = json.loads(output)
    except (ValueError, RecursionError):
        return f"not one JSON document: {_short(output)}"
    if not isinstance(document, dict):
        return f"a JSON {type(document).__name__}, not an object: {_short(output)}"
    for place, value in leaves(document):
        if isinstance(value, str) and not _whole(value):
            return f"{place} holds half a surrogate pair"
        key = place.rpartition(".")[2].lower()
        stops = key == "continue" and value is False
        decides = key.endswith(("decision", "permission")) and value in _VERDICTS
        if stops or decides:
            return f"{place} is {value!r}: an answer must never block the agent"
    return ""


def leaves(document: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the place and value of everything in a document that is no object."""
    for key, value in document.items():
        place = f"{prefix}{key}"
        if isinstance(value, Mapping) and value:
            yield from leaves(value, f"{place}.")
        else:
            yield place, value


def value_at(document: Mapping[str, Any], place: str) -> Any:
    """Return what stands at a place, or None."""
    value: Any = document
    for key in place.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _short(output: str) -> str:
    return repr(output if len(output) <= SHOWN else f"{output[:SHOWN]}…")


def _envelope(*events: str, notice: Sequence[str] = (), speaks: str = "") -> Shape:
    """Return the shape of hooks that use Claude Code's envelope.

    Args:
        events: Events that take context.
        notice: Events that take a line for the person; those that take context where it is empty.
        speaks: Further events that take an object, separated by spaces.
    """
    return Shape(
        context=dict.fromkeys(events, "hookSpecificOutput.additionalContext"),
        notice=dict.fromkeys(notice or events, "systemMessage"),
        fixed={event: {"hookSpecificOutput.hookEventName": event} for event in events},
        speaks=frozenset(speaks.split()),
    )


_PI = (
    "session_start before_agent_start message_end tool_execution_end agent_end "
    "agent_settled session_before_compact session_compact session_shutdown"
).split()

SHAPES: Mapping[str, Shape] = MappingProxyType(
    {
        "claude-code": _envelope("SessionStart", "UserPromptSubmit"),
        "codex": _envelope("SessionStart", "UserPromptSubmit"),
        "gemini-cli": _envelope(
            "SessionStart",
            "BeforeAgent",
            notice=("SessionStart", "BeforeAgent", "PreCompress"),
            speaks="AfterTool AfterAgent SessionEnd",
        ),
        "qwen-code": _envelope(
            "SessionStart",
            "UserPromptSubmit",
            speaks="PostToolUse PostToolUseFailure SubagentStop Stop PreCompact SessionEnd",
        ),
        "cursor": Shape(
            context=dict.fromkeys(("sessionStart", "beforeSubmitPrompt"), "additional_context"),
            notice={"preCompact": "user_message"},
            fixed={"beforeSubmitPrompt": {"continue": True}},
            speaks=frozenset(
                "postToolUse postToolUseFailure afterAgentResponse stop sessionEnd".split()
            ),
        ),
        "copilot-cli": Shape(
            context={"sessionStart": "additionalContext"},
            speaks=frozenset(
                "userPromptSubmitted postToolUse postToolUseFailure subagentStop agentStop "
                "preCompact sessionEnd".split()
            ),
        ),
        # Read by our own plugin.
        "opencode": Shape(
            context={"user_prompt": "context"},
            speaks=frozenset("session_start tool_result turn_end pre_compact session_end".split()),
        ),
        # Read by our own extension, over the daemon's channel.
        "pi": Shape(
            context={"before_agent_start": "context"},
            notice=dict.fromkeys(_PI, "notice"),
        ),
    }
)
"""The shapes of the built-in agents, by name; see the adapters for where they come from."""

"""Events that a plugin under test lives through: those of a session, and odd ones."""

from __future__ import annotations

from typing import Any

from cognee_hooks.events import (
    Event,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    SessionEnd,
    SessionStart,
    Stop,
    Turn,
    UserPromptSubmit,
)

_WHO: dict[str, Any] = {"session_id": "claude_test", "agent": "claude-code", "cwd": "/tmp"}  # noqa: S108 - a name
_LONG = "word " * 10_000
_DEEP: dict[str, Any] = {"end": True}
for _ in range(60):
    _DEEP = {"in": _DEEP}

ORDINARY: tuple[Event, ...] = (
    SessionStart(**_WHO, source="startup", model="a-model"),
    UserPromptSubmit(**_WHO, prompt="Which port does the billing service use?"),
    PostToolUse(
        **_WHO,
        tool_name="Bash",
        tool_input={"command": "grep -rn port config/"},
        tool_response={"stdout": "config/billing.toml:3:port = 7431", "stderr": ""},
    ),
    PostToolUse(
        **_WHO, tool_name="Read", tool_input={"file_path": "/p/a.py"}, tool_response="x = 1"
    ),
    PostToolUseFailure(
        **_WHO, tool_name="Bash", tool_input={"command": "make"}, error="exit code 2"
    ),
    Stop(**_WHO, last_assistant_message="It uses port 7431."),
    UserPromptSubmit(
        **_WHO, prompt="<task-notification>done</task-notification>", machine_made=True
    ),
    PreCompact(**_WHO, trigger="auto", turns=(Turn(question="Which port?", answer="7431."),)),
    SessionStart(**_WHO, source="compact"),
)
"""A session as it goes, but for its end."""

ODD: tuple[Event, ...] = (
    UserPromptSubmit(**_WHO, prompt=""),
    UserPromptSubmit(**_WHO, prompt="half a character \ud83d, \x00 and \x1b[31mcolour"),
    UserPromptSubmit(**_WHO, prompt=_LONG),
    UserPromptSubmit(**_WHO, prompt="asked again after a restart", replayed=True),
    PostToolUse(**_WHO, tool_name=""),
    PostToolUse(**_WHO, tool_name="Bash", tool_input={"command": ["a", 1, None]}),
    PostToolUse(**_WHO, tool_name="Bash", tool_input=_DEEP, tool_response=[None, 1.5, {"a": []}]),
    PostToolUse(**_WHO, tool_name="Bash", tool_input={"": ""}, tool_response=_LONG),
    PostToolUseFailure(**_WHO, tool_name="Bash"),
    Stop(**_WHO),
    Stop(**_WHO, last_assistant_message=_LONG),
    SessionStart(session_id=""),
    PreCompact(**_WHO),
    SessionEnd(**_WHO, reason="other"),
    SessionEnd(**_WHO, reason="other"),
)
"""What agents have sent, or might."""

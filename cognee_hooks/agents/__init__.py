"""Adapters: an agent's payloads into our events, our results into its answers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from cognee_hooks.agents.claude_code import ClaudeCode
from cognee_hooks.agents.codex import Codex
from cognee_hooks.agents.copilot_cli import CopilotCli
from cognee_hooks.agents.cursor import Cursor
from cognee_hooks.agents.gemini_cli import GeminiCli
from cognee_hooks.agents.opencode import OpenCode
from cognee_hooks.agents.pi import Pi
from cognee_hooks.agents.qwen_code import QwenCode
from cognee_hooks.guard import attempt
from cognee_hooks.results import Agent
from cognee_hooks.services.names import safe_session_id

_FEW_CONTEXT_BYTES = 9_500

BUILT_IN: Mapping[str, Agent] = MappingProxyType(
    {
        agent.name: agent
        for agent in (
            ClaudeCode(),
            Codex(),
            Pi(),
            GeminiCli(),
            Cursor(),
            QwenCode(),
            CopilotCli(),
            OpenCode(),
        )
    }
)
"""The agents that come with the package, by name."""
DEFAULT_AGENT = ClaudeCode.name
"""The agent that is meant where nobody says which."""

VERIFIED: Mapping[str, str] = MappingProxyType(
    {
        "claude-code": "driven live",
        "codex": "driven live",
        "gemini-cli": "driven live",
        "cursor": "by contract only",
        "qwen-code": "driven live",
        "copilot-cli": "by contract only",
        "pi": "driven live",
        "opencode": "driven live",
    }
)
"""How each adapter was verified.

``driven live``: tests run the agent itself. ``replayed from captures``: tests replay what the agent
sent. ``by contract only``: tests replay what the agent's documentation says that it sends.
"""


def max_context_bytes_of(name: str) -> int:
    """Return how many UTF-8 bytes of context an agent takes whole; few for one that is not ours."""
    known = BUILT_IN.get(name)
    return known.max_context_bytes if known else _FEW_CONTEXT_BYTES


def session_id_of(agent: Agent, payload: Mapping[str, Any]) -> str:
    """Return our id of a conversation: the agent's prefix and its own id; "" where it has none."""
    own = agent.origin(payload).conversation
    return safe_session_id(f"{agent.session_prefix}_{own}") if own else ""


def shows_colour(agent: Agent) -> bool:
    """Tell whether an agent shows colours in its status line; one that does not say does not."""
    return attempt(getattr, agent, "shows_colour", False).result is True

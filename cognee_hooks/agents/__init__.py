"""Adapters: an agent's payloads into our events, our results into its answers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from cognee_hooks.agents.claude_code import ClaudeCode
from cognee_hooks.results import Agent
from cognee_hooks.services.names import safe_session_id

BUILT_IN: Mapping[str, Agent] = MappingProxyType({ClaudeCode.name: ClaudeCode()})
"""The agents that come with the package, by name."""


def session_id_of(agent: Agent, payload: Mapping[str, Any]) -> str:
    """Return our id of a conversation: the agent's prefix and its own id; "" where it has none."""
    own = agent.origin(payload).conversation
    return safe_session_id(f"{agent.session_prefix}_{own}") if own else ""

"""Adapters: an agent's payloads into our events, our results into its answers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from cognee_hooks.agents.claude_code import ClaudeCode
from cognee_hooks.results import Agent

BUILT_IN: Mapping[str, Agent] = MappingProxyType({ClaudeCode.name: ClaudeCode()})
"""The agents that come with the package, by name."""

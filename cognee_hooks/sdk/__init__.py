"""Memory for programs that run an agent SDK: the host lives in the program itself.

`cognee_hooks.sdk.openai_agents` serves the OpenAI Agents SDK, `cognee_hooks.sdk.claude_agent` the
Claude Agent SDK. Each needs the extra of that name, and nothing here imports an SDK before one of
the two modules is asked for.
"""

from __future__ import annotations

from cognee_hooks.sdk.session import MemoryTool, running, tools

__all__ = ["MemoryTool", "running", "tools"]

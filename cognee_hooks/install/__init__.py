"""Sets agents up to call us, and takes that back, without touching anybody else's words.

An installer answers with a `Plan`; `cognee_hooks.install.engine` shows it and carries it out.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from cognee_hooks.install import (
    claude_code,
    codex,
    copilot_cli,
    cursor,
    gemini_cli,
    opencode,
    pi,
    qwen_code,
)
from cognee_hooks.install.plan import Installer

INSTALLERS: Mapping[str, Installer] = MappingProxyType(
    {
        claude_code.NAME: claude_code.ClaudeCodeInstaller(),
        codex.NAME: codex.CodexInstaller(),
        pi.NAME: pi.PiInstaller(),
        gemini_cli.NAME: gemini_cli.INSTALLER,
        cursor.NAME: cursor.INSTALLER,
        qwen_code.NAME: qwen_code.INSTALLER,
        copilot_cli.NAME: copilot_cli.INSTALLER,
        opencode.NAME: opencode.OpenCodeInstaller(),
    }
)
"""The agents that can be set up, by name."""

TAKING_TOOLS = frozenset({claude_code.NAME, codex.NAME})
"""Those to which the model's tools are brought as skills or by an MCP server; others have them by
themselves, or cannot have them."""

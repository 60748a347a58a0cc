"""A host whose server is a script."""

from __future__ import annotations

from pathlib import Path

from cognee_hooks.host import Host
from cognee_hooks.testing.scripted import (
    ENTRY,
    RECALL,
    Script,
    ScriptedClient,
    fails,
    remembers,
)

__all__ = ["ENTRY", "RECALL", "Script", "ScriptedClient", "fails", "remembers", "scripted_host"]


def scripted_host(
    home: Path, client: ScriptedClient, session_id: str = "claude_s1", **environ: str
) -> Host:
    """Make a host with the built-in plugins and no others.

    Args:
        home: Its home folder.
        client: Its server.
        session_id: Id of the conversation.
        environ: Its environment.
    """
    return Host(
        "claude-code",
        environ={"HOME": str(home), **environ},
        session_id=session_id,
        client=client,
        entry_points=(),
    )

"""Sets GitHub Copilot CLI up to call us, by a file of hooks (GitHub's hooks reference, 2026).

The agent reads every file of its folder of hooks, so ours is one of its own.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from cognee_hooks.install import command
from cognee_hooks.install.file_installer import FileInstaller
from cognee_hooks.install.plan import Place, Scope

NAME = "copilot-cli"
TITLE = "GitHub Copilot CLI"
TIMEOUTS = {
    "sessionStart": 10,
    "userPromptSubmitted": 10,
    "postToolUse": 10,
    "postToolUseFailure": 10,
    "subagentStop": 10,
    "agentStop": 10,
    "preCompact": 10,
    "sessionEnd": 15,
}
"""Our events with the seconds after which the agent gives a hook up. It takes no answer to a
prompt, so that there is nothing to wait for."""
EMPTY = "{}"
"""The answer that changes nothing."""


def hooks_path(place: Place) -> Path:
    """Return our file of a scope."""
    place.require(NAME, Scope.USER, Scope.PROJECT)
    root = place.cwd / ".github"
    if place.scope is Scope.USER:
        root = place.folder("COPILOT_HOME", ".copilot")
    return root / "hooks" / "cognee-hooks.json"


def _entry(event: str, seconds: int) -> dict[str, Any]:
    # `exec` would spare a shell, but older releases do not know it.
    line = shlex.join(command.hook_argv(NAME, event, EMPTY))
    return {"type": "command", "bash": line, "timeoutSec": seconds}


def _notes(_: str, place: Place) -> list[str]:
    notes = []
    if place.scope is Scope.PROJECT:
        notes.append(
            "Copilot's cloud agent reads this file too. Our command is not there, so its jobs "
            "log that the hooks fail, and go on."
        )
    return notes


INSTALLER = FileInstaller(
    title=TITLE,
    timeouts=TIMEOUTS,
    entry=_entry,
    path=hooks_path,
    notes=_notes,
    next_step="Restart running Copilot CLI sessions, or start a new one.",
    scaffold={"version": 1},
)
"""Installer for GitHub Copilot CLI."""

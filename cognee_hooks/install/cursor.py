"""Sets Cursor's agent up to call us, by its file of hooks (Cursor's hooks documentation, 2026)."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from cognee_hooks.install import command
from cognee_hooks.install.file_installer import FileInstaller
from cognee_hooks.install.plan import Place, Scope

NAME = "cursor"
TITLE = "Cursor"
TIMEOUTS = {
    "sessionStart": 10,
    "beforeSubmitPrompt": 40,
    "postToolUse": 10,
    "postToolUseFailure": 10,
    "afterAgentResponse": 10,
    "stop": 10,
    "preCompact": 10,
    "sessionEnd": 15,
}
"""Our events with the seconds after which the agent gives a hook up."""
GO_ON = '{"continue": true}'
"""The answer to a prompt that changes nothing."""
EMPTY = "{}"
"""The answer to anything else that changes nothing."""


def hooks_path(place: Place) -> Path:
    """Return the file of hooks of a scope; no variable moves it."""
    place.require(NAME, Scope.USER, Scope.PROJECT)
    root = place.home if place.scope is Scope.USER else place.cwd
    return root / ".cursor" / "hooks.json"


def _entry(event: str, seconds: int) -> dict[str, Any]:
    line = shlex.join(command.hook_argv(NAME, event, empty_answer(event)))
    return {"command": line, "timeout": seconds}


def empty_answer(event: str) -> str:
    """Return the answer to an event that changes nothing."""
    return GO_ON if event == "beforeSubmitPrompt" else EMPTY


def _notes(_: str, place: Place) -> list[str]:
    if place.scope is not Scope.PROJECT:
        return []
    return ["Cursor runs hooks of a project only in a workspace that you trust."]


INSTALLER = FileInstaller(
    title=TITLE,
    timeouts=TIMEOUTS,
    entry=_entry,
    path=hooks_path,
    notes=_notes,
    next_step="Start a new chat in Cursor; restart it if our hooks are not listed there.",
    scaffold={"version": 1},
)
"""Installer for Cursor."""

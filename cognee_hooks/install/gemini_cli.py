"""Sets Gemini CLI up to call us, by its settings (google-gemini/gemini-cli, release 0.61)."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from cognee_hooks.install import command
from cognee_hooks.install.file_installer import FileInstaller
from cognee_hooks.install.jsontext import Dialect, parse
from cognee_hooks.install.plan import Place, Scope

NAME = "gemini-cli"
TITLE = "Gemini CLI"
TIMEOUTS = {
    "SessionStart": 10_000,
    "BeforeAgent": 40_000,
    "AfterTool": 10_000,
    "AfterAgent": 10_000,
    "PreCompress": 10_000,
    "SessionEnd": 15_000,
}
"""Our events with the milliseconds after which the agent gives a hook up."""
EMPTY = "{}"
"""What the agent takes as no answer: it shows text that is no document to the person."""
_MATCHERS = {"PreCompress": "manual"}
"""Without it the agent would wait for that hook before each request to the model."""
DIALECT = Dialect(comments=True)


def settings_path(place: Place) -> Path:
    """Return the settings file of a scope."""
    place.require(NAME, Scope.USER, Scope.PROJECT)
    # The agent's variable stands for the home folder, in which its own folder lies.
    root = place.folder("GEMINI_CLI_HOME") if place.scope is Scope.USER else place.cwd
    return root / ".gemini" / "settings.json"


def _entry(event: str, milliseconds: int) -> dict[str, Any]:
    line = shlex.join(command.hook_argv(NAME, event, EMPTY))
    entry: dict[str, Any] = {
        "hooks": [{"type": "command", "command": line, "timeout": milliseconds}]
    }
    return {"matcher": _MATCHERS[event], **entry} if event in _MATCHERS else entry


def _notes(text: str, place: Place) -> list[str]:
    notes = []
    switches = parse(text, DIALECT).last("hooksConfig")
    enabled = switches.last("enabled") if switches else None
    if enabled and text[enabled.start : enabled.end] == "false":
        notes.append(
            'This file says "hooksConfig": {"enabled": false}, so Gemini CLI runs no hooks, ours '
            "included."
        )
    if place.scope is Scope.PROJECT:
        notes.append("Gemini CLI runs hooks of a project only when you trust its folder.")
    return notes


INSTALLER = FileInstaller(
    title=TITLE,
    timeouts=TIMEOUTS,
    entry=_entry,
    path=settings_path,
    notes=_notes,
    next_step="Restart running Gemini CLI sessions, or start a new one.",
    dialect=DIALECT,
)
"""Installer for Gemini CLI."""

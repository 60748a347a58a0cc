"""Sets Qwen Code up to call us, by its settings (QwenLM/qwen-code, release 0.24)."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from cognee_hooks.install import command
from cognee_hooks.install.file_installer import FileInstaller
from cognee_hooks.install.jsontext import Dialect, parse
from cognee_hooks.install.plan import Place, Scope

NAME = "qwen-code"
TITLE = "Qwen Code"
TIMEOUTS = {
    "SessionStart": 10_000,
    "UserPromptSubmit": 40_000,
    "PostToolUse": 10_000,
    "PostToolUseFailure": 10_000,
    "SubagentStop": 10_000,
    "Stop": 10_000,
    "PreCompact": 10_000,
    "SessionEnd": 15_000,
}
"""Our events with the milliseconds after which the agent gives a hook up. Newer releases count in
seconds, but read a thousand and more as older ones do."""
EMPTY = "{}"
"""What the agent takes as no answer."""
DIALECT = Dialect(comments=True)


def settings_path(place: Place) -> Path:
    """Return the settings file of a scope."""
    place.require(NAME, Scope.USER, Scope.PROJECT)
    if place.scope is Scope.USER:
        return place.folder("QWEN_HOME", ".qwen") / "settings.json"
    return place.cwd / ".qwen" / "settings.json"


def _entry(event: str, milliseconds: int) -> dict[str, Any]:
    line = shlex.join(command.hook_argv(NAME, event, EMPTY))
    return {"hooks": [{"type": "command", "command": line, "timeout": milliseconds}]}


def _notes(text: str, place: Place) -> list[str]:
    notes = []
    switch = parse(text, DIALECT).last("disableAllHooks")
    if switch and text[switch.start : switch.end] == "true":
        notes.append(
            'This file says "disableAllHooks": true, so Qwen Code runs no hooks, ours included.'
        )
    if place.scope is Scope.PROJECT:
        notes.append("Qwen Code runs hooks of a project only when you trust its folder.")
    return notes


INSTALLER = FileInstaller(
    title=TITLE,
    timeouts=TIMEOUTS,
    entry=_entry,
    path=settings_path,
    notes=_notes,
    next_step="Restart running Qwen Code sessions, or start a new one.",
    dialect=DIALECT,
)
"""Installer for Qwen Code."""

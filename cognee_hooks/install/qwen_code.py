"""Sets Qwen Code up to call us, by its settings (QwenLM/qwen-code, release 0.24)."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from cognee_hooks.install import command, hookfile
from cognee_hooks.install.jsonhooks import HookTable
from cognee_hooks.install.jsontext import Dialect, parse
from cognee_hooks.install.plan import PRIVATE_MODE, SHARED_MODE, Place, Plan, Scope

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


class QwenCode:
    """Installer for Qwen Code."""

    def install(self, place: Place) -> Plan:
        """Plan to add our hooks to the settings."""
        path = settings_path(place)
        mode = SHARED_MODE if place.scope is Scope.PROJECT else PRIVATE_MODE
        change = hookfile.plan_addition(path, _table(), TITLE, mode=mode)
        text = hookfile.text_of(path, change.after)
        return Plan(
            changes=[change],
            notes=[*command.warnings(place.environ), *_notes(text, place)],
            next_steps=["Restart running Qwen Code sessions, or start a new one."],
        )

    def uninstall(self, place: Place) -> Plan:
        """Plan to take our hooks out of the settings."""
        table = HookTable(entries={}, dialect=DIALECT)
        return Plan(changes=[hookfile.plan_removal(settings_path(place), table, TITLE)])


def settings_path(place: Place) -> Path:
    """Return the settings file of a scope."""
    place.require(NAME, Scope.USER, Scope.PROJECT)
    if place.scope is Scope.USER:
        return place.folder("QWEN_HOME", ".qwen") / "settings.json"
    return place.cwd / ".qwen" / "settings.json"


def _table() -> HookTable:
    entries = {event: _entry(event, each) for event, each in TIMEOUTS.items()}
    return HookTable(entries=entries, dialect=DIALECT)


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

"""Sets Cursor's agent up to call us, by its file of hooks (Cursor's hooks documentation, 2026)."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from cognee_hooks.install import command, hookfile
from cognee_hooks.install.jsonhooks import HookTable
from cognee_hooks.install.plan import PRIVATE_MODE, SHARED_MODE, Place, Plan, Scope

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
_SCAFFOLD = {"version": 1}


class Cursor:
    """Installer for Cursor."""

    def install(self, place: Place) -> Plan:
        """Plan to add our hooks to the file of hooks."""
        entries = {event: _entry(event, each) for event, each in TIMEOUTS.items()}
        table = HookTable(entries=entries, scaffold=_SCAFFOLD)
        mode = SHARED_MODE if place.scope is Scope.PROJECT else PRIVATE_MODE
        notes = command.warnings(place.environ)
        if place.scope is Scope.PROJECT:
            notes.append("Cursor runs hooks of a project only in a workspace that you trust.")
        return Plan(
            changes=[hookfile.plan_addition(hooks_path(place), table, TITLE, mode=mode)],
            notes=notes,
            next_steps=[
                "Start a new chat in Cursor; restart it if our hooks are not listed there."
            ],
        )

    def uninstall(self, place: Place) -> Plan:
        """Plan to take our hooks out of the file of hooks."""
        table = HookTable(entries={}, scaffold=_SCAFFOLD)
        return Plan(changes=[hookfile.plan_removal(hooks_path(place), table, TITLE)])


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

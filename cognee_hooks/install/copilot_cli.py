"""Sets GitHub Copilot CLI up to call us, by a file of hooks (GitHub's hooks reference, 2026).

The agent reads every file of its folder of hooks, so ours is one of its own.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from cognee_hooks.install import command, hookfile
from cognee_hooks.install.jsonhooks import HookTable
from cognee_hooks.install.plan import PRIVATE_MODE, SHARED_MODE, Place, Plan, Scope

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
_SCAFFOLD = {"version": 1}


class CopilotCli:
    """Installer for GitHub Copilot CLI."""

    def install(self, place: Place) -> Plan:
        """Plan to add our hooks to our file in the folder of hooks."""
        entries = {event: _entry(event, each) for event, each in TIMEOUTS.items()}
        table = HookTable(entries=entries, scaffold=_SCAFFOLD)
        mode = SHARED_MODE if place.scope is Scope.PROJECT else PRIVATE_MODE
        notes = command.warnings(place.environ)
        if place.scope is Scope.PROJECT:
            notes.append(
                "Copilot's cloud agent reads this file too. Our command is not there, so its jobs "
                "log that the hooks fail, and go on."
            )
        return Plan(
            changes=[hookfile.plan_addition(hooks_path(place), table, TITLE, mode=mode)],
            notes=notes,
            next_steps=["Restart running Copilot CLI sessions, or start a new one."],
        )

    def uninstall(self, place: Place) -> Plan:
        """Plan to remove our hooks."""
        table = HookTable(entries={}, scaffold=_SCAFFOLD)
        return Plan(changes=[hookfile.plan_removal(hooks_path(place), table, TITLE)])


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

"""Sets Claude Code up to call us: by its settings, or as a plugin for its own plugin manager.

What is written stays within what releases 2.1.197 and 2.1.332 both know. An event name or a type
that an older release does not know can make it drop all hooks of a file without a word.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from cognee_hooks.install import command, hookfile, jsonhooks, mcp_server
from cognee_hooks.install.jsonhooks import HookTable
from cognee_hooks.install.jsontext import Node, parse
from cognee_hooks.install.plan import PRIVATE_MODE, SHARED_MODE, Place, Plan, Scope, Tools
from cognee_hooks.install.plugin_folder import MARKETPLACE, PLUGIN, PluginFolder
from cognee_hooks.install.skills import SkillFolder, together

NAME = "claude-code"
TITLE = "Claude Code"
TIMEOUTS = {
    "SessionStart": 10,
    "UserPromptSubmit": 40,
    "PostToolUse": 10,
    "PostToolUseFailure": 10,
    "SubagentStop": 10,
    "Stop": 10,
    "PreCompact": 10,
    "SessionEnd": 15,
}
"""Our events with the seconds after which the agent gives a hook up. Without one it waits for ten
minutes on most of them, and for one and a half seconds at the end of a session."""
STATUS_LINE = "statusLine"


class ClaudeCodeInstaller:
    """Installer for Claude Code."""

    def install(self, place: Place) -> Plan:
        """Plan to add our hooks and tools to the settings, or to write a plugin folder."""
        warned = Plan(
            changes=[], notes=[*command.warnings(place.environ), *mcp_server.notes(place)]
        )
        if place.plugin_folder is not None:
            folder = PluginFolder(place.cwd / place.plugin_folder)
            plan = folder.install(_entries())
            return together(warned, plan, *_tools(place, folder.skills, folder.servers))
        table = _table(place)
        path = settings_path(place)
        mode = SHARED_MODE if place.scope is Scope.PROJECT else PRIVATE_MODE
        change = hookfile.plan_addition(path, table, TITLE, mode=mode)
        text = hookfile.text_of(path, change.after)
        hooks = Plan(
            changes=[change],
            notes=_notes(text, table, place),
            next_steps=["Restart running Claude Code sessions, or start a new one."],
        )
        if place.scope is Scope.LOCAL:
            return together(warned, hooks, _no_tools(place))
        return together(warned, hooks, *_tools(place, skills_path(place), servers_path(place)))

    def uninstall(self, place: Place) -> Plan:
        """Plan to take our hooks out of the settings, or to remove a plugin folder."""
        if place.plugin_folder is not None:
            folder = PluginFolder(place.cwd / place.plugin_folder)
            plan = folder.uninstall()
            return together(*_without_tools(folder.skills, folder.servers), plan)
        table = HookTable(entries={}, members={STATUS_LINE: None})
        hooks = Plan(changes=[hookfile.plan_removal(settings_path(place), table, TITLE)])
        if place.scope is Scope.LOCAL:
            return hooks
        return together(hooks, *_without_tools(skills_path(place), servers_path(place)))


def settings_path(place: Place) -> Path:
    """Return the settings file of a scope."""
    if place.scope is Scope.USER:
        return place.folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json"
    name = "settings.json" if place.scope is Scope.PROJECT else "settings.local.json"
    return place.cwd / ".claude" / name


def skills_path(place: Place) -> Path:
    """Return the folder from which skills of a scope are read."""
    if place.scope is Scope.USER:
        return place.folder("CLAUDE_CONFIG_DIR", ".claude") / "skills"
    return place.cwd / ".claude" / "skills"


def servers_path(place: Place) -> Path:
    """Return the file that names the MCP servers of a scope."""
    if place.scope is Scope.USER:
        return place.folder("CLAUDE_CONFIG_DIR") / ".claude.json"
    return place.cwd / ".mcp.json"


def _tools(place: Place, skills: Path, servers: Path) -> list[Plan]:
    """Plan to bring the tools, in the one way or the other."""
    server = mcp_server.in_json(servers, place, NAME, TITLE)
    return [_skills(skills).install(place), Plan(changes=[server])]


def _without_tools(skills: Path, servers: Path) -> list[Plan]:
    return [_skills(skills).uninstall(), Plan(changes=[mcp_server.out_of_json(servers)])]


def _skills(folder: Path) -> SkillFolder:
    return SkillFolder(agent=NAME, folder=folder, arguments="$ARGUMENTS")


def _no_tools(place: Place) -> Plan:
    if place.tools is Tools.NONE:
        return Plan(changes=[])
    text = (
        "Claude Code keeps no skills and MCP servers for you alone in one project, so these were "
        "left out; with --scope user you have them in all projects."
    )
    return Plan(changes=[], notes=[text])


def _entries() -> dict[str, Any]:
    return {event: _entry(event, seconds) for event, seconds in TIMEOUTS.items()}


def _entry(event: str, seconds: int) -> dict[str, Any]:
    # With `args` no shell is started, which saves time, and the agent is our direct parent.
    program, *arguments = command.hook_argv(NAME, event)
    return {
        "hooks": [{"type": "command", "command": program, "args": arguments, "timeout": seconds}]
    }


def _table(place: Place) -> HookTable:
    members = {}
    # In other scopes it would hide the status line that the person chose.
    if place.status_line and place.scope is Scope.USER:
        line = shlex.join(command.hook_argv(NAME, STATUS_LINE))
        members[STATUS_LINE] = {"type": "command", "command": line}
    return HookTable(entries=_entries(), members=members)


def _notes(text: str, table: HookTable, place: Place) -> list[str]:
    notes = []
    if jsonhooks.taken(text, table):
        notes.append(
            "You have a status line already, so ours was left out. To use ours, remove "
            '"statusLine" from this file and run this command again.'
        )
    root = parse(text)
    if _says(text, root.last("disableAllHooks"), value=True):
        notes.append(
            'This file says "disableAllHooks": true, so Claude Code runs no hooks, ours included.'
        )
    plugins = root.last("enabledPlugins")
    if plugins and _says(text, plugins.last(f"{PLUGIN}@{MARKETPLACE}"), value=True):
        notes.append(
            "The cognee-hooks plugin is enabled too, so every hook would run twice. Remove one: "
            f"`claude plugin uninstall {PLUGIN}@{MARKETPLACE}`, or "
            f"`cognee-hooks uninstall claude-code --scope {place.scope}`."
        )
    return notes


def _says(text: str, node: Node | None, *, value: bool) -> bool:
    return node is not None and text[node.start : node.end] == json.dumps(value)

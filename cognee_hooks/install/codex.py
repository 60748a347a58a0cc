"""Sets Codex up to call us, and to trust that.

Our groups stand behind those of others: Codex trusts a hook by its place in the file, and what
moves has to be trusted again.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from cognee_hooks.install import codex_trust, command, hookfile, mcp_server
from cognee_hooks.install.codex_config import with_trust, without_trust
from cognee_hooks.install.codex_hooks import Hook, hooks_of, moved_keys
from cognee_hooks.install.files import original, read
from cognee_hooks.install.jsonhooks import HookTable
from cognee_hooks.install.jsontext import parse
from cognee_hooks.install.plan import (
    PRIVATE_MODE,
    SHARED_MODE,
    Consent,
    FileChange,
    Place,
    Plan,
    Scope,
    Tools,
)
from cognee_hooks.install.skills import SkillFolder, together
from cognee_hooks.install.tomltable import ConfigEditError

NAME = "codex"
TITLE = "Codex"
TIMEOUTS = {
    "SessionStart": 10,
    "UserPromptSubmit": 40,
    "PostToolUse": 10,
    "SubagentStop": 10,
    "Stop": 10,
    "PreCompact": 10,
    "Interrupt": 3,
    "SessionEnd": 3,
}
"""Our events with the seconds after which Codex gives a hook up."""
_TOP_LEVEL = frozenset({"description", "hooks"})


class CodexInstaller:
    """Installer for Codex."""

    def install(self, place: Place) -> Plan:
        """Plan to add our hooks, and to have them trusted if the person agrees."""
        place.require(NAME, Scope.USER, Scope.PROJECT)
        path = codex_trust.hooks_path(place)
        mode = SHARED_MODE if place.scope is Scope.PROJECT else PRIVATE_MODE
        change = hookfile.plan_addition(path, _table(), TITLE, mode=mode)
        hooks = codex_trust.untrusted(place, change.after)
        server = _with_server(place)
        plan = Plan(
            changes=[change, server] if server.changes else [change],
            notes=[
                *command.warnings(place.environ),
                *_notes(place, change),
                *mcp_server.notes(place),
            ],
            next_steps=["Restart running Codex sessions, or start a new one."],
            consents=[_consent(place, hooks)] if hooks else [],
        )
        return together(plan, _skills(place).install(place))

    def uninstall(self, place: Place) -> Plan:
        """Plan to take our hooks out, and the trust in them."""
        place.require(NAME, Scope.USER, Scope.PROJECT)
        path = codex_trust.hooks_path(place)
        change = hookfile.plan_removal(path, HookTable(entries={}), TITLE)
        before = hooks_of(hookfile.text_of(path, change.before), path) if change.changes else []
        after = hooks_of(hookfile.text_of(path, change.after), path) if change.changes else []
        notes: list[str] = []
        trust = None
        if before:
            try:
                trust = _without_trust(place, before, after)
            except (ConfigEditError, UnicodeDecodeError) as error:
                note = (
                    f"{codex_trust.config_path(place)} still trusts our hooks, which does no harm"
                )
                notes = [f"{note}: {error}."]
        changes = [change, *_configs(place, trust)]
        return together(Plan(changes=changes, notes=notes), _skills(place).uninstall())


def _table() -> HookTable:
    return HookTable(entries={event: _entry(event, each) for event, each in TIMEOUTS.items()})


def _entry(event: str, seconds: int) -> dict[str, Any]:
    line = shlex.join(command.hook_argv(NAME, event))
    return {"hooks": [{"type": "command", "command": line, "timeout": seconds}]}


def _skills(place: Place) -> SkillFolder:
    folder = codex_trust.codex_home(place) / "skills"
    if place.scope is Scope.PROJECT:
        folder = place.cwd / ".agents" / "skills"
    return SkillFolder(agent=NAME, folder=folder, policies=True)


def _with_server(place: Place) -> FileChange:
    """Plan to have our MCP server in the configuration if it is wanted, or else not."""
    path = codex_trust.config_path(place)
    if place.scope is Scope.PROJECT:
        path = place.cwd / ".codex" / "config.toml"
    before = read(path)
    after = before
    if place.tools is Tools.MCP or before is not None:
        after = mcp_server.in_toml(path, before, place, NAME)
    mode = SHARED_MODE if place.scope is Scope.PROJECT else PRIVATE_MODE
    return FileChange(path=path, before=before, after=after, mode=mode, wholly_ours=after is None)


def _configs(place: Place, trust: FileChange | None) -> list[FileChange]:
    """Plan to take our MCP server out, beside the change of whom the person trusts."""
    nothing = replace(place, tools=Tools.NONE)
    server = _with_server(nothing)
    if trust is None or trust.path != server.path:
        return [*([] if trust is None else [trust]), *([server] if server.changes else [])]
    if trust.after is None:
        return [trust]
    after = mcp_server.in_toml(trust.path, trust.after, nothing, NAME)
    return [replace(trust, after=after, wholly_ours=after is None)]


def _consent(place: Place, hooks: Sequence[Hook]) -> Consent:
    events = ", ".join(dict.fromkeys(each.event for each in hooks))
    return Consent(
        text=(
            "Codex runs a hook only when you trust it. Trusting ours lets Codex start "
            f"{command.client_path()} on these events: {events}. "
            f"What you trust is kept in {codex_trust.config_path(place)}."
        ),
        question="Trust these hooks in Codex?",
        grant=partial(codex_trust.grant, place),
        otherwise=codex_trust.BY_HAND,
    )


def _notes(place: Place, change: FileChange) -> list[str]:
    notes = []
    root = parse(hookfile.text_of(change.path, change.after))
    strange = [item.key for item in root.items if item.key not in _TOP_LEVEL]
    if strange:
        notes.append(
            f"{change.path} also holds {', '.join(map(repr, strange))}. Codex ignores the whole "
            'file when it holds anything but "description" and "hooks"; remove the rest.'
        )
    config = _config_table(place)
    features = config.get("features")
    if isinstance(features, dict) and features.get("hooks") is False:
        notes.append(
            f"{codex_trust.config_path(place)} switches hooks off (features.hooks = false), so "
            "Codex runs none."
        )
    if place.scope is Scope.PROJECT:
        notes.append("Codex reads hooks of a project only when you trust the project itself.")
    return notes


def _config_table(place: Place) -> dict[str, Any]:
    content = read(codex_trust.config_path(place)) or b""
    try:
        return tomllib.loads(content.decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError:
        return {}


def _without_trust(place: Place, before: list[Hook], after: list[Hook]) -> FileChange:
    path = codex_trust.config_path(place)
    content = read(path)
    if content is None:
        return FileChange(path=path, before=None, after=None)
    ours = {each.key: each.hash for each in before if each.ours}
    cleaned = without_trust(content.decode(), ours, moved_keys(before, after)).encode()
    if cleaned == content:
        return FileChange(path=path, before=content, after=content)
    found = original(path, cleaned, lambda each: _round_trip(each, ours))
    if found is None and cleaned.strip():
        found = cleaned
    return FileChange(path=path, before=content, after=found, wholly_ours=found is None)


def _round_trip(content: bytes, ours: dict[str, str]) -> bytes | None:
    try:
        text = content.decode()
        if without_trust(text, ours, {}) != text:
            return None
        return without_trust(with_trust(text, ours), ours, {}).encode()
    except (ConfigEditError, UnicodeDecodeError):
        return None

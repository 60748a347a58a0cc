"""Sets OpenCode up to call us: one plugin file in its folder of plugins (OpenCode 1.18)."""

from __future__ import annotations

from importlib.resources.abc import Traversable
from pathlib import Path

from cognee_hooks.install import command
from cognee_hooks.install.copied_source import CopiedSource
from cognee_hooks.install.plan import Place, Plan, Scope

NAME = "opencode"
MARK = '// cognee-hooks plugin for OpenCode; installed by "cognee-hooks install opencode"'
"""First line of the file."""
LAUNCHER_LINE = "const LAUNCHER = [];"
"""The line of the plugin in which the command is filled in."""


class OpenCodeInstaller:
    """Installer for OpenCode.

    Args:
        source: The plugin; by default the one of this package.
    """

    def __init__(self, source: Traversable | None = None) -> None:
        self._copied = CopiedSource(
            agent="OpenCode",
            name="opencode_plugin.js",
            mark=MARK,
            launcher_line=LAUNCHER_LINE,
            source=source,
        )

    def install(self, place: Place) -> Plan:
        """Plan to write the plugin."""
        return Plan(
            changes=[self._copied.addition(plugin_path(place))],
            notes=command.warnings(place.environ),
            next_steps=["Restart running OpenCode sessions, or start a new one."],
        )

    def uninstall(self, place: Place) -> Plan:
        """Plan to remove the plugin if it is ours."""
        return self._copied.removal(plugin_path(place))


def plugin_path(place: Place) -> Path:
    """Return where the plugin of a scope lies."""
    place.require(NAME, Scope.USER, Scope.PROJECT)
    folder = place.cwd / ".opencode"
    if place.scope is Scope.USER:
        # `OPENCODE_CONFIG_DIR` adds a folder to this one and moves nothing.
        folder = place.folder("XDG_CONFIG_HOME", ".config") / "opencode"
    # Older releases do not know the other spelling, `plugins`.
    return folder / "plugin" / "cognee-hooks.js"

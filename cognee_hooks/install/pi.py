"""Sets pi up to call us: one extension file in its global folder."""

from __future__ import annotations

from importlib.resources.abc import Traversable
from pathlib import Path

from cognee_hooks.install import command
from cognee_hooks.install.copied_source import CopiedSource
from cognee_hooks.install.plan import Place, Plan, Scope

NAME = "pi"
MARK = '// cognee-hooks extension for pi; installed by "cognee-hooks install pi"'
"""First line of the file."""
LAUNCHER_LINE = "const LAUNCHER: string[] = [];"
"""The line of the extension in which the command is filled in."""


class PiInstaller:
    """Installer for pi.

    Args:
        source: The extension; by default the one of this package.
    """

    def __init__(self, source: Traversable | None = None) -> None:
        self._copied = CopiedSource(
            agent=NAME,
            name="pi_extension.ts",
            mark=MARK,
            launcher_line=LAUNCHER_LINE,
            source=source,
        )

    def install(self, place: Place) -> Plan:
        """Plan to write the extension."""
        return Plan(
            changes=[self._copied.addition(extension_path(place))],
            notes=command.warnings(place.environ),
            next_steps=["Restart running pi sessions, or type /reload in them."],
        )

    def uninstall(self, place: Place) -> Plan:
        """Plan to remove the extension if it is ours."""
        return self._copied.removal(extension_path(place))


def extension_path(place: Place) -> Path:
    """Return where the extension lies."""
    # Extensions of a project are skipped without a word unless the project is trusted.
    place.require(NAME, Scope.USER)
    folder = place.folder("PI_CODING_AGENT_DIR", ".pi", "agent")
    return folder / "extensions" / "cognee-hooks.ts"

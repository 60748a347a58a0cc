"""Sets pi up to call us: one extension file in its global folder.

The file is a copy. A link to, or an import of, a file of this package would stop every start of pi
once the package is gone; the copy only finds nobody to talk to.
"""

from __future__ import annotations

import json
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from cognee_hooks.errors import InstallRefused
from cognee_hooks.install import command
from cognee_hooks.install.files import read, refused
from cognee_hooks.install.plan import SHARED_MODE, FileChange, Place, Plan, Scope

NAME = "pi"
MARK = '// cognee-hooks extension for pi; installed by "cognee-hooks install pi"'
"""First line of the file; a file that begins otherwise is somebody else's."""
LAUNCHER_LINE = "const LAUNCHER: string[] = [];"
"""The line of the extension in which the command is filled in."""


class Pi:
    """Installer for pi.

    Args:
        source: The extension; by default the one of this package.
    """

    def __init__(self, source: Traversable | None = None) -> None:
        self._source = source

    def install(self, place: Place) -> Plan:
        """Plan to write the extension."""
        path = extension_path(place)
        before = read(path)
        if before is not None and not is_ours(before):
            raise refused(
                path, "this file was not written by cognee-hooks. Rename it and run this again"
            )
        return Plan(
            changes=[
                FileChange(
                    path=path,
                    before=before,
                    after=self._extension(),
                    mode=SHARED_MODE,
                    wholly_ours=True,
                )
            ],
            notes=command.warnings(place.environ),
            next_steps=["Restart running pi sessions, or type /reload in them."],
        )

    def uninstall(self, place: Place) -> Plan:
        """Plan to remove the extension if it is ours."""
        path = extension_path(place)
        before = read(path)
        if before is not None and not is_ours(before):
            note = f"{path} was not written by cognee-hooks and stays."
            return Plan(changes=[], notes=[note])
        return Plan(changes=[FileChange(path=path, before=before, after=None, wholly_ours=True)])

    def _extension(self) -> bytes:
        source = self._source or files("cognee_hooks").joinpath("agents", "pi_extension.ts")
        try:
            text = source.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise _incomplete() from error
        if text.count(LAUNCHER_LINE) != 1:
            raise _incomplete()
        if not is_ours(text.encode()):
            text = f"{MARK}\n{text}"
        launcher = json.dumps(command.launcher_argv(), ensure_ascii=False)
        line = LAUNCHER_LINE.replace("[];", f"{launcher};")
        return text.replace(LAUNCHER_LINE, line).encode()


def extension_path(place: Place) -> Path:
    """Return where the extension lies."""
    # Extensions of a project are skipped without a word unless the project is trusted.
    place.require(NAME, Scope.USER)
    folder = place.folder("PI_CODING_AGENT_DIR", ".pi", "agent")
    return folder / "extensions" / "cognee-hooks.ts"


def is_ours(content: bytes) -> bool:
    """Tell whether an extension was written by us."""
    return content.partition(b"\n")[0].rstrip() == MARK.encode()


def _incomplete() -> InstallRefused:
    return InstallRefused(
        "the extension for pi is missing from this installation of cognee-hooks, or damaged. "
        "Install the package again. Nothing was changed."
    )

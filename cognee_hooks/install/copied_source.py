"""A source file of ours in the folder from which an agent loads extensions.

The file is a copy. A link to, or an import of, a file of this package would break the agent's start
once the package is gone; the copy only finds nobody to talk to.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from cognee_hooks.errors import InstallRefused
from cognee_hooks.install import command
from cognee_hooks.install.files import read, refused
from cognee_hooks.install.plan import SHARED_MODE, FileChange, Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedSource:
    """What is copied.

    Attributes:
        agent: The agent's name for people.
        name: The file's name among the package's adapters.
        mark: First line of the copy; a file that begins otherwise is somebody else's.
        launcher_line: The line in which the command is filled in; it ends in an empty array.
        source: Where to read it; by default this package.
    """

    agent: str
    name: str
    mark: str
    launcher_line: str
    source: Traversable | None = None

    def addition(self, path: Path) -> FileChange:
        """Plan to write the copy.

        Raises:
            InstallRefused: A file of somebody else is there, or ours is damaged.
        """
        before = read(path)
        if before is not None and not self.is_ours(before):
            raise refused(
                path, "this file was not written by cognee-hooks. Rename it and run this again"
            )
        return FileChange(
            path=path, before=before, after=self._content(), mode=SHARED_MODE, wholly_ours=True
        )

    def removal(self, path: Path) -> Plan:
        """Plan to remove the copy if it is ours."""
        before = read(path)
        if before is not None and not self.is_ours(before):
            note = f"{path} was not written by cognee-hooks and stays."
            return Plan(changes=[], notes=[note])
        return Plan(changes=[FileChange(path=path, before=before, after=None, wholly_ours=True)])

    def is_ours(self, content: bytes) -> bool:
        """Tell whether a file was written by us."""
        return content.partition(b"\n")[0].rstrip() == self.mark.encode()

    def _content(self) -> bytes:
        source = self.source or files("cognee_hooks").joinpath("agents", self.name)
        try:
            text = source.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise self._incomplete() from error
        if text.count(self.launcher_line) != 1:
            raise self._incomplete()
        if not self.is_ours(text.encode()):
            text = f"{self.mark}\n{text}"
        launcher = json.dumps(command.launcher_argv(), ensure_ascii=False)
        line = self.launcher_line.replace("[];", f"{launcher};")
        return text.replace(self.launcher_line, line).encode()

    def _incomplete(self) -> InstallRefused:
        return InstallRefused(
            f"our file for {self.agent} is missing from this installation of cognee-hooks, or "
            "damaged. Install the package again. Nothing was changed."
        )

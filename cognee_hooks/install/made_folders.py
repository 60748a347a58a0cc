"""Remembers which folders an installation made, so that its removal takes them away again.

A folder that was there before is the person's, however empty it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from cognee_hooks.install.plan import FileChange, Plan
from cognee_hooks.services.statefile import read_object, write_json

_FIELD = "folders"
_MOST = 1000
"""Folders that are remembered; nobody sets up so many agents in so many projects."""


def missing_folders(changes: Iterable[FileChange]) -> list[Path]:
    """Return the folders that have to be made for what is to be written."""
    writing = (each.path for each in changes if each.after is not None)
    found = {folder for path in writing for folder in path.parents if not os.path.lexists(folder)}
    return sorted(found)


class MadeFolders:
    """The folders that installations made.

    Args:
        path: The file in which they are remembered.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, folders: Iterable[Path]) -> None:
        """Remember folders that were made; where that cannot be kept, they will stay.

        Args:
            folders: Those that were missing; what is not there now was not needed.
        """
        made = {str(each) for each in folders if each.is_dir()}
        if made:
            self._keep(made | self._known())

    def remove_empty(self, plan: Plan) -> None:
        """Remove the folders of a removal that an installation made, and in which nothing is left.

        Args:
            plan: The removal, carried out.
        """
        paths = [*(each.path for each in plan.changes), *plan.empty_folders]
        known = self._known()
        concerned = known & {str(folder) for path in paths for folder in (path, *path.parents)}
        gone = set()
        for name in sorted(concerned, key=len, reverse=True):  # what is inside first
            with suppress(OSError):  # somebody's files are in it, or it is a link by now
                Path(name).rmdir()
            if not os.path.lexists(name):
                gone.add(name)
        if gone:
            self._keep(known - gone)

    def _known(self) -> set[str]:
        found = read_object(self._path, private=True).get(_FIELD)
        rows = found[:_MOST] if isinstance(found, list) else []
        return {each for each in rows if isinstance(each, str) and Path(each).is_absolute()}

    def _keep(self, folders: set[str]) -> None:
        with suppress(OSError):
            if folders:
                write_json(self._path, {_FIELD: sorted(folders)[:_MOST]})
            else:
                self._path.unlink(missing_ok=True)

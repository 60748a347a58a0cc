"""Remembers which folders an installation made, so that its removal takes them away again.

A folder that was there before is the person's, however empty it is. So is one that has got the name
of ours since: each is remembered with its number in the file system.
"""

from __future__ import annotations

import os
import stat
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
        made = {str(each): _number(each) for each in folders}
        made = {name: number for name, number in made.items() if number and _is_text(name)}
        if made:
            self._keep(self._known() | made)

    def remove_empty(self, plan: Plan) -> None:
        """Remove the folders of a removal that an installation made, and in which nothing is left.

        Args:
            plan: The removal, carried out.
        """
        paths = [*(each.path for each in plan.changes), *plan.empty_folders]
        known = self._known()
        concerned = {folder for path in paths for folder in (path, *path.parents)}
        left = dict(known)
        for folder in sorted(concerned, key=lambda each: len(each.parts), reverse=True):
            name = str(folder)  # what is inside comes first
            if name not in known:
                continue
            if _number(folder) == known[name]:
                with suppress(OSError):  # somebody's files are in it
                    folder.rmdir()
            if _number(folder) != known[name]:
                del left[name]
        if left != known:
            self._keep(left)

    def _known(self) -> dict[str, int]:
        found = read_object(self._path, private=True).get(_FIELD)
        rows = list(found.items())[:_MOST] if isinstance(found, dict) else []
        return {name: number for name, number in rows if type(number) is int and _is_text(name)}

    def _keep(self, folders: dict[str, int]) -> None:
        with suppress(OSError):
            if folders:
                write_json(self._path, {_FIELD: dict(sorted(folders.items())[:_MOST])})
            else:
                self._path.unlink(missing_ok=True)


def _number(path: Path) -> int:
    """Return the number of a folder in its file system; 0 where there is none, or a link."""
    try:
        facts = path.lstat()
    except OSError:
        return 0
    return facts.st_ino if stat.S_ISDIR(facts.st_mode) else 0


def _is_text(name: str) -> bool:
    """Whether a name can be kept as JSON; one that is no UTF-8 cannot."""
    return not any("\ud800" <= each <= "\udfff" for each in name)

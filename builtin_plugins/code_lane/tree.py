"""What lies in a repository's folder: whether it changed, and how large it is."""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from builtin_plugins.code_lane.identifiers import CODE_SUFFIXES
from cognee_hooks.deadline import Deadline
from cognee_hooks.services.git import Git

MOST_FILES = 50_000
"""Files of a repository whose changes are followed."""
MOST_REPOSITORIES = 100
"""Repositories inside of one, such as submodules, whose changes are followed with it."""
HARD_LIMIT = 3000
"""Source files of the largest repository that is ever indexed unasked."""
BYTES_EACH = 20_000
"""Bytes that a source file has on average where a repository counts as small."""

_MOST_ENTRIES = 50_000
_SNAPSHOT = b".enola"
_SKIPPED = frozenset("node_modules venv dist build target __pycache__".split())


async def fingerprint(git: Git, root: Path, deadline: Deadline) -> str:
    """Return a digest of the commit and of name, size and time of each file in a repository.

    It sees what git does not show in a diff: files inside folders that are not tracked, names that
    are not ASCII, changes of any length (W17), what lies in submodules and other repositories
    inside. The indexer's own snapshot is left out. No file is opened, and nothing is run that a
    repository's configuration names.

    Args:
        git: Asks git.
        root: The repository's folder.
        deadline: When to give up.

    Returns:
        Hexadecimal digits; "" where git does not tell, there is no commit yet, or too many files.
    """
    head = await git.head(root, deadline)
    if not head:
        return ""
    digest = hashlib.sha256(f"{head}\0".encode())
    top, left = os.fsencode(root), MOST_FILES
    waiting, seen = [b""], 0
    while waiting:
        folder = waiting.pop()
        seen += 1
        files = await git.files(Path(os.fsdecode(top + folder)), deadline)
        left -= len(files or ())
        if left < 0 or (files is None and (not folder or deadline.expired)):
            return ""
        inside = await asyncio.to_thread(_take_in, digest.update, top + folder, files or ())
        waiting += [folder + each for each in inside]
        if seen + len(waiting) > MOST_REPOSITORIES:
            return ""
    return digest.hexdigest()


def _take_in(
    update: Callable[[bytes], object], folder: bytes, files: Iterable[bytes]
) -> list[bytes]:
    """Add files to a digest; returns those that are folders, which hold other repositories."""
    inside: list[bytes] = []
    for file in files:
        if file.partition(b"/")[0] == _SNAPSHOT:
            continue
        try:
            facts = os.lstat(folder + b"/" + file)
        except (OSError, ValueError):
            state = b"gone"
        else:
            state = b"%d:%d" % (facts.st_size, facts.st_mtime_ns)
            if stat.S_ISDIR(facts.st_mode):
                inside.append(b"/" + file.rstrip(b"/"))
                state = b"folder"
        update(b"%s\0%s\0" % (file, state))
    return inside


@dataclass(frozen=True, slots=True)
class Extent:
    """How much source code a folder holds, counted up to a limit.

    Attributes:
        files: Source files; one more than the limit where there are more.
        size: Bytes of those files.
        complete: Whether everything was looked at.
    """

    files: int
    size: int
    complete: bool


def measure(root: Path, most_files: int) -> Extent:
    """Count source files without following links or entering folders that builds fill.

    It stops as soon as there are more than ``most_files``, or fifty thousand entries of any kind.

    Args:
        root: Where to begin.
        most_files: The limit.
    """
    files = size = entries = 0
    waiting = [str(root)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as scan:
                for entry in scan:
                    entries += 1
                    if entries > _MOST_ENTRIES:
                        return Extent(files, size, complete=False)
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in _SKIPPED and not entry.name.startswith("."):
                            waiting.append(entry.path)
                    elif _is_source(entry):
                        files += 1
                        size += entry.stat(follow_symlinks=False).st_size
                        if files > most_files:
                            return Extent(files, size, complete=False)
        except OSError:
            continue
    return Extent(files, size, complete=True)


def _is_source(entry: os.DirEntry[str]) -> bool:
    suffix = os.path.splitext(entry.name)[1][1:].lower()  # noqa: PTH122 - a Path each is dear
    return suffix in CODE_SUFFIXES and entry.is_file(follow_symlinks=False)


def why_not(extent: Extent, most_files: int) -> str:
    """Say why a folder is not indexed unasked, or ""."""
    if extent.files > most_files:
        return f"it has more than {most_files} source files"
    if not extent.complete:
        return "its folder holds too much"
    if not extent.files:
        return "it holds no source files"
    if extent.size > most_files * BYTES_EACH:
        return f"its source files are larger than {most_files * BYTES_EACH // 1000} kB in all"
    return ""

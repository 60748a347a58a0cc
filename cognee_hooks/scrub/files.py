"""Takes a leaked value out of plain files, whatever is in them.

A text gets a marker in the place of the value, and is replaced as a whole. In a log the value is
overwritten by stars where it stands: whoever has the log open goes on writing to the same file. A
file that may only be changed by who wrote it is named and left alone.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from cognee_hooks.deadline import Deadline
from cognee_hooks.leak import Leak
from cognee_hooks.results import Scrubbed, ScrubState
from cognee_hooks.services.statefile import read_bytes, write_atomic

MAX_BYTES = 64 * 1024 * 1024
"""Longest file that is rewritten as a whole."""

_CHUNK = 1024 * 1024
_LOG = re.compile(r".*\.log(\.[0-9]+)?")
_PASSED_OVER = frozenset({"venv", "node_modules", "__pycache__", ".git"})
_BINARY = "it is no text, so it is left as it is; remove it if what it holds is not needed"
_LINKED = "it has a second name (a hard link), so it is left as it is; remove or clean it by hand"
_FOREIGN = "it is another user's"
_LONG = f"it is longer than {MAX_BYTES // 1_000_000} MB, so it is left as it is; clean it by hand"
_LINK = "a link, which is not followed; clean the file that it leads to by hand"
_FOLDER_LINK = "a link to a folder, which is not followed; see whether that holds the value"
_NAMED = "its name holds the value; rename or remove it"


@dataclass(frozen=True, slots=True)
class Sweeper:
    """Looks through files, and cleans them.

    Attributes:
        leak: The value.
        deadline: When to stop looking.
        dry_run: Only look.
        thorough: Pass over nothing in silence, neither links nor what programs install.
    """

    leak: Leak
    deadline: Deadline
    dry_run: bool
    thorough: bool = True

    def sweep(
        self, root: Path, leave: Callable[[Path], str], *, without: Collection[Path] = ()
    ) -> Iterator[Scrubbed]:
        """Go through a file, or all files below a folder.

        Args:
            root: The file or folder; links are not followed.
            leave: Says why a file may only be reported, "" where it may be cleaned.
            without: Folders that are left out.
        """
        unread: list[OSError] = []
        for path in files_below(root, without, thorough=self.thorough, unread=unread):
            if self.deadline.expired:
                detail = "there was no time to look through all of it; run scrub again"
                yield Scrubbed(place=str(root), state=ScrubState.LEFT, detail=detail)
                return
            yield from self._file(path, leave) if not path.is_symlink() else self._link(path)
        for error in unread if self.thorough else ():
            if isinstance(error, FileNotFoundError):
                continue
            place = self.leak.cleaned_text(str(error.filename))
            detail = f"it cannot be looked into ({error.strerror})"
            yield Scrubbed(place=place, state=ScrubState.LEFT, detail=detail)

    def shown(self, path: Path) -> str:
        """Return a path for people, without the value."""
        return self.leak.cleaned_text(str(path))

    def _link(self, path: Path) -> Iterator[Scrubbed]:
        """Name a link that leads to the value, or to where nobody looks."""
        target = Path(os.path.realpath(path))  # which takes links that lead to themselves
        if target.is_dir():
            yield Scrubbed(place=self.shown(path), state=ScrubState.LEFT, detail=_FOLDER_LINK)
        elif target.is_file() and (count := self._count(target)):
            place = self.shown(path)
            yield Scrubbed(place=place, state=ScrubState.LEFT, count=count, detail=_LINK)

    def _file(self, path: Path, leave: Callable[[Path], str]) -> Iterator[Scrubbed]:
        place = self.shown(path)
        if place != str(path):
            yield Scrubbed(place=place, state=ScrubState.LEFT, count=1, detail=_NAMED)
        try:
            count = self._count(path)
            if not count:
                return
            detail = leave(path) or self._obstacle(path)
            if not detail and not self.dry_run:
                self._clean(path)
        except OSError as error:
            detail = f"it cannot be read or written ({error.strerror})"
            yield Scrubbed(place=place, state=ScrubState.LEFT, detail=detail)
            return
        state = ScrubState.FOUND if self.dry_run else ScrubState.CLEANED
        state = ScrubState.LEFT if detail else state
        yield Scrubbed(place=place, state=state, count=count, detail=detail)

    def _count(self, path: Path) -> int:
        """Return how often a file of any length holds the value."""
        count, before = 0, b""
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            while chunk := os.read(descriptor, _CHUNK):
                data = before + chunk
                found = [start + length for start, length in self.leak.places(data)]
                count += len(found)
                # Not what was counted, or a value at the edge would count twice.
                keep = max([*found[-1:], len(data) - self.leak.longest + 1, 0])
                before = data[keep:]
        finally:
            os.close(descriptor)
        return count

    def _obstacle(self, path: Path) -> str:
        """Return why a file cannot be cleaned, or ""."""
        facts = path.lstat()
        if facts.st_uid != os.geteuid():
            return _FOREIGN
        if _LOG.fullmatch(path.name):
            return ""
        if facts.st_nlink > 1:
            return _LINKED
        if facts.st_size > MAX_BYTES:
            return _LONG
        return _BINARY if b"\0" in (read_bytes(path, max_bytes=MAX_BYTES) or b"") else ""

    def _clean(self, path: Path) -> None:
        if _LOG.fullmatch(path.name):
            self._mask(path)
            return
        data = read_bytes(path, max_bytes=MAX_BYTES) or b""
        mode = stat.S_IMODE(path.lstat().st_mode)
        write_atomic(path, cleaned_text(data, self.leak), mode=mode)

    def _mask(self, path: Path) -> None:
        """Overwrite the value where it stands; each place by one write, so no kill tears it."""
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            offset, before = 0, b""
            while chunk := os.pread(descriptor, _CHUNK, offset):
                data = before + chunk
                start = offset - len(before)
                for place, length in self.leak.places(data):
                    os.pwrite(descriptor, b"*" * length, start + place)
                offset += len(chunk)
                before = data[max(0, len(data) - self.leak.longest + 1) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def files_below(
    root: Path,
    without: Collection[Path] = (),
    *,
    thorough: bool = True,
    unread: list[OSError] | None = None,
) -> Iterator[Path]:
    """Yield a regular file, or all of them below a folder.

    Args:
        root: The file or folder.
        without: Folders that are left out.
        thorough: Yield links as well, and leave out nothing that programs install.
        unread: Gets why folders cannot be looked into.
    """
    if root.is_file() and not root.is_symlink():
        yield root
        return
    skipped: list[OSError] = [] if unread is None else unread
    for folder, folders, names in os.walk(root, onerror=skipped.append):
        if Path(folder) in without:
            folders.clear()
            continue
        links = [each for each in folders if Path(folder, each).is_symlink()]
        folders[:] = sorted(each for each in folders if thorough or each not in _PASSED_OVER)
        for name in sorted([*names, *links]):
            path = Path(folder, name)
            try:
                mode = path.lstat().st_mode
            except OSError:
                continue  # removed meanwhile
            if stat.S_ISREG(mode) or (thorough and stat.S_ISLNK(mode)):
                yield path


def cleaned_text(data: bytes, leak: Leak) -> bytes:
    """Return a text without the value; what was JSON, as a whole or line by line, stays JSON."""
    cleaned = leak.cleaned_bytes(data)
    if not _is_json(data) or _is_json(cleaned):
        if b"\n" not in data.strip():
            return cleaned
        lines = (_line(each, leak) for each in data.split(b"\n"))
        # Of several lines together the value may be in none.
        return leak.cleaned_bytes(b"\n".join(lines))
    return json.dumps(leak.cleaned(json.loads(data)), ensure_ascii=False).encode()


def _line(line: bytes, leak: Leak) -> bytes:
    if not leak.is_in(line):
        return line
    cleaned = leak.cleaned_bytes(line)
    if not _is_json(line) or _is_json(cleaned):
        return cleaned
    return json.dumps(leak.cleaned(json.loads(line)), ensure_ascii=False).encode()


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True

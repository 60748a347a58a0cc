"""All sessions' buffers of one agent."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from builtin_plugins.bridge.buffer import Buffer
from builtin_plugins.bridge.limits import BufferLimits
from builtin_plugins.bridge.log import Untrusted
from cognee_hooks.services.crypto import Sealer
from cognee_hooks.services.names import session_file_stem
from cognee_hooks.services.paths import QUARANTINE
from cognee_hooks.services.permissions import open_to_others
from cognee_hooks.services.statefile import make_private_folder

MAX_IN_MEMORY = 16
"""Buffers whose content stays in memory between rounds; each may be megabytes."""
STALE_TRACE_SECONDS = 24 * 3600.0
"""Log and locks of a session of which nothing waits are kept for so long."""

_STEM = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Swept:
    """What was put aside because it lay there for too long.

    Attributes:
        entries: How many entries.
        sessions: Of how many sessions.
    """

    entries: int = 0
    sessions: int = 0


class BufferFolder:
    """The folder with the buffers.

    Args:
        path: The folder.
        sealer: Seals what is written.
        limits: How much each session may keep.
        now: Epoch seconds.
    """

    def __init__(
        self, path: Path, sealer: Sealer, limits: BufferLimits, *, now: Callable[[], float]
    ) -> None:
        self.path = path
        self._sealer = sealer
        self._limits = limits
        self._now = now
        self._buffers: dict[str, Buffer] = {}

    def prepare(self) -> None:
        """Make the folder, and close it to other users.

        Raises:
            OSError: It cannot be made, or is another user's.
        """
        make_private_folder(self.path)
        facts = self.path.stat()
        if facts.st_uid != os.geteuid():
            raise Untrusted(f"{self.path} is not a folder of your own")
        if open_to_others(facts.st_mode):
            self.path.chmod(0o700)

    def check(self) -> None:
        """Do no more than look whether the folder can be used; one that is not there can be made.

        Raises:
            OSError: It cannot be used.
        """
        there = next(each for each in (self.path, *self.path.parents) if os.path.lexists(each))
        if not there.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(there, os.R_OK | os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if there == self.path and there.stat().st_uid != os.geteuid():
            raise Untrusted(f"{self.path} is not a folder of your own")

    def of(self, session_id: str) -> Buffer:
        """Return a session's buffer."""
        return self._at(session_file_stem(session_id))

    def waiting(self) -> Iterator[Buffer]:
        """Return the buffers that have an envelope, of whatever session."""
        for stem in sorted(self._stems(".json")):
            yield self._at(stem)

    def forget(self, keep: Iterable[Buffer]) -> None:
        """Free the memory of buffers, if there are many."""
        if len(self._buffers) > MAX_IN_MEMORY:
            self._buffers = {buffer.stem: buffer for buffer in keep}

    def aside(self) -> int:
        """Return how many entries were put aside, in all sessions."""
        stems = (each.stem for each in self.path.glob(f"{QUARANTINE}/*.json"))
        return sum(self._at(stem).aside for stem in stems if _STEM.fullmatch(stem))

    def sweep(self, keep_days: int) -> Swept:
        """Put aside what nobody touched for long, and remove what is left of empty sessions."""
        entries = sessions = 0
        before = self._now() - keep_days * 24 * 3600.0
        for buffer in [*self.waiting()]:
            if self._touched(buffer.path) < before:
                with suppress(OSError):
                    entries += buffer.set_aside_all("never sent")
                    sessions += 1
        waiting = self._stems(".json")
        for suffix in (".log", ".lock", ".drain"):
            for stem in self._stems(suffix) - waiting:
                path = self.path / f"{stem}{suffix}"
                if self._touched(path) < self._now() - STALE_TRACE_SECONDS:
                    with suppress(OSError):
                        self._at(stem).remove_traces()
        return Swept(entries, sessions)

    def _at(self, stem: str) -> Buffer:
        if stem not in self._buffers:
            self._buffers[stem] = Buffer(self.path, stem, self._sealer, self._limits, now=self._now)
        return self._buffers[stem]

    def _stems(self, suffix: str) -> set[str]:
        found = (each.stem for each in self.path.glob(f"*{suffix}"))
        return {stem for stem in found if _STEM.fullmatch(stem)}

    def _touched(self, path: Path) -> float:
        with suppress(OSError):
            return path.lstat().st_mtime
        return self._now()

"""The file in which all cognee plugins note which process serves a port.

``server-<port>.pid`` holds ``{"pid", "port", "version", "created_at"}``, ``created_at`` in epoch
seconds, and ours ``start_time`` as well, so that another process that got the id later, after a
restart of the machine perhaps, is not taken for the server. It is evidence that a server may be
there, never a handle for ending one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from cognee_hooks.services.process_table import command_line, is_alive, start_time
from cognee_hooks.services.statefile import finite, read_bytes, read_object, write_json

_WORDS = ("uvicorn", "cognee")
_MAX_BYTES = 10_000
_MOST_FILES = 100


class PidFile:
    """The file of one port.

    Args:
        folder: The folder that all cognee plugins share.
        port: The port.
        command: Returns a process's command line; see `cognee_hooks.services.process_table`.
    """

    def __init__(
        self,
        folder: Path,
        port: int,
        command: Callable[[int], str | None] = command_line,
    ) -> None:
        self.path = folder / f"server-{port}.pid"
        self._port = port
        self._command = command

    def write(self, pid: int, version: str) -> None:
        """Note a server.

        Raises:
            OSError: The file cannot be written.
        """
        fields = {
            "pid": pid,
            "port": self._port,
            "version": version,
            "created_at": time.time(),
            "start_time": start_time(pid),
        }
        write_json(self.path, fields, durable=False)

    def live(self, *, tidy: bool = True) -> int:
        """Return the server's process, 0 where there is none.

        Args:
            tidy: Remove a record that is not true.
        """
        seen = read_bytes(self.path, max_bytes=_MAX_BYTES)
        if seen is None:
            return 0
        pid, started = self._noted()
        if pid and self._serves(pid, started):
            return pid
        if tidy:
            self.forget(seen)
        return 0

    def age(self, now: float) -> float:
        """Return for how many seconds a server has been noted; infinite where that is not known.

        Args:
            now: Epoch seconds.
        """
        created = finite(read_object(self.path, max_bytes=_MAX_BYTES).get("created_at"))
        return now - created if created else math.inf

    def forget(self, seen: bytes | None = None) -> None:
        """Remove the record.

        Args:
            seen: Only if it still says this.
        """
        if seen is None or read_bytes(self.path, max_bytes=_MAX_BYTES) == seen:
            with suppress(OSError):
                self.path.unlink()

    def describe(self) -> str:
        """Return what it says, for people; nothing is removed."""
        if not self.path.exists():
            return f"{self.path}: absent"
        pid, started = self._noted()
        if not pid:
            return f"{self.path}: stale (unparseable)"
        return f"{self.path}: {pid}, {'alive' if self._serves(pid, started) else 'stale'}"

    def _noted(self) -> tuple[int, str]:
        fields = read_object(self.path, max_bytes=_MAX_BYTES)
        pid, started = fields.get("pid"), fields.get("start_time")
        if isinstance(pid, bool) or not isinstance(pid, int) or pid <= 0:
            return 0, ""
        return pid, started if isinstance(started, str) else ""

    def _serves(self, pid: int, started: str) -> bool:
        if not is_alive(pid, started):
            return False
        command = self._command(pid)
        # Where the system does not tell, it may be one.
        return command is None or any(word in command.lower() for word in _WORDS)


def servers_of(folder: Path, venv: Path) -> Iterator[int]:
    """Yield the ports of servers that are noted, live, and run from an environment.

    Args:
        folder: The folder that all cognee plugins share.
        venv: The environment.
    """
    for path in sorted(folder.glob("server-*.pid"))[:_MOST_FILES]:
        port = path.stem.removeprefix("server-")
        pid = PidFile(folder, int(port)).live() if port.isascii() and port.isdigit() else 0
        command = command_line(pid) if pid else ""
        # Where the system does not tell, it may be one.
        if pid and (command is None or f"{venv}/" in command):
            yield int(port)

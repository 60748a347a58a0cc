"""The file in which all cognee plugins note which process serves a port.

``server-<port>.pid`` holds ``{"pid", "port", "version", "created_at"}``, ``created_at`` in epoch
seconds. It is evidence that a server may be there, never a handle for ending one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from cognee_hooks.services.process import command_line, is_alive
from cognee_hooks.services.statefile import read_bytes, read_object, write_json

_WORDS = ("uvicorn", "cognee")
_MAX_BYTES = 10_000


class PidFile:
    """The file of one port.

    Args:
        folder: The folder that all cognee plugins share.
        port: The port.
        command: Returns a process's command line; see `cognee_hooks.services.process`.
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
        fields = {"pid": pid, "port": self._port, "version": version, "created_at": time.time()}
        write_json(self.path, fields, durable=False)

    def live(self) -> int:
        """Return the server's process, 0 where there is none; a record that is not true goes."""
        seen = read_bytes(self.path, max_bytes=_MAX_BYTES)
        if seen is None:
            return 0
        pid = self._pid()
        if pid and self._serves(pid):
            return pid
        self.forget(seen)
        return 0

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
            return "no server is noted"
        pid = self._pid()
        if not pid:
            return f"{self.path} cannot be read"
        return f"process {pid}, {'alive' if self._serves(pid) else 'gone'}"

    def _pid(self) -> int:
        pid = read_object(self.path, max_bytes=_MAX_BYTES).get("pid")
        return pid if isinstance(pid, int) and not isinstance(pid, bool) and pid > 0 else 0

    def _serves(self, pid: int) -> bool:
        if not is_alive(pid):
            return False
        command = self._command(pid)
        # Where the system does not tell, it may be one.
        return command is None or any(word in command.lower() for word in _WORDS)

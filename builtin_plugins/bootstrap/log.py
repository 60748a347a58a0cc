"""The log of installing and starting: JSON lines with an ISO time first."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from cognee_hooks.services.statefile import make_private_folder

_MAX_FIELD = 4000


class BootLog:
    """Writes lines; a disk that is full or broken costs the line and nothing else.

    Args:
        path: The file, made 0600.
        max_bytes: Size at which it is put aside as ``.1``; 0 for never.
    """

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._path = path
        self._max_bytes = max_bytes

    def write(self, event: str, **fields: object) -> None:
        """Write one line."""
        shown = {name: _bounded(value) for name, value in fields.items()}
        line = json.dumps({"ts": datetime.now(UTC).isoformat(), "event": event, **shown})
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        with suppress(OSError):
            make_private_folder(self._path.parent)
            self._rotate()
            descriptor = os.open(self._path, flags, 0o600)
            try:
                os.write(descriptor, line.encode() + b"\n")
            finally:
                os.close(descriptor)

    def _rotate(self) -> None:
        with suppress(FileNotFoundError):
            if 0 < self._max_bytes <= self._path.stat().st_size:
                self._path.replace(self._path.with_name(f"{self._path.name}.1"))


def _bounded(value: object) -> object:
    return value if isinstance(value, (int, float, list)) else str(value)[-_MAX_FIELD:]

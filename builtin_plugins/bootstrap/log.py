"""The log of installing and starting: JSON lines with an ISO time first."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from cognee_hooks.services.logfile import LogFile

_MAX_FIELD = 4000


class BootLog:
    """Writes lines; a disk that is full or broken costs the line and nothing else.

    Args:
        path: The file, made 0600.
        max_bytes: Size at which it is put aside as ``.1``; 0 for never.
        clean: Takes secrets out of a text.
    """

    def __init__(self, path: Path, max_bytes: int, clean: Callable[[str], str] = str) -> None:
        self.clean = clean
        self._file = LogFile(path, max_bytes=max_bytes)

    def write(self, event: str, **fields: object) -> None:
        """Write one line."""
        shown = {name: self._bounded(value) for name, value in fields.items()}
        line = json.dumps({"ts": datetime.now(UTC).isoformat(), "event": event, **shown})
        with suppress(OSError):
            self._file.append(line.encode() + b"\n")

    def _bounded(self, value: object) -> object:
        if isinstance(value, (int, float, list)):
            return value
        # Cut in the middle, a secret would not be known any more for what it is.
        return self.clean(str(value)[-2 * _MAX_FIELD :])[-_MAX_FIELD:]

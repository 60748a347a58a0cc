"""A plugin's small state of one session, kept between processes.

Agents without a resident process run one short-lived host for each event; what has to survive from
a prompt to its answer lives here. Only redacted text may be written.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cognee_hooks.services.names import session_file_stem
from cognee_hooks.services.statefile import read_object, write_json

KEPT_SECONDS = 30 * 24 * 3600.0
"""How long what is known here of a session that nobody goes on with is kept."""


@dataclass(frozen=True, slots=True)
class SessionState:
    """Reads and writes one JSON object.

    Attributes:
        path: The file, or None where there is no session; then nothing is kept.
    """

    path: Path | None

    @classmethod
    def of(cls, folder: Path, session_id: str, plugin: str) -> SessionState:
        """Return the state of ``plugin`` in the session; names are hashed and cannot escape."""
        if not session_id:
            return cls(None)
        part = hashlib.sha1(plugin.encode(), usedforsecurity=False).hexdigest()[:12]
        return cls(folder / session_file_stem(session_id) / f"{part}.json")

    def read(self) -> dict[str, Any]:
        """Return the object; empty where there is none or the file is damaged."""
        return {} if self.path is None else read_object(self.path)

    def write(self, value: Mapping[str, Any]) -> None:
        """Replace the object.

        Raises:
            OSError: The file cannot be written.
        """
        if self.path is not None:
            write_json(self.path, dict(value))


def sweep(folder: Path) -> None:
    """Remove the state of sessions that nobody has gone on with for a month.

    Args:
        folder: Where the state of all sessions lies, one folder each.
    """
    limit = time.time() - KEPT_SECONDS
    with suppress(OSError):
        for session in list(folder.iterdir()):
            with suppress(OSError):
                # Replacing a file changes the time of its folder.
                if session.lstat().st_mtime < limit and not session.is_symlink():
                    shutil.rmtree(session)

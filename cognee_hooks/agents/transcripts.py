"""Reads the end of an agent's own transcript, for what the agent's hooks do not say.

A transcript may be missing, torn in its last line, huge, or no file at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from cognee_hooks.services.logfile import read_end

TAIL_BYTES = 256 * 1024
"""How much is read; what an agent wrote last stands there unless it is very long."""
TURNS_BYTES = 1024 * 1024
"""How much is read in search of several turns, between which the output of tools stands."""


def last_records(
    path: str, limit: int = TAIL_BYTES, mentioning: tuple[bytes, ...] = (b"",)
) -> Iterator[Mapping[str, Any]]:
    """Yield the objects in the last lines of a JSON Lines file, the latest first.

    The file is read at the first step, and each line is parsed only when it is asked for.

    Args:
        path: The file; anything but an absolute path of a regular file counts as empty.
        limit: Bytes that are read from the end.
        mentioning: Only lines that contain one of these are parsed.
    """
    data = read_end(path, limit, follow=True) if path.startswith("/") and "\0" not in path else b""
    for line in reversed(data.split(b"\n")):
        if not any(word in line for word in mentioning):
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue  # torn, or cut where the tail begins
        if isinstance(record, Mapping):
            yield record

"""What can never be sent is put aside here, sealed, instead of being lost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from builtin_plugins.bridge.items import Vault
from cognee_hooks.services.paths import QUARANTINE
from cognee_hooks.services.statefile import read_object, write_json

MAX_ENTRIES = 200
"""Entries that are kept for each session; beyond it the oldest go."""
MAX_BYTES = 4 * 1024 * 1024
"""The same in bytes."""

PART = "quarantine"
"""Names what is sealed in these files."""


def path_aside(folder: Path, stem: str) -> Path:
    """Return the quarantine file of a session whose files lie in a folder."""
    return folder / QUARANTINE / f"{stem}.json"


def put_aside(path: Path, vault: Vault, records: Iterable[Mapping[str, Any]], now: int) -> int:
    """Add records to a session's quarantine file.

    Args:
        path: The file; ``{"entries": [{"sealed", "_put_aside_at"}]}``.
        vault: Seals them.
        records: What they were and why they are here.
        now: Epoch milliseconds.

    Returns:
        How many older ones had to go.

    Raises:
        OSError: The file cannot be written.
    """
    kept = [*entries_aside(path)]
    kept += [{"sealed": vault.seal(PART, each), "_put_aside_at": now} for each in records]
    total = len(kept)
    kept = kept[-MAX_ENTRIES:]
    size = len(json.dumps(kept))
    while len(kept) > 1 and size > MAX_BYTES:
        size -= len(json.dumps(kept.pop(0)))
    write_json(path, {"entries": kept})
    return total - len(kept)


def count_aside(path: Path) -> int:
    """Return how many records a session's quarantine file holds."""
    return len(entries_aside(path))


def entries_aside(path: Path) -> list[Any]:
    """Return the records of a session's quarantine file as they lie there, sealed."""
    entries = read_object(path, private=True).get("entries")
    return entries if isinstance(entries, list) else []

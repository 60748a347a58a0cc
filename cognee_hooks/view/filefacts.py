"""Tells whether a file is still the one that was read."""

from __future__ import annotations

from pathlib import Path

FileFacts = tuple[int, int, int]
"""Inode, size and time of the last change, which is last."""


def facts_of(path: Path) -> FileFacts | None:
    """Return what differs where a file was written or replaced; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns

"""Keeps the first part of a server's output in a file, and reads the rest away.

Run as a program of its own with the bare interpreter, so it imports nothing else of the project.
Its input is the server's output, so it ends exactly when the server does.

Arguments: the file, and how many bytes of each start are kept.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

MARK = b"\n--- console capture cap reached; later output is not kept ---\n"
_CHUNK = 65536


def pump(source: int, path: str, limit: int) -> None:
    """Copy until the source ends; what an earlier start left is put aside as ``.1``.

    Args:
        source: Descriptor to read.
        path: The file, made 0600.
        limit: Most bytes kept.
    """
    with suppress(OSError):  # there is none at the first start
        os.rename(path, f"{path}.1")  # noqa: PTH104 -- a bare interpreter imports no pathlib
    # A server whose output nobody reads would stand still, so it is read also where no file can
    # be made. Without O_NONBLOCK a named pipe in its place would hold us for ever.
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
    target, left = -1, 0
    with suppress(OSError):
        target, left = os.open(path, flags, 0o600), limit
    while chunk := os.read(source, _CHUNK):
        kept = chunk[:left]
        if left:
            left = left - len(kept) if _written(target, kept) else 0
            if not left:
                _written(target, MARK)
    if target >= 0:
        os.close(target)


def _written(target: int, data: bytes) -> bool:
    # A full disk must not stop us: a server whose output nobody reads would stand still.
    try:
        while data:
            data = data[os.write(target, data) :]
    except OSError:
        return False
    return True


if __name__ == "__main__":
    pump(0, sys.argv[1], int(sys.argv[2]))

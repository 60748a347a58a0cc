"""Keeps the first part of a server's output in a file, without secrets, and reads the rest away.

Run as a program of its own. Its input is the server's output, so it ends exactly when the server
does. Its environment is the server's, whose keys it knows by that.

Arguments: the file, and how many bytes of each start are kept.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from cognee_hooks.guard import attempt

MARK = b"\n--- console capture cap reached; later output is not kept ---\n"
TOO_LONG = b"[a line that is too long to be looked through is not kept]\n"
UNSAFE = b"[output that could not be made safe is not kept]\n"
LONGEST_LINE = 64 * 1024
LONGEST_KEY = 16 * 1024
"""Bytes of a private key in PEM; one of 8192 bits has less than half of that."""
_CHUNK = 65536
_BEGIN, _KEY, _END = b"-----BEGIN ", b"PRIVATE KEY", b"-----END "


def pump(source: int, path: str, limit: int, clean: Callable[[str], str]) -> None:
    """Copy until the source ends; what an earlier start left is put aside as ``.1``.

    Args:
        source: Descriptor to read.
        path: The file, made 0600.
        limit: Most bytes kept.
        clean: Takes secrets out of whole lines.
    """
    target = _made(Path(path))
    left = limit if target >= 0 else 0
    lines = _Lines()
    # A server whose output nobody reads would stand still, so it is read to its end.
    while chunk := os.read(source, _CHUNK):
        if left:
            left = _kept(target, _cleaned(lines.add(chunk), clean), left)
    if left:
        _kept(target, _cleaned(lines.rest, clean), left)
    if target >= 0:
        os.close(target)


class _Lines:
    """Puts lines together again: a secret may lie across two reads.

    Attributes:
        rest: The beginning of a line, or of a private key, which has many.
    """

    def __init__(self) -> None:
        self.rest = b""
        self._skipping = False

    def add(self, chunk: bytes) -> bytes:
        """Return the lines that are whole with this chunk."""
        if self._skipping:
            _, end, chunk = chunk.partition(b"\n")
            self._skipping = not end
        lines, end, rest = (self.rest + chunk).rpartition(b"\n")
        whole = lines + end
        if len(rest) > LONGEST_LINE:
            self.rest, self._skipping = b"", True
            return whole + TOO_LONG
        held = _begun_key(whole)
        self.rest = whole[held:] + rest
        return whole[:held]


def _begun_key(lines: bytes) -> int:
    """Return where a private key begins whose end is yet to come; else the length."""
    begun = lines.rfind(_BEGIN)
    if begun < 0:
        return len(lines)
    held = lines[begun:]
    title = held.partition(b"\n")[0]
    whole = _KEY not in title or _END in held or len(held) > LONGEST_KEY
    return len(lines) if whole else begun


def _made(path: Path) -> int:
    """Return the descriptor of a new file; -1 where none can be made."""
    with suppress(OSError):  # there is none at the first start
        path.rename(f"{path}.1")
    # Without O_NONBLOCK a named pipe in its place would hold us for ever.
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
    with suppress(OSError):
        return os.open(path, flags, 0o600)
    return -1


def _cleaned(lines: bytes, clean: Callable[[str], str]) -> bytes:
    # What a rule stumbles over must neither be kept as it is nor end us.
    done = attempt(clean, lines.decode("utf-8", "replace"))
    return UNSAFE if done.error is not None else done.result.encode("utf-8", "replace")


def _kept(target: int, data: bytes, left: int) -> int:
    """Write as much as there is room for; returns how much is left then."""
    kept = data[:left]
    left = left - len(kept) if _written(target, kept) else 0
    if not left:
        _written(target, MARK)
    return left


def _written(target: int, data: bytes) -> bool:
    # A full disk must not stop us: a server whose output nobody reads would stand still.
    try:
        while data:
            data = data[os.write(target, data) :]
    except OSError:
        return False
    return True


def _cleaner() -> Callable[[str], str]:
    from builtin_plugins.bootstrap.secrets_out import Cleaner
    from cognee_hooks.services.process import current_environ

    return Cleaner(current_environ())


def _keep_nothing(_: str) -> str:
    return UNSAFE.decode()


if __name__ == "__main__":
    # While the project is being replaced, what cleans may be missing. The server is read all the
    # same: it would stumble over its own output if we ended.
    _known = attempt(_cleaner)
    _clean = _known.result if _known.error is None else _keep_nothing
    pump(0, sys.argv[1], int(sys.argv[2]), _clean)

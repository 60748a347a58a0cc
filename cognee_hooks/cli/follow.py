"""Reads what is added to a session's ledger, across the moment at which it begins anew."""

from __future__ import annotations

from pathlib import Path

from cognee_hooks.services.ledger_file import LedgerFile, LedgerRow, rows_in
from cognee_hooks.services.statefile import read_bytes


class LedgerTail:
    """Yields the rows of one ledger that nobody has seen yet.

    Args:
        file: The ledger.
        from_end: Whether the rows that are there already count as seen.
    """

    def __init__(self, file: LedgerFile, *, from_end: bool) -> None:
        self._file = file
        self._facts: tuple[int, int] | None = None
        self._inode = 0
        self._offset = 0
        if from_end:
            self.take()

    def take(self) -> list[LedgerRow]:
        """Return the rows that were added since the last call, oldest first.

        When the ledger grew too long its lines were copied to the older file, before the new one
        took its place, so what was not seen of the old one stands there.
        """
        facts = self._look()
        if facts is None or facts == self._facts:
            return []
        unseen = b""
        if self._inode and facts[0] != self._inode:
            unseen = self._read(self._file.older)
            self._offset = 0
        unseen += self._read(self._file.path)
        self._inode, self._facts = facts[0], facts
        return list(rows_in(unseen))

    def _look(self) -> tuple[int, int] | None:
        try:
            status = self._file.path.stat()
        except OSError:
            return None
        return status.st_ino, status.st_size

    def _read(self, path: Path) -> bytes:
        """Return the whole lines behind the offset, and move it there."""
        data = read_bytes(path) or b""
        if len(data) < self._offset:
            self._offset = 0  # somebody cut it
        end = data.rfind(b"\n") + 1
        unseen = data[self._offset : end]
        self._offset = max(self._offset, end)
        return unseen

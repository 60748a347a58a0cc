"""Events that the daemon has taken and not yet done with, on disk.

An event is in the journal before the agent is told that it is taken, and leaves it when whatever
was captured from it is at the server, or in charge of a plugin. So a daemon that is killed loses
nothing: the next one finds the event and goes on with it. Events are encrypted, since they hold
what the agent sent, before redaction.

The spool is the journal's antechamber: there the thin client leaves events that no daemon took.
"""

from __future__ import annotations

import logging
import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from cognee_hooks.daemon.protocol import BadRequest, Opening, is_ident, split_record
from cognee_hooks.payload import MAX_BYTES
from cognee_hooks.services.crypto import Sealer, Unreadable
from cognee_hooks.services.statefile import make_private_folder, read_bytes, write_atomic

MAX_EVENTS = 20_000
"""Events that are kept while the server is away; beyond it the oldest go."""
MAX_KEPT_BYTES = 512 * 1024 * 1024
"""Bytes that these events may take."""
TORN_SECONDS = 60.0
"""After so long a file that was never finished will not be, because its writer was killed."""
BAD_SECONDS = 7 * 24 * 3600.0
"""How long what was put aside is kept for a person to look at."""
MAX_TRIES = 3
"""So many daemons may end while they work on the same event again."""
MAX_RECORD_BYTES = MAX_BYTES + 8 * 1024 * 1024
"""Longest file of an event: a payload, its environment, and what sealing adds."""

_SEALED = ".sealed"
_SPOOLED = ".event"
_TRIED = ".tried"
_ASIDE = ".bad"
_REMEMBERED = 2000
_SETTLED_NS = 1_000_000_000  # a folder's time is coarse: a change may follow in the same tick
_LOG = logging.getLogger(__name__)


class Journal:
    """The journal and the spool below the daemon's folder.

    Args:
        folder: The daemon's folder.
        sealer: Encrypts what is kept.
        limit: Events that are kept.
        max_bytes: Bytes that they may take.
    """

    def __init__(
        self,
        folder: Path,
        sealer: Sealer,
        *,
        limit: int = MAX_EVENTS,
        max_bytes: int = MAX_KEPT_BYTES,
    ) -> None:
        self._folder = folder / "journal"
        self._spool = folder / "spool"
        self._sealer = sealer
        self._limit = limit
        self._max_bytes = max_bytes
        make_private_folder(self._folder)
        make_private_folder(self._spool)
        self._kept = self._sizes()
        self._bytes = sum(self._kept.values())
        self._done: deque[str] = deque(maxlen=_REMEMBERED)
        # Worked on from the spool, since the disk has no room for them in the journal.
        self._unmoved: dict[str, Path] = {}
        self._spool_time = -1

    def __len__(self) -> int:
        """Return how many events are kept."""
        return len(self._kept) + len(self._unmoved)

    def add(self, opening: Opening, payload: bytes) -> bool:
        """Keep an event.

        Returns:
            Whether it is new: a client that was not answered in time spools an event that the
            daemon may have taken after all.

        Raises:
            OSError: It cannot be written. It is new all the same, but only this time.
        """
        ident = opening.ident
        if ident in self._kept or ident in self._done or ident in self._unmoved:
            return False
        try:
            self._write(opening, payload)
        except OSError:
            self._done.append(ident)
            raise
        while len(self._kept) > 1 and (
            len(self._kept) > self._limit or self._bytes > self._max_bytes
        ):
            oldest = next(iter(self._kept))
            _LOG.warning("the journal is full; event %s is dropped", oldest)
            self.discard(oldest)
        return True

    def discard(self, ident: str) -> None:
        """Forget an event: nothing of it can be lost any more."""
        self._bytes -= self._kept.pop(ident, 0)
        self._done.append(ident)
        path = self._unmoved.pop(ident, self._folder / f"{ident}{_SEALED}")
        with suppress(OSError):
            path.unlink()

    def begin_again(self, ident: str) -> bool:
        """Note that work begins on an event that was left behind.

        Returns:
            False where too many daemons ended in the middle of that, as the watchdog ends one that
            stands still. The event is put aside then, or none would ever get past it.
        """
        tried = self._folder / f"{ident}{_TRIED}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(tried, flags, 0o600), "ab") as file:
                file.write(b".")
                file.flush()
                times = os.fstat(file.fileno()).st_size
        except OSError:
            return True  # without room on the disk nothing can be counted
        if times <= MAX_TRIES:
            return True
        _LOG.error("event %s is put aside: %d daemons did not survive it", ident, MAX_TRIES)
        path = self._folder / f"{ident}{_SEALED}"
        with suppress(OSError):
            path.rename(path.with_suffix(_ASIDE))
        self.discard(ident)
        self.survived(ident)
        return False

    def survived(self, ident: str) -> None:
        """Note that the work that began again has ended no daemon, wherever its result waits."""
        with suppress(OSError):
            (self._folder / f"{ident}{_TRIED}").unlink()

    def pending(self) -> Iterator[tuple[Opening, bytes]]:
        """Yield the events that an earlier daemon left behind, oldest first.

        What cannot be read stays where it is: it may be another key's.
        """
        for ident in list(self._kept):
            path = self._folder / f"{ident}{_SEALED}"
            data = read_bytes(path, max_bytes=MAX_RECORD_BYTES, private=True)
            if data is None and not os.path.lexists(path):
                self.discard(ident)  # an earlier daemon that was still at work is done with it
                continue
            try:
                yield split_record(self._sealer.open(data or b"", ident))
            except (Unreadable, BadRequest) as error:
                _LOG.warning("event %s cannot be taken up again: %s", ident, error)

    def spooled(self) -> Iterator[tuple[Opening, bytes]]:
        """Yield the events that clients left in the spool, oldest first, moved into the journal.

        What the disk has no room for is worked on all the same, or later events would pass it; it
        stays in the spool meanwhile.
        """
        self._move_late()
        # Looked at with every event, so it has to be cheap.
        try:
            changed = self._spool.stat().st_mtime_ns
        except OSError:
            return
        if changed == self._spool_time and time.time_ns() - changed >= _SETTLED_NS:
            return
        for path in sorted(self._spool.glob(f"*{_SPOOLED}")):
            if path not in self._unmoved.values() and (found := self._move(path)) is not None:
                yield found
        # Only now: whoever takes an event may fail.
        self._spool_time = changed

    def _move(self, path: Path) -> tuple[Opening, bytes] | None:
        """Move an event from the spool into the journal; None where it is none, or not new."""
        data = read_bytes(path, max_bytes=MAX_RECORD_BYTES, private=True)
        if data is None:
            if os.path.lexists(path):  # else another request has just taken it
                _LOG.warning("%s is not a private file of ours; it stays unread", path.name)
            return None
        try:
            opening, payload = split_record(data)
        except BadRequest as error:
            _LOG.warning("%s is no event: %s", path.name, error)
            with suppress(OSError):
                path.rename(path.with_suffix(_ASIDE))
            return None
        try:
            new = self.add(opening, payload)
        except OSError as error:
            _LOG.warning("%s stays in the spool: %s", path.name, error.strerror)
            self._unmoved[opening.ident] = path
            return opening, payload
        with suppress(OSError):
            path.unlink()
        return (opening, payload) if new else None

    def _move_late(self) -> None:
        """Move what had to stay in the spool, so that it comes before what follows it."""
        for ident, path in list(self._unmoved.items()):
            data = read_bytes(path, max_bytes=MAX_RECORD_BYTES, private=True)
            try:
                self._write(*split_record(data or b""))
            except BadRequest:
                pass  # somebody has removed it
            except OSError:
                return
            del self._unmoved[ident]
            with suppress(OSError):
                path.unlink()

    def _write(self, opening: Opening, payload: bytes) -> None:
        # No flush to disk: it is the process that may be killed, and each event would wait for it.
        sealed = self._sealer.seal(opening.kept() + payload, opening.ident)
        write_atomic(self._folder / f"{opening.ident}{_SEALED}", sealed, durable=False)
        self._kept[opening.ident] = len(sealed)
        self._bytes += len(sealed)

    def sweep(self) -> None:
        """Remove what writers that were killed never finished, and old files that are no events."""
        aged = [
            *((path, TORN_SECONDS) for path in self._folder.glob(".*.tmp")),
            *((path, TORN_SECONDS) for path in self._spool.glob("*.new")),
            *((path, BAD_SECONDS) for path in self._spool.glob(f"*{_ASIDE}")),
            *((path, BAD_SECONDS) for path in self._folder.glob(f"*{_ASIDE}")),
            *((path, BAD_SECONDS) for path in self._folder.glob(f"*{_TRIED}")),
        ]
        now = time.time()
        for path, seconds in aged:
            with suppress(OSError):
                if now - path.lstat().st_mtime > seconds:
                    path.unlink()

    def _sizes(self) -> dict[str, int]:
        """Return the size of each event that an earlier daemon left behind, oldest first."""
        sizes: dict[str, int] = {}
        for path in sorted(self._folder.glob(f"*{_SEALED}")):
            with suppress(OSError):
                if is_ident(path.stem):
                    sizes[path.stem] = path.lstat().st_size
        return sizes

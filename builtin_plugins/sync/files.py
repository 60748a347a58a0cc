"""The records of all sessions of an agent on disk, one small file a session.

The place and the form are those of the other cognee plugins, which share them for pi. A session
that waits has an empty file beside its record, so that it is found among any number of others.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from builtin_plugins.sync.record import SyncRecord
from cognee_hooks.services.filelock import KernelLock
from cognee_hooks.services.names import session_file_stem
from cognee_hooks.services.session_state import KEPT_SECONDS
from cognee_hooks.services.statefile import (
    LockFile,
    make_private_folder,
    read_object,
    write_json,
)

MAX_BYTES = 100_000

LEFT_BEHIND_SECONDS = 3600.0
"""How long a session has to be still before another one looks after it."""

_MOST_FILES = 10_000
_MOST_READ = 50
_MOST_WAITING = 1000
_WAITING = ".waiting"
_STEM = 40


class SyncRecords:
    """Reads and writes records. A disk that fails costs the record, never the sync.

    A record of a session, dataset or server that is not ours counts as none: its counts and
    failures say nothing about ours. Of other plugins' records the server is not known.

    Args:
        folder: Where they lie.
        server: The server that syncs are asked of; see `builtin_plugins.sync.record.server_name`.
        log: For what could not be written.
    """

    def __init__(self, folder: Path, server: str, log: logging.Logger) -> None:
        self._folder = folder
        self._server = server
        self._log = log

    def read(self, session_id: str, dataset: str) -> SyncRecord:
        """Return the record of a session; an empty one where there is none that can be read."""
        record = self._read(self._path(session_id))
        if record.session_id == session_id and record.dataset == dataset and self._ours(record):
            return record
        return SyncRecord(session_id=session_id, dataset=dataset)

    def write(self, record: SyncRecord) -> None:
        """Keep a record."""
        path = self._path(record.session_id)
        content = replace(record, server=self._server).to_json()
        try:
            make_private_folder(self._folder)
            if record.waiting_since:
                path.with_suffix(_WAITING).touch(0o600)  # first: one too many does no harm
            # Not durable: what a power cut takes is a pause, at worst a sync that finds nothing.
            write_json(path, content, durable=False, indent=2)
            if not record.waiting_since:
                path.with_suffix(_WAITING).unlink(missing_ok=True)
        except (OSError, ValueError) as error:
            self._log.warning("record of a sync not saved: %s", type(error).__name__)

    def keep_alive(self, record: SyncRecord) -> None:
        """Note that a session goes on; its record is written if it has none of this server yet.

        From then on the session is known to those that come after it, however it ends.
        """
        if record.server == self._server:
            with suppress(OSError):
                os.utime(self._path(record.session_id))
                return
        self.write(record)

    def left_behind(self, session_id: str, now: float) -> list[SyncRecord]:
        """Return the records of other sessions that have been still for a while, newest first.

        Args:
            session_id: The session that asks.
            now: Epoch seconds.
        """
        files = [each for each in self._files() if each[1] <= now - LEFT_BEHIND_SECONDS]
        own = self._path(session_id)
        return [
            record
            for path, record in self._newest(files)
            if path != own and record.dataset and not record.given_up(now)
        ]

    def waiting(self, now: float) -> list[SyncRecord]:
        """Return the records of sessions that wait for the server, the oldest first.

        Args:
            now: Epoch seconds.
        """
        found = []
        with suppress(OSError):
            paths = (path for path in self._folder.iterdir() if path.suffix == _WAITING)
            found = [self._read(each.with_suffix(".json")) for each in islice(paths, _MOST_WAITING)]
        left = (each for each in found if each.waiting_since and not each.given_up(now))
        return sorted(filter(self._ours, left), key=lambda each: each.waiting_since)

    def line_lock(self) -> KernelLock:
        """Return the lock that lets one process at a time see to those that wait for the server."""
        return KernelLock(self._folder / f"waiting-{self._server}.lock")

    def lock(self, session_id: str, stale_after: float) -> LockFile:
        """Return the lock that lets one process at a time sync a session.

        Args:
            session_id: The session.
            stale_after: Seconds after which a holder has lost it.
        """
        path = self._path(session_id).with_suffix(".lock")
        return LockFile(path, stale_after=stale_after)

    def latest(self) -> SyncRecord | None:
        """Return the record of the session that was synced last; None where none was."""
        records = [record for _, record in self._newest(self._files()) if record.last_tried]
        return max(records, key=lambda each: each.last_tried, default=None)

    def prune(self, now: float) -> int:
        """Remove what belongs to sessions that have not been synced for long, and count it.

        Args:
            now: Epoch seconds.
        """
        limit = now - KEPT_SECONDS
        files = list(self._files())
        fresh = {
            _stem(path) for path, changed in files if path.suffix == ".json" and changed > limit
        }
        removed = 0
        for path, changed in files:
            if changed <= limit and _stem(path) not in fresh:
                with suppress(OSError):
                    path.unlink()
                    removed += 1
        return removed

    def _path(self, session_id: str) -> Path:
        return self._folder / f"{session_file_stem(session_id)}.json"

    def _read(self, path: Path) -> SyncRecord:
        return SyncRecord.of_json(read_object(path, max_bytes=MAX_BYTES))

    def _ours(self, record: SyncRecord) -> bool:
        return record.server in {"", self._server}

    def _newest(self, files: Iterable[tuple[Path, float]]) -> list[tuple[Path, SyncRecord]]:
        """Read the records that changed last, but those that are not ours or under a false name."""
        found = [each for each in files if each[0].suffix == ".json"]
        found.sort(key=lambda each: -each[1])
        records = [(path, self._read(path)) for path, _ in found[:_MOST_READ]]
        return [
            (path, each)
            for path, each in records
            if path == self._path(each.session_id) and self._ours(each)
        ]

    def _files(self) -> Iterator[tuple[Path, float]]:
        """Yield our files, records and what locks leave behind, with the time of their change."""
        with suppress(OSError):
            for path, _ in zip(self._folder.iterdir(), range(_MOST_FILES), strict=False):
                with suppress(OSError):
                    if len(_stem(path)) == _STEM:
                        yield path, path.lstat().st_mtime


def _stem(path: Path) -> str:
    return path.name.removeprefix(".").partition(".")[0]

"""The records of all indexed repositories on disk, a file each in a folder for each server."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from builtin_plugins.code_lane.record import IndexRecord
from builtin_plugins.code_lane.repository import Repository
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.statefile import LockFile, read_object, write_json

MAX_BYTES = 100_000
_MOST_FILES = 500
_SUBMISSION_SECONDS = 300.0


class IndexRecords:
    """Reads and writes records. A disk that fails costs the record, never the index.

    Files that somebody else could have written, that lie under a false name, or that tell of
    another server count as absent: a record decides which folder is sent where.

    Args:
        folder: Where the folders of all servers lie.
        base_url: The server.
        log: For what could not be written.
    """

    def __init__(self, folder: Path, base_url: str, log: logging.Logger) -> None:
        server = hashlib.sha256(base_url.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        self._folder = folder / server
        self._base_url = base_url
        self._log = log

    def read(self, repository: Repository) -> IndexRecord | None:
        """Return the record of a repository; None where there is none that can be read."""
        record = self._read(self._folder / repository.file_name)
        return record if record is not None and record.repository == repository else None

    def around(self, cwd: str) -> IndexRecord | None:
        """Return the record of the innermost indexed folder that a folder is, or lies in."""
        try:
            here = Path(cwd).resolve(strict=True)
        except (OSError, ValueError, RuntimeError):
            return None
        for folder in (here, *here.parents):
            record = self.read(Repository(str(folder), remote=False))
            if record is not None:
                return record
        return None

    def of_dataset(self, dataset: str) -> IndexRecord | None:
        """Return the record whose dataset has a name; the latest where there are several."""
        found = [record for record in self.all() if record.dataset == dataset]
        return max(found, key=lambda each: each.last_index_at, default=None)

    def all(self) -> list[IndexRecord]:
        """Return the records of this server, in no order."""
        records = (self._read(path) for path in self._files())
        return [record for record in records if record is not None]

    def write(self, record: IndexRecord) -> None:
        """Keep a record."""
        path = self._folder / record.repository.file_name
        try:
            # Not durable: what a power cut takes is at worst one more submission.
            write_json(path, record.to_json(), durable=False)
        except (OSError, ValueError) as error:
            self._log.warning("state of a repository not saved: %s", type(error).__name__)

    def lost(self, record: IndexRecord, failure: ServerFailure) -> None:
        """Forget a record whose dataset a question found to be gone (W33).

        While it is being indexed its dataset may not be there yet, and what could not be built
        stays known, or it would be tried again without a pause.
        """
        gone = failure.kind in {FailureKind.NO_MEMORY, FailureKind.FORBIDDEN}
        # Another process may have submitted it again since the record was read.
        if gone and record.built and self.read(record.repository) == record:
            with suppress(OSError):
                (self._folder / record.repository.file_name).unlink()

    def lock(self, repository: Repository, seconds: float = 0.0) -> LockFile:
        """Return the lock that lets one process at a time submit a repository.

        Args:
            repository: Which.
            seconds: Longest time that a submission takes.
        """
        path = self._folder / f"{repository.file_name}.lock"
        return LockFile(path, stale_after=max(_SUBMISSION_SECONDS, seconds))

    def _read(self, path: Path) -> IndexRecord | None:
        record = IndexRecord.of_json(read_object(path, max_bytes=MAX_BYTES, private=True))
        if record is None or record.base_url != self._base_url:
            return None
        return record if record.repository.file_name == path.name else None

    def _files(self) -> Iterator[Path]:
        with suppress(OSError):
            for path, _ in zip(self._folder.iterdir(), range(_MOST_FILES), strict=False):
                if path.suffix == ".json":
                    yield path

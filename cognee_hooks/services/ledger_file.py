"""The ledger of one session on disk: one JSON object a line, oldest first.

The first line names the session and says what was counted before it; every other line is one row.
Several processes may share a file. A file that has grown
long becomes ``<name>.1``, whose own predecessor goes; what it counted goes on in the new one.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cognee_hooks.deadline import Deadline
from cognee_hooks.results import Act
from cognee_hooks.services.filelock import KernelLock
from cognee_hooks.services.names import session_file_stem
from cognee_hooks.services.statefile import finite, read_bytes, write_atomic

MAX_BYTES = 512 * 1024
"""A longer file is put aside for a new one."""
SUFFIX = ".jsonl"

_READ_BYTES = 4 * 1024 * 1024
_MAX_LINE = 4096
_LOCK_SECONDS = 0.1
_ACTS = frozenset(Act)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """Something that was done.

    Attributes:
        time: When, epoch seconds.
        act: What.
        what: With what or why, in a word or two.
        count: How often.
        size: Bytes of the text that it was done with; None where there was none.
        digest: Keyed hash of that text, or "".
        seconds: What it cost, or None.
        prompt: Keyed hash of the prompt that it was done for, or "".
    """

    time: float
    act: Act
    what: str
    count: int = 1
    size: int | None = None
    digest: str = ""
    seconds: float | None = None
    prompt: str = ""


@dataclass(slots=True)
class _Read:
    """How far a file was read, and what was counted and weighed up to there."""

    facts: tuple[int, int, int] = (0, 0, 0)
    head: bytes = b""
    offset: int = 0
    totals: Counter[Act] = field(default_factory=Counter)
    sizes: Counter[Act] = field(default_factory=Counter)


class LedgerFile:
    """Appends to and reads one session's file. Making it touches no file.

    Args:
        path: The file.
        session_id: The session, for a file that does not exist yet.
        agent: Short name of the agent, for the same.
        began: Epoch seconds, for the same.
        dataset: The session's dataset, for the same.
    """

    def __init__(
        self,
        path: Path,
        *,
        session_id: str = "",
        agent: str = "",
        began: float = 0.0,
        dataset: str = "",
    ) -> None:
        self.path = path
        self._head: dict[str, Any] = {"session_id": session_id, "agent": agent, "began": began}
        if dataset:
            self._head["dataset"] = dataset
        self._read = _Read()

    @classmethod
    def of(
        cls, folder: Path, session_id: str, agent: str, began: float, dataset: str = ""
    ) -> LedgerFile:
        """Return the file of a session in a folder."""
        path = folder / f"{session_file_stem(session_id)}{SUFFIX}"
        return cls(path, session_id=session_id, agent=agent, began=began, dataset=dataset)

    def append(self, row: LedgerRow) -> None:
        """Add a row.

        Raises:
            OSError: It cannot be written.
        """
        line = _line(_document(row))
        # One for the folder. Who was stopped while holding it must not keep us; without it a row
        # may be missing from the totals.
        lock = KernelLock(self.path.with_name(".lock"))
        locked = lock.acquire(Deadline.after(_LOCK_SECONDS))
        try:
            if locked and _size(self.path) > MAX_BYTES:
                self._begin_anew(line)
            else:
                self._add_line(line)
        finally:
            lock.release()

    def totals(self) -> Mapping[Act, int]:
        """Return how often each act was done, by all processes."""
        self._catch_up()
        return dict(self._read.totals)

    def sizes(self) -> Mapping[Act, int]:
        """Return how many bytes of text each act was done with, by all processes."""
        self._catch_up()
        return dict(self._read.sizes)

    def head(self) -> Mapping[str, Any]:
        """Return what the first line says of the session, or nothing.

        It holds ``session_id``, ``agent``, ``began`` and, where it was known, ``dataset``.
        """
        for document in _documents(read_bytes(self.path, max_bytes=_READ_BYTES) or b""):
            return document if isinstance(document.get("session_id"), str) else {}
        return {}

    def rows(self) -> Iterator[LedgerRow]:
        """Yield all rows that are kept, oldest first; what is no row is passed over."""
        for path in (self.older, self.path):
            yield from rows_in(read_bytes(path, max_bytes=_READ_BYTES) or b"")

    @property
    def older(self) -> Path:
        """Where the rows lie that the file had before it became too long."""
        return self.path.with_name(f"{self.path.name}.1")

    def _add_line(self, line: bytes) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        descriptor = os.open(self.path, flags, 0o600)
        try:
            os.write(descriptor, self._before(descriptor) + line)
        finally:
            os.close(descriptor)

    def _before(self, descriptor: int) -> bytes:
        """Return what has to stand before the next row."""
        size = os.fstat(descriptor).st_size
        if size == 0:
            return _line(self._head)
        # A writer that was killed in the middle of a line must not spoil the next one.
        return b"" if os.pread(descriptor, 1, size - 1) == b"\n" else b"\n"

    def _begin_anew(self, line: bytes) -> None:
        totals = {act.value: count for act, count in self.totals().items()}
        sizes = {act.value: size for act, size in self.sizes().items()}
        head = {**self._head, **self.head(), "totals": totals, "sizes": sizes}
        write_atomic(self.older, read_bytes(self.path, max_bytes=_READ_BYTES) or b"", durable=False)
        write_atomic(self.path, _line(head) + line, durable=False)

    def _catch_up(self) -> None:
        with suppress(OSError):
            status = self.path.stat()
            facts = status.st_ino, status.st_size, status.st_mtime_ns
            if facts != self._read.facts:
                self._count_new()
                self._read.facts = facts

    def _count_new(self) -> None:
        data = read_bytes(self.path, max_bytes=_READ_BYTES) or b""
        whole = data[: data.rfind(b"\n") + 1]
        head = whole[: whole.find(b"\n") + 1]
        if head != self._read.head or len(whole) < self._read.offset:
            self._read = _Read(head=head)
        for document in _documents(whole[self._read.offset :]):
            for sums, name in ((self._read.totals, "totals"), (self._read.sizes, "sizes")):
                before = document.get(name)
                for act, count in before.items() if isinstance(before, Mapping) else ():
                    _add(sums, act, count)
            act = document.get("act")
            _add(self._read.totals, act, document.get("count", 1))
            _add(self._read.sizes, act, document.get("size"))
        self._read.offset = len(whole)


def rows_in(data: bytes) -> Iterator[LedgerRow]:
    """Yield the rows in lines of a file; what is no row is passed over."""
    for document in _documents(data):
        row = _row(document)
        if row is not None:
            yield row


def ledger_files(folder: Path) -> list[LedgerFile]:
    """Return the files in a folder, the one that was written to last first."""
    found: list[tuple[float, Path]] = []
    with suppress(OSError):
        for path in folder.glob(f"*{SUFFIX}"):
            with suppress(OSError):
                found.append((path.stat().st_mtime, path))
    return [LedgerFile(path) for _, path in sorted(found, reverse=True)]


def _add(sums: Counter[Act], name: object, count: object) -> None:
    if isinstance(name, str) and name in _ACTS and type(count) is int and count > 0:
        sums[Act(name)] += count


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _line(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"


def _document(row: LedgerRow) -> dict[str, Any]:
    document: dict[str, Any] = {"time": round(row.time, 3), "act": row.act.value, "what": row.what}
    if row.count != 1:
        document["count"] = row.count
    if row.size is not None:
        document |= {"size": row.size, "digest": row.digest}
    if row.seconds is not None:
        document["seconds"] = round(row.seconds, 4)
    if row.prompt:
        document["prompt"] = row.prompt
    return document


def _documents(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.split(b"\n"):
        try:
            document = json.loads(line) if len(line) <= _MAX_LINE else None
        except (ValueError, RecursionError):
            continue  # torn, or not ours
        if isinstance(document, dict):
            yield document


def _row(document: Mapping[str, Any]) -> LedgerRow | None:
    act, count = document.get("act"), document.get("count", 1)
    if not isinstance(act, str) or act not in _ACTS or type(count) is not int:
        return None
    size, digest, what = (document.get(name) for name in ("size", "digest", "what"))
    seconds, prompt = document.get("seconds"), document.get("prompt")
    return LedgerRow(
        time=finite(document.get("time")),
        act=Act(act),
        what=what if isinstance(what, str) else "",
        count=count,
        size=size if type(size) is int else None,
        digest=digest if isinstance(digest, str) else "",
        seconds=None if seconds is None else finite(seconds),
        prompt=prompt if isinstance(prompt, str) else "",
    )

"""The file of a session's waiting entries, ``{"entries": […], "fail_count": n, "fail_at": ms}``.

It is the file that pi-cognee keeps in the same place, so what that left behind is read, and it
passes over what is sealed. Our own field ``marks`` says that we wrote the file last.

A full file is megabytes long, too long to be written anew for each entry. So an entry is added, and
removed by overwriting it with blanks, in place; a kill in the middle leaves a file that does not
parse, for which the log stands in.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from builtin_plugins.bridge.items import Item, read_item, whole_number
from cognee_hooks.services.statefile import write_atomic

MAX_WASTE = 512 * 1024
"""Bytes of blanks above which the file is written anew, unless it holds more than that."""

_HEAD = b'{"entries":[\n'
_BETWEEN = b",\n"
_LIST = re.compile(r'"entries"\s*:\s*\[')
_GAP = re.compile(r"[\s,]*")

Signature = tuple[int, int, int]
"""Inode, time of change in nanoseconds, size: changes when somebody else writes the file."""


@dataclass(slots=True)
class Envelope:
    """What a file holds.

    Attributes:
        items: Entries of ours by number.
        plain: Entries in pi-cognee's form.
        alien: Elements that are neither.
        fail_count: Failures in a row.
        fail_at: The latest one, epoch milliseconds.
        marks: Our own field, sealed; "" where the file is not from us.
    """

    items: dict[int, Item] = field(default_factory=dict)
    plain: list[dict[str, Any]] = field(default_factory=list)
    alien: list[Any] = field(default_factory=list)
    fail_count: int = 0
    fail_at: int = 0
    marks: str = ""

    def take(self, element: object) -> None:
        """Add an element of the list."""
        item = read_item(element)
        if item is not None and item.seq not in self.items:
            self.items[item.seq] = item
        elif isinstance(element, dict) and isinstance(element.get("sessionId"), str):
            self.plain.append(element)
        else:
            self.alien.append(element)


def parse(content: bytes) -> Envelope | None:
    """Read a file; None where it is torn or of another form."""
    try:
        document = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or not isinstance(document.get("entries"), list):
        return None
    marks = document.get("marks")
    envelope = Envelope(
        fail_count=whole_number(document.get("fail_count")),
        fail_at=whole_number(document.get("fail_at")),
        marks=marks if isinstance(marks, str) else "",
    )
    for element in document["entries"]:
        envelope.take(element)
    return envelope


def salvage(content: bytes) -> Envelope:
    """Read the elements that are whole in a torn file."""
    envelope = Envelope()
    text = content.decode("utf-8", "ignore")
    found = _LIST.search(text)
    decoder = json.JSONDecoder()
    place = found.end() if found else len(text)
    with suppress(ValueError, RecursionError):
        while True:
            gap = _GAP.match(text, place)
            element, place = decoder.raw_decode(text, gap.end() if gap else place)
            envelope.take(element)
    return envelope


def ending(fail_count: int, fail_at: int, marks: str) -> bytes:
    """Return what stands behind the entries."""
    return b'\n],"fail_count":%d,"fail_at":%d,"marks":"%s"}' % (fail_count, fail_at, marks.encode())


def signature(path: Path) -> Signature | None:
    """Return what changes when a file is written; None where there is none."""
    try:
        facts = path.lstat()
    except OSError:
        return None
    return facts.st_ino, facts.st_mtime_ns, facts.st_size


def flush(path: Path) -> None:
    """Bring a file to the disk, where there is one."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class EnvelopeFile:
    """Writes one session's envelope. The caller holds the session's lock.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._places: dict[int, tuple[int, int]] = {}
        self._end = 0
        self._size = 0
        self._waste = 0
        self._ours: Signature | None = None

    def store(self, items: Mapping[int, Item], tail: bytes) -> None:
        """Make the file hold these entries; without any it is removed.

        Raises:
            OSError: It cannot be written. What the log holds is not touched.
        """
        if not items:
            self.path.unlink(missing_ok=True)
            self._ours = None
        elif self._fits(items):
            self._edit(items, tail)
        else:
            self._rewrite(items.values(), tail)

    def _fits(self, items: Mapping[int, Item]) -> bool:
        """Whether the change can be made in place."""
        if self._ours is None or self._ours != signature(self.path):
            return False
        if self._waste > max(MAX_WASTE, self._end - self._waste):
            return False
        kept = self._places.keys() & items.keys()
        # The last one on disk has no comma behind it, so it cannot be blanked out.
        return bool(kept) and next(reversed(self._places)) in kept

    def _edit(self, items: Mapping[int, Item], tail: bytes) -> None:
        added = [item for seq, item in items.items() if seq not in self._places]
        gone = self._places.keys() - items.keys()
        body = b"".join(_BETWEEN + item.encoded for item in added)
        end = self._end + len(body)
        # The file never gets shorter: between writing and cutting it would not parse.
        padded = (body + tail).ljust(self._size - self._end)
        self._ours = None
        flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self.path, flags)
        try:
            self._overwrite(descriptor, self._end, padded)
            for seq in gone:
                place, length = self._places.pop(seq)
                _write(descriptor, place, b" " * (length + len(_BETWEEN)))
                self._waste += length + len(_BETWEEN)
        finally:
            os.close(descriptor)
        place = self._end
        for item in added:
            self._places[item.seq] = place + len(_BETWEEN), len(item.encoded)
            place += len(_BETWEEN) + len(item.encoded)
        self._end, self._size = end, self._end + len(padded)
        self._ours = signature(self.path)

    def _overwrite(self, descriptor: int, place: int, data: bytes) -> None:
        """Write, or leave the file as it was: a full disk must not tear it."""
        before = os.pread(descriptor, self._size - place, place)
        try:
            _write(descriptor, place, data)
        except OSError:
            with suppress(OSError):
                _write(descriptor, place, before)
                os.ftruncate(descriptor, self._size)
            raise

    def _rewrite(self, items: Collection[Item], tail: bytes) -> None:
        self._ours = None
        places: dict[int, tuple[int, int]] = {}
        place = len(_HEAD)
        for item in items:
            places[item.seq] = place, len(item.encoded)
            place += len(item.encoded) + len(_BETWEEN)
        data = _HEAD + _BETWEEN.join(item.encoded for item in items) + tail
        write_atomic(self.path, data, durable=False)
        self._places = places
        self._end = place - len(_BETWEEN)
        self._size = len(data)
        self._waste = 0
        self._ours = signature(self.path)


def _write(descriptor: int, place: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(descriptor, view, place)
        place += written
        view = view[written:]

"""The twin of a session's envelope: what happened, one line after the other.

An entry's line begins with ``+`` and holds the entry as it stands in the envelope; it authenticates
itself when it is opened. Every other line is sealed. The first line says what waited, and what was
known, when the log was last written anew; each later one says what changed. A file that is cut
anywhere is a shorter log of the same story.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from builtin_plugins.bridge.items import Item, Vault, read_item
from builtin_plugins.bridge.marks import Marks
from cognee_hooks.errors import CogneeHooksError
from cognee_hooks.services.crypto import Unreadable
from cognee_hooks.services.statefile import read_bytes, write_atomic

MAX_WASTE = 512 * 1024
"""Bytes that a log may be longer than what waits before it is written anew."""

_PART = "log"
_ENTRY = b"+"


class LeftBecause(StrEnum):
    """Why an entry waits no longer."""

    SETTLED = "settled"
    """The server has it, or it was put aside."""
    DROPPED = "dropped"
    """There were too many."""
    WITHDRAWN = "withdrawn"
    """It could not be written as a whole; whoever captured it keeps it."""


class Untrusted(CogneeHooksError, OSError):
    """A file of ours belongs to somebody else, can be changed by others, or is no file."""


@dataclass(slots=True)
class Story:
    """What a log tells.

    Attributes:
        exists: There is a log.
        damaged: It is torn, or not from this key and file.
        waiting: Entries that came and did not leave, by number.
        left: Entries that left, by number.
        marks: The latest marks; None where none can be read.
        source: Digest of an envelope of others whose entries were taken over into this log.
    """

    exists: bool = False
    damaged: bool = False
    waiting: dict[int, Item] = field(default_factory=dict)
    left: dict[int, LeftBecause] = field(default_factory=dict)
    marks: Marks | None = None
    source: str = ""
    _before: int = 0
    _kept: frozenset[int] = frozenset()

    def gone(self, seq: int, *, although: frozenset[LeftBecause] = frozenset()) -> bool:
        """Tell whether an entry is known to wait no longer.

        Args:
            seq: Its number.
            although: Reasons for leaving that do not count.
        """
        if seq in self.left:
            return self.left[seq] not in although
        return seq < self._before and seq not in self._kept

    def begin(self, document: Mapping[str, object], marks: Marks) -> None:
        """Take the first line."""
        self._before = marks.next_seq
        self._kept = frozenset(document["waiting"])  # type: ignore[call-overload]
        self.source = str(document["source"])


class SessionLog:
    """Reads and writes one session's log. The caller holds the session's lock.

    Args:
        path: The file.
        vault: Seals its lines.
    """

    def __init__(self, path: Path, vault: Vault) -> None:
        self.path = path
        self._vault = vault

    def read(self) -> Story:
        """Read the log.

        Raises:
            Untrusted: It is not ours alone.
        """
        story = Story()
        content = read_trusted(self.path)
        if content is None:
            return story
        story.exists = True
        *lines, rest = content.split(b"\n")
        story.damaged = bool(rest) or not lines
        for line in lines:
            if not self._take(story, line):
                story.damaged = True
        return story

    def append(self, lines: Iterable[bytes]) -> int:
        """Add lines.

        Returns:
            The size before, for `cut`.

        Raises:
            OSError: They cannot be written as a whole; then none is.
        """
        data = b"".join(lines)
        flags = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(self.path, flags)
        try:
            size = os.fstat(descriptor).st_size
            if os.write(descriptor, data) < len(data):
                os.ftruncate(descriptor, size)
                raise OSError(errno.ENOSPC, f"no room for {len(data)} bytes in {self.path.name}")
            return size
        finally:
            os.close(descriptor)

    def cut(self, size: int) -> None:
        """Take back what was added last."""
        with suppress(OSError):
            os.truncate(self.path, size)

    def rewrite(self, marks: Marks, items: Mapping[int, Item], source: str = "") -> None:
        """Begin the log anew with what waits now.

        Raises:
            OSError: It cannot be written; the old log is still there.
        """
        head = {"waiting": [*items], "source": source, "marks": marks.to_json()}
        lines = [self._sealed(head), *(entry_line(item) for item in items.values())]
        write_atomic(self.path, b"".join(lines), durable=False)

    def marks_line(self, marks: Marks, left: Mapping[int, LeftBecause] | None = None) -> bytes:
        """Return the line that says what is known now, and which entries left."""
        gone = {str(seq): why.value for seq, why in (left or {}).items()}
        return self._sealed({"left": gone, "marks": marks.to_json()})

    def _sealed(self, document: Mapping[str, object]) -> bytes:
        return self._vault.seal(_PART, document).encode() + b"\n"

    def _take(self, story: Story, line: bytes) -> bool:
        """Take a line; tells whether it could be read."""
        if line.startswith(_ENTRY):
            item = _read_entry(line[len(_ENTRY) :])
            if item is not None:
                story.waiting[item.seq] = item
            return item is not None
        try:
            document = self._vault.open(_PART, line.decode("ascii", "replace"))
        except Unreadable:
            return False
        story.marks = Marks.from_json(document["marks"])
        if "waiting" in document:
            story.begin(document, story.marks)
        for seq, why in document.get("left", {}).items():
            story.left[int(seq)] = LeftBecause(why)
            story.waiting.pop(int(seq), None)
        return True


def entry_line(item: Item) -> bytes:
    """Return the line that says that an entry came."""
    return _ENTRY + item.encoded + b"\n"


def read_trusted(path: Path) -> bytes | None:
    """Return the content of a file that nobody else can change; None where there is no file.

    Raises:
        Untrusted: There is something else.
    """
    content = read_bytes(path, private=True)
    if content is None and os.path.lexists(path):
        raise Untrusted(f"{path} is not a file that only you can change")
    return content


def _read_entry(text: bytes) -> Item | None:
    try:
        return read_item(json.loads(text))
    except (ValueError, RecursionError):
        return None

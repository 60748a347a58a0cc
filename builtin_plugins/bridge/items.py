"""One entry that waits, as it lies on disk and as it is sent."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from cognee_hooks.services.crypto import Sealer, Unreadable

_LARGEST_SEQ = 1 << 53


@dataclass(frozen=True, slots=True)
class Item:
    """An entry on disk. Nothing of its text can be seen.

    Attributes:
        seq: Its number in the session's file; later entries have larger ones.
        encoded: Its JSON, as it stands in the envelope and in the log; one line.
        buffered_at: When it was captured, epoch milliseconds.
    """

    seq: int
    encoded: bytes = field(repr=False)
    buffered_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """What is sealed inside.

    Attributes:
        entry: The entry in the server's wire form.
        session_id: Its session.
        dataset: The session's dataset.
        url: Server that it was captured for; "" for any.
        captured_at: Epoch milliseconds.
    """

    entry: Mapping[str, Any] = field(repr=False)
    session_id: str
    dataset: str
    url: str
    captured_at: int


class Vault:
    """Seals what belongs to one session's file. Nothing opens under another name.

    Args:
        sealer: Seals with the key of this user on this machine.
        stem: Name of the session's files, without extension.
    """

    def __init__(self, sealer: Sealer, stem: str) -> None:
        self._sealer = sealer
        self._stem = stem

    def wrap(self, seq: int, payload: Payload) -> Item:
        """Seal an entry."""
        inside = {
            "entry": payload.entry,
            "session": payload.session_id,
            "dataset": payload.dataset,
            "url": payload.url,
            "at": payload.captured_at,
        }
        sealed = self.seal(str(seq), inside)
        return Item(seq, encode_item(sealed, seq, payload.captured_at), payload.captured_at)

    def unwrap(self, item: Item) -> Payload:
        """Open an entry.

        Raises:
            Unreadable: It is damaged, of another file, or sealed with another key.
        """
        inside = self.open(str(item.seq), json.loads(item.encoded)["sealed"])
        entry = inside.get("entry")
        if not isinstance(entry, dict):
            raise Unreadable("sealed by a program that writes another form")
        return Payload(
            entry=entry,
            session_id=str(inside.get("session", "")),
            dataset=str(inside.get("dataset", "")),
            url=str(inside.get("url", "")),
            captured_at=item.buffered_at,
        )

    def seal(self, part: str, value: Mapping[str, Any]) -> str:
        """Seal a JSON object for one part of the files; returns base64."""
        # Lone surrogates stay escapes, so any text can be sealed.
        text = json.dumps(value, separators=(",", ":"))
        sealed = self._sealer.seal(text.encode(), f"{self._stem}/{part}")
        return base64.b64encode(sealed).decode()

    def open(self, part: str, text: str) -> dict[str, Any]:
        """Open what was sealed for a part.

        Raises:
            Unreadable: It is damaged, of another part or file, or sealed with another key.
        """
        try:
            sealed = base64.b64decode(text, validate=True)
            value = json.loads(self._sealer.open(sealed, f"{self._stem}/{part}"))
        except (binascii.Error, ValueError, RecursionError) as error:
            raise Unreadable("damaged") from error
        if not isinstance(value, dict):
            raise Unreadable("sealed by a program that writes another form")
        return value


def encode_item(sealed: str, seq: int, buffered_at: int) -> bytes:
    """Return the JSON of an entry on disk."""
    document = {"sealed": sealed, "seq": seq, "_buffered_at": buffered_at}
    return json.dumps(document, separators=(",", ":")).encode()


def read_item(document: object) -> Item | None:
    """Read an entry of ours; None for anything else. Whether it can be opened shows later."""
    if not isinstance(document, dict) or "sessionId" in document:
        return None
    sealed, seq = document.get("sealed"), document.get("seq")
    if not isinstance(sealed, str) or not sealed.isascii() or not is_seq(seq):
        return None
    buffered_at = whole(document.get("_buffered_at"))
    return Item(seq, encode_item(sealed, seq, buffered_at), buffered_at)


def is_seq(value: object) -> TypeGuard[int]:
    """Tell whether a value from a file can be the number of an entry."""
    return type(value) is int and 0 < value < _LARGEST_SEQ


def whole(value: object) -> int:
    """Return a non-negative whole number from a file, 0 where it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0
    return int(value) if 0 <= value < _LARGEST_SEQ else 0

"""One entry that waits, as it lies on disk and as it is sent."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from builtin_plugins.bridge.marks import SendAttempt
from cognee_hooks.services.crypto import Sealer, Unreadable

_LARGEST_SEQ = 1 << 53
_KEY_DIGEST = 16


@dataclass(frozen=True, slots=True)
class Item:
    """An entry on disk. Nothing of its text can be seen.

    Attributes:
        seq: Its number in the session's file; later entries have larger ones.
        encoded: Its JSON, as it stands in the envelope and in the log; one line.
        buffered_at: When it was captured, epoch milliseconds.
        key: Digest of the request's key; "" where it has none.
    """

    seq: int
    encoded: bytes = field(repr=False)
    buffered_at: int
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """What is sealed inside.

    Attributes:
        entry: The entry in the server's wire form.
        session_id: Its session.
        dataset: The session's dataset.
        url: Server that it was captured for; "" for any.
        captured_at: Epoch milliseconds.
        key: Names the entry also where the event behind it is done again; "" for none.
        former: Digests of the entry as it was before something was taken out of it.
    """

    entry: Mapping[str, Any] = field(repr=False)
    session_id: str
    dataset: str
    url: str
    captured_at: int
    key: str = ""
    former: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Head:
    """The entry that is to be sent next.

    Attributes:
        seq: Its number.
        payload: The entry.
        attempt: What is known of earlier attempts; None where the server surely has it not.
    """

    seq: int
    payload: Payload
    attempt: SendAttempt | None


@dataclass(frozen=True, slots=True)
class Enqueued:
    """What became of a new entry.

    Attributes:
        seq: Its number; 0 where an entry with its key was taken before.
        dropped: How many older ones had to go.
    """

    seq: int
    dropped: int = 0


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
        sealed = self.seal(str(seq), _inside(payload))
        return make_item(sealed, seq, payload.captured_at, key_digest(payload.key))

    def replaced(self, item: Item, payload: Payload) -> Item:
        """Seal another entry in the place of one, under its number and key."""
        sealed = self.seal(str(item.seq), _inside(payload))
        return make_item(sealed, item.seq, item.buffered_at, item.key)

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
            former=tuple(map(str, inside.get("former", ()))),
        )

    def opens(self, item: Item) -> bool:
        """Tell whether an entry can be opened."""
        try:
            self.unwrap(item)
        except Unreadable:
            return False
        return True

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


def _inside(payload: Payload) -> dict[str, Any]:
    inside = {
        "entry": payload.entry,
        "session": payload.session_id,
        "dataset": payload.dataset,
        "url": payload.url,
        "at": payload.captured_at,
    }
    return {**inside, "former": list(payload.former)} if payload.former else inside


def make_item(sealed: str, seq: int, buffered_at: int, key: str) -> Item:
    """Return an entry on disk."""
    document = {"sealed": sealed, "seq": seq, "_buffered_at": buffered_at}
    if key:
        document["key"] = key
    return Item(seq, json.dumps(document, separators=(",", ":")).encode(), buffered_at, key)


def read_item(document: object) -> Item | None:
    """Read an entry of ours; None for anything else. Whether it can be opened shows later."""
    if not isinstance(document, dict) or "sessionId" in document:
        return None
    sealed, seq, key = document.get("sealed"), document.get("seq"), document.get("key", "")
    if not isinstance(sealed, str) or not is_seq(seq) or not isinstance(key, str):
        return None
    return make_item(sealed, seq, whole_number(document.get("_buffered_at")), key)


def key_digest(key: str) -> str:
    """Return what stands for a request's key on disk; "" for none."""
    return hashlib.sha256(key.encode()).hexdigest()[:_KEY_DIGEST] if key else ""


def is_seq(value: object) -> TypeGuard[int]:
    """Tell whether a value from a file can be the number of an entry."""
    return type(value) is int and 0 < value < _LARGEST_SEQ


def whole_number(value: object) -> int:
    """Return a non-negative whole number from a file, 0 where it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0
    return int(value) if 0 <= value < _LARGEST_SEQ else 0

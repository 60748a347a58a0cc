"""What is known of a session's entries beside themselves: attempts, and what the server has.

The marks stand in both files of a session, sealed. Each change makes a new revision, so the files
can be compared after a kill or a cut: the later revision is the truth.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

TAIL = 20
"""Latest entries of a kind that a server lists, and so that are remembered."""
_MAX_TAILS = 12
_MAX_NAMES = 50
_MAX_KEYS = 128


@dataclass(slots=True, kw_only=True)
class SendAttempt:
    """An entry that was sent, and of which it is not known whether the server has it.

    Attributes:
        running: The request has no outcome yet, or its process was killed.
        until: Before this moment, epoch milliseconds, the server may still be storing it.
        checks: How often the server could not say whether it has it.
    """

    running: bool = False
    until: int = 0
    checks: int = 0


@dataclass(slots=True)
class Tail:
    """What a server took of one kind in one session.

    Attributes:
        total: How many entries in all.
        last: Digests of the latest ones, oldest first.
    """

    total: int = 0
    last: list[str] = field(default_factory=list)

    def add(self, print_: str) -> None:
        """Add an entry that the server has."""
        self.total += 1
        self.last = [*self.last, print_][-TAIL:]


@dataclass(slots=True)
class Marks:
    """See the module.

    Attributes:
        revision: Counts changes.
        next_seq: Number of the next entry.
        attempts: By number of the entry.
        tails: By `tail_key`.
        complete: Whether ``tails`` holds what the server took; False after damage to the files.
        names: Session ids that a server knows under another id, by `name_key`.
        taken: Keys of entries that wait no longer, oldest first; see `Item`.
    """

    revision: int = 0
    next_seq: int = 1
    attempts: dict[int, SendAttempt] = field(default_factory=dict)
    tails: dict[str, Tail] = field(default_factory=dict)
    complete: bool = True
    names: dict[str, str] = field(default_factory=dict)
    taken: list[str] = field(default_factory=list)

    def tail(self, key: str) -> Tail:
        """Return a tail; changes to one that is new are not kept."""
        return self.tails.get(key, Tail())

    def add(self, key: str, print_: str) -> None:
        """Note that the server has an entry."""
        tail = self.tails.pop(key, Tail())
        tail.add(print_)
        self.tails[key] = tail
        while len(self.tails) > _MAX_TAILS:
            del self.tails[next(iter(self.tails))]

    def rename(self, key: str, session_id: str) -> None:
        """Note under which id a session goes on."""
        self.names[key] = session_id
        while len(self.names) > _MAX_NAMES:
            del self.names[next(iter(self.names))]

    def took(self, key: str) -> None:
        """Remember the key of an entry that leaves."""
        if key:
            self.taken = [*self.taken, key][-_MAX_KEYS:]

    def to_json(self) -> dict[str, Any]:
        """Return the marks as JSON."""
        return {
            "rev": self.revision,
            "next": self.next_seq,
            "attempts": {
                str(seq): [each.running, each.until, each.checks]
                for seq, each in self.attempts.items()
            },
            "tails": {key: [each.total, *each.last] for key, each in self.tails.items()},
            "complete": self.complete,
            "names": self.names,
            "taken": self.taken,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote. It was sealed, so its form needs no second look."""
        return cls(
            revision=document["rev"],
            next_seq=document["next"],
            attempts={
                int(seq): SendAttempt(running=running, until=until, checks=checks)
                for seq, (running, until, checks) in document["attempts"].items()
            },
            tails={key: Tail(total, last) for key, (total, *last) in document["tails"].items()},
            complete=document["complete"],
            names=document["names"],
            taken=document["taken"],
        )


def tail_key(url: str, session_id: str, kind: str) -> str:
    """Return the key of a tail: one server, one session there, one kind."""
    return f"{_short(url, session_id)}:{kind}"


def name_key(url: str, session_id: str, dataset: str) -> str:
    """Return the key of a session's other id."""
    return _short(url, session_id, dataset)


def _short(*parts: str) -> str:
    text = "\n".join(parts)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]

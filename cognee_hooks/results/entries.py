"""Captured entries on their way to the server, and the acts that the ledger counts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from cognee_hooks.typed import require

if TYPE_CHECKING:
    from cognee_hooks.redaction import Redacted


class Act(StrEnum):
    """What is done with a captured or recalled text; the ledger counts each by session."""

    CAPTURED = "captured"
    """An entry was handed over to be stored."""
    REDACTED = "redacted"
    """A secret in such an entry was replaced by its label."""
    BUFFERED = "buffered"
    """It could not be sent at once and waits on disk."""
    DELIVERED = "delivered"
    """The server took it at the first try."""
    REPLAYED = "replayed"
    """The server took it later."""
    DEDUPLICATED = "deduplicated"
    """The server had it already, although the answer that said so was lost."""
    DROPPED = "dropped"
    """It is gone; the reason is told."""
    QUARANTINED = "quarantined"
    """The server refuses it for good; it was put aside."""
    RECALLED = "recalled"
    """Memory was asked for a prompt: ``hit``, ``nothing``, or why it could not be asked."""
    INJECTED = "injected"
    """Text went into the model's context."""
    COMPACTED = "compacted"
    """An anchor was made before the agent compacted its transcript."""
    SYNCED = "synced"
    """What the session holds was submitted to the graph."""
    REMEMBERED = "remembered"
    """A text or file was sent because somebody asked for it."""
    INDEXED = "indexed"
    """The server was told which repository to index."""
    ASKED = "asked"
    """Memory or the code graph was asked by the model or a person."""
    FORGOTTEN = "forgotten"
    """A person had something deleted at the server: a document, or a dataset."""
    RAN = "ran"
    """A plugin was called; how often and how long in all is recorded when the session ends."""


AT_THE_SERVER = (Act.DELIVERED, Act.REPLAYED, Act.DEDUPLICATED)
"""Acts after which the server has an entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRequest:
    """One entry on its way to the server's session cache.

    Attributes:
        entry: The entry in the server's wire form (``qa`` or ``trace``), made safe.
        session_id: The conversation that it belongs to, bound when it was captured.
        dataset: The dataset, bound when it was captured.
        key: Names the entry also where the event behind it is done again, because a process was
            killed in between: who keeps entries takes one under the same key only once. "" where
            nothing is done again.
    """

    entry: Redacted[dict[str, Any]]
    session_id: str
    dataset: str
    key: str = ""


class StoreState(StrEnum):
    """What became of an entry."""

    STORED = "stored"
    """The server has it."""
    BUFFERED = "buffered"
    """It is kept and will be sent later."""
    DROPPED = "dropped"
    """It is gone; the reason is counted and shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreReceipt:
    """Answer to a `StoreRequest`.

    Attributes:
        state: What became of the entry.
        reason: Why it was not stored, in one line; "" when it was.
        entry_id: The server's id, when stored.
    """

    state: StoreState
    reason: str = ""
    entry_id: str = ""

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, StoreState, "state")
        require(self, str, "reason", "entry_id")

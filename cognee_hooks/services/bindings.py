"""Which dataset sessions use after somebody switched, kept between processes.

Two things are kept. The dataset that new conversations begin with is in ``active-dataset.json``,
in the form that pi-cognee reads and writes. What one conversation switched to stands in its own
state, with the session id that goes with it: a session belongs to one dataset at the server, and
conversations must not share one.

Both count only for the server and account for which they were written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cognee_hooks.services.names import (
    canonical_uuid,
    key_fingerprint,
    safe_dataset_name,
    safe_session_id,
)
from cognee_hooks.services.session_state import SessionState
from cognee_hooks.services.statefile import read_object, write_json

_OWNER = "core/binding"
"""Whose part of a session's state it is; no plugin can be called that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """What a conversation is bound to.

    Attributes:
        dataset: A dataset's name, or its UUID where the name does not lead to it.
        session_id: The session at the server.
    """

    dataset: str
    session_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bindings:
    """Reads and writes them.

    Attributes:
        path: The file about new conversations.
        sessions_dir: Where the state of conversations lies.
        base_url: The server.
        key: Returns the key of the account, or None.
    """

    path: Path
    sessions_dir: Path
    base_url: str
    key: Callable[[], str | None]

    def default(self) -> str:
        """Return the dataset that new conversations begin with; "" where nobody switched."""
        binding = self._read(read_object(self.path))
        return binding.dataset if binding is not None else ""

    def of(self, conversation: str) -> Binding | None:
        """Return what a conversation switched to; None where it did not."""
        return self._read(self._own(conversation).read())

    def save(
        self, conversation: str, new: Binding, previous: Binding, *, synced: bool, lasting: bool
    ) -> None:
        """Keep a switch.

        Args:
            conversation: Id of the conversation.
            new: What it is bound to from now on.
            previous: What it was bound to.
            synced: Whether the session that is left was turned into lasting memory.
            lasting: Whether new conversations begin with the dataset, too.

        Raises:
            OSError: It could not be kept. The conversation and new ones begin as before then.
        """
        record = {
            "base_url": self.base_url,
            "key_fp": key_fingerprint(self.base_url, self.key()),
            "dataset": new.dataset,
            "session_id": new.session_id,
            "dataset_id": canonical_uuid(new.dataset),
            "dataset_ids": [],
            "previous": {
                "dataset": previous.dataset,
                "session_id": previous.session_id,
                "synced": synced,
            },
            "switched_at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        own = self._own(conversation)
        before = own.read()
        try:
            own.write(record)
            _must(not conversation or self.of(conversation) == new)
            if lasting:
                write_json(self.path, record)
                _must(self.default() == new.dataset)
        except OSError:
            # Or the conversation would go on with the other dataset when it is resumed.
            with suppress(OSError):
                own.write(before)
            raise

    def forget(self, *datasets: str) -> None:
        """Begin new conversations as if nobody had switched to a dataset that is gone.

        Args:
            datasets: Its name and its UUID.

        Raises:
            OSError: The file cannot be removed.
        """
        if self.default() in {*datasets, *map(canonical_uuid, datasets)} - {""}:
            self.path.unlink(missing_ok=True)

    def _own(self, conversation: str) -> SessionState:
        return SessionState.of(self.sessions_dir, conversation, _OWNER)

    def _read(self, record: Mapping[str, Any]) -> Binding | None:
        dataset, session_id = record.get("dataset"), record.get("session_id")
        ours = record.get("base_url") == self.base_url and record.get("key_fp") == key_fingerprint(
            self.base_url, self.key()
        )
        if not (ours and isinstance(dataset, str) and isinstance(session_id, str)):
            return None
        if not (dataset and session_id):
            return None
        return Binding(
            dataset=canonical_uuid(dataset) or safe_dataset_name(dataset),
            session_id=safe_session_id(session_id),
        )


def _must(be_kept: bool) -> None:
    if not be_kept:
        raise OSError("the switch could not be read back")

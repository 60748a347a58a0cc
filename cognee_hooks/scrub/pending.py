"""What has to go back to a server, on disk before the server is asked to let go of it.

A scrub that is killed between the two would lose what other people's work has stored; the next one
finds it here. It is sealed, and never holds the value.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cognee_hooks.services.crypto import Sealer, Unreadable
from cognee_hooks.services.statefile import read_bytes, write_atomic


@dataclass(slots=True)
class Batch:
    """The sessions of one dataset that are emptied and stored again.

    Attributes:
        dataset_id: The dataset.
        dataset_name: Its name.
        rebuild: Whether its graph has to be built anew.
        sessions: The entries by session id, in the form in which they are stored.
    """

    dataset_id: str
    dataset_name: str
    rebuild: bool
    sessions: dict[str, list[dict[str, Any]]] = field(default_factory=dict, repr=False)


class PendingFile:
    """Keeps one batch.

    Args:
        folder: Where it lies.
        key_file: The key that seals it.
        account: The server and the account that it goes back to.
    """

    def __init__(self, folder: Path, key_file: Path, account: str) -> None:
        self._name = hashlib.sha256(account.encode()).hexdigest()[:40]
        self.path = folder / f"{self._name}.pending"
        self._key_file = key_file

    def load(self) -> Batch | None:
        """Return the batch that a killed scrub left, None where there is none.

        Raises:
            Unreadable: It is damaged, or sealed with another key.
        """
        data = read_bytes(self.path, max_bytes=1 << 30, private=True)
        if data is None:
            return None
        document = json.loads(Sealer.of(self._key_file).open(data, self._name))
        if not isinstance(document, dict):
            raise Unreadable("of another form")
        return Batch(**document)

    def save(self, batch: Batch) -> None:
        """Keep a batch; it survives a power cut.

        Raises:
            OSError: It cannot be written.
        """
        document = {name: getattr(batch, name) for name in Batch.__slots__}
        text = json.dumps(document, separators=(",", ":"))
        write_atomic(self.path, Sealer.of(self._key_file).seal(text.encode(), self._name))

    def remove(self) -> None:
        """Forget it: all of it is at the server.

        Raises:
            OSError: It cannot be removed.
        """
        self.path.unlink(missing_ok=True)

"""Which file on this machine a remembered document came from.

The server keeps a file's name and not its folder, so two files called ``README.md`` look alike
there. Without this, remembering one would overwrite what was remembered of the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cognee_hooks.services.statefile import read_object, update_json

if TYPE_CHECKING:
    from cognee_hooks.services.documents import Document

MAX_ROWS = 2000


@dataclass(frozen=True, slots=True)
class Origins:
    """Notes down which document came from which file. Paths are kept as digests.

    Attributes:
        path: The file that it is kept in.
        url: The server.
    """

    path: Path
    url: str

    def choose(
        self, candidates: Iterable[Document], dataset_id: str, file: Path
    ) -> Document | None:
        """Return the document that came from a file, or may have.

        Args:
            candidates: Documents of the file's name.
            dataset_id: Their dataset.
            file: The file.

        Returns:
            The one that came from this very file; otherwise the newest that is not known to have
            come from another one, of equally new ones the last; None where there is none.
        """
        rows = read_object(self.path)
        own = self._key(dataset_id, file)
        free: list[Document] = []
        for each in candidates:
            owner = rows.get(each.id)
            if owner == own:
                return each
            if not isinstance(owner, str):
                free.append(each)
        return max(reversed(free), key=lambda each: each.created_at, default=None)

    def knows(self, data_id: str) -> bool:
        """Tell whether it is known from which file a document came."""
        return isinstance(read_object(self.path).get(data_id), str)

    def note(self, data_id: str, dataset_id: str, file: Path) -> None:
        """Note down that a document came from a file.

        Under a lock: what another session notes down meanwhile must not be lost, or its document
        would count as anybody's.

        Raises:
            OSError: It cannot be written, or not in time.
        """

        def change(rows: Mapping[str, Any]) -> Mapping[str, Any]:
            kept = [(known, owner) for known, owner in rows.items() if known != data_id]
            return dict([*kept[-MAX_ROWS + 1 :], (data_id, self._key(dataset_id, file))])

        update_json(self.path, change)

    def _key(self, dataset_id: str, file: Path) -> str:
        key = f"{self.url}\n{dataset_id}\n{file}"
        return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()

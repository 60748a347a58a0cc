"""Documents: files that were remembered, and the passages cut from them."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from cognee_hooks.embedded.chunks import passages as cut
from cognee_hooks.embedded.clock import utc_now
from cognee_hooks.embedded.database import Database
from cognee_hooks.embedded.datasets import Datasets
from cognee_hooks.embedded.errors import ApiError, detail
from cognee_hooks.embedded.passages import Passages


@dataclass(frozen=True, slots=True)
class Upload:
    """One file as it arrived: its name, maybe with folders, and its bytes."""

    filename: str
    content: bytes

    def text(self) -> str:
        """The content as text.

        Raises:
            ApiError: 415 where it is not UTF-8.
        """
        try:
            return self.content.decode()
        except UnicodeDecodeError as error:
            raise detail(
                415,
                f"'{self.filename}' cannot be read as text: decoding it as utf-8 failed "
                f"({error.reason} at byte {error.start}).",
                "UnreadableFileContentError",
            ) from error


class Documents:
    """The documents of all datasets."""

    def __init__(self, database: Database, datasets: Datasets, passages: Passages) -> None:
        self._database = database
        self._datasets = datasets
        self._passages = passages

    def add(self, dataset_id: str, upload: Upload, node_set: Sequence[str]) -> str:
        """Store a document; the same bytes in the same dataset are the same document.

        Returns:
            The document's id.

        Raises:
            ApiError: 415 for content that is not text.
        """
        text, digest = upload.text(), _digest(upload.content)
        with self._database.transaction() as connection:
            known = connection.execute(
                "SELECT id FROM documents WHERE dataset_id = ? AND digest = ?", (dataset_id, digest)
            ).fetchone()
            data_id = str(uuid.uuid4()) if known is None else str(known["id"])
            if known is None:
                connection.execute(
                    "INSERT INTO documents (id, dataset_id, name, source_name, content, digest, "
                    "node_set, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        data_id,
                        dataset_id,
                        _stem(upload.filename),
                        PurePosixPath(upload.filename).name,
                        upload.content,
                        digest,
                        json.dumps(list(node_set)),
                        utc_now(),
                    ),
                )
            # A known file is indexed again if its passages were forgotten while it was kept.
            if known is None or not self._passages.texts_of(data_id):
                self._index(dataset_id, data_id, upload.filename, text, node_set)
            self._datasets.mark_built(dataset_id)
        return data_id

    def update(
        self, dataset_id: str, data_id: str, upload: Upload, node_set: Sequence[str]
    ) -> dict[str, int] | None:
        """Replace a document's content.

        Returns:
            Counts of ``deleted``, ``added``, ``kept`` and ``total`` passages, or None where the
            bytes are the ones already stored.

        Raises:
            ApiError: 404 for a document that is not there, 415 for content that is not text.
        """
        text, digest = upload.text(), _digest(upload.content)
        with self._database.transaction() as connection:
            row = self._row(dataset_id, data_id)
            if row is None:
                raise _no_update_target(dataset_id, data_id)
            if row["digest"] == digest:
                return None
            before = set(self._passages.texts_of(data_id))
            nodes = list(node_set) or json.loads(row["node_set"])
            connection.execute(
                "UPDATE documents SET name = ?, content = ?, digest = ?, node_set = ?, "
                "updated_at = ? WHERE id = ?",
                (
                    _stem(upload.filename),
                    upload.content,
                    digest,
                    json.dumps(nodes),
                    utc_now(),
                    data_id,
                ),
            )
            after = set(self._index(dataset_id, data_id, upload.filename, text, nodes))
        return {
            "deleted": len(before - after),
            "added": len(after - before),
            "kept": len(before & after),
            "total": len(after),
        }

    def _index(
        self, dataset_id: str, data_id: str, filename: str, text: str, nodes: Sequence[str]
    ) -> list[str]:
        texts = cut(text)
        self._passages.replace(dataset_id, data_id, _stem(filename), texts, nodes)
        return texts

    def page(self, dataset_id: str, limit: int, offset: int) -> list[dict[str, Any]]:
        """Documents as the contract lists them, newest first."""
        rows = self._database.rows(
            "SELECT *, length(content) AS size FROM documents WHERE dataset_id = ? "
            "ORDER BY seq DESC LIMIT ? OFFSET ?",
            (dataset_id, limit, offset),
        )
        return [_listed(row) for row in rows]

    def ids(self, dataset_id: str) -> list[str]:
        """Ids of all documents of a dataset."""
        query = "SELECT id FROM documents WHERE dataset_id = ? ORDER BY seq"
        return [row["id"] for row in self._database.rows(query, (dataset_id,))]

    def content(self, dataset_id: str, data_id: str) -> bytes | None:
        """A document's bytes, or None where it is not there."""
        row = self._row(dataset_id, data_id)
        return None if row is None else bytes(row["content"])

    def delete(self, dataset_id: str, data_id: str) -> None:
        """Delete a document; one that is not there is deleted already."""
        with self._database.transaction() as connection:
            if self._row(dataset_id, data_id) is not None:
                self._passages.remove_source(data_id)
                connection.execute("DELETE FROM documents WHERE id = ?", (data_id,))

    def forget_passages(self, dataset_id: str, data_id: str | None) -> int:
        """Keep the files but nothing that recall finds; returns how many documents it concerns."""
        ids = self.ids(dataset_id)
        if data_id is not None:
            ids = [known for known in ids if known == data_id]
        with self._database.transaction():
            if data_id is None:
                self._passages.remove_dataset(dataset_id)
            for known in ids:
                self._passages.remove_source(known)
        return len(ids)

    def build(self, dataset_id: str) -> None:
        """Have recall find all documents of a dataset, also after `forget_passages`."""
        rows = self._database.rows("SELECT * FROM documents WHERE dataset_id = ?", (dataset_id,))
        with self._database.transaction():
            for row in rows:
                text, nodes = bytes(row["content"]).decode(), json.loads(row["node_set"])
                self._index(dataset_id, row["id"], row["source_name"], text, nodes)
            if rows:
                self._datasets.mark_built(dataset_id)

    def _row(self, dataset_id: str, data_id: str) -> sqlite3.Row | None:
        return self._database.row(
            "SELECT * FROM documents WHERE dataset_id = ? AND id = ?", (dataset_id, data_id)
        )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _stem(filename: str) -> str:
    return PurePosixPath(filename).stem


def _listed(row: sqlite3.Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "name": row["name"],
        "createdAt": row["created_at"],
        "updatedAt": row["updated_at"],
        "extension": "txt",
        "mimeType": "text/plain",
        "rawDataLocation": f"file:///documents/{row['id']}.txt",
        "datasetId": row["dataset_id"],
        "label": None,
        # The one place where the file's real name survives an update under another name.
        "externalMetadata": {"_cognee": {"source_uri": f"file:///{row['source_name']}"}},
        "dataSize": row["size"],
    }


def _no_update_target(dataset_id: str, data_id: str) -> ApiError:
    return detail(
        404,
        f"No document found to update: data_id '{data_id}' does not exist in dataset "
        f"'{dataset_id}' (neither as a document id nor as a pre-fork legacy id). Use add() to "
        "create new documents.",
        "UpdateTargetNotFoundError",
    )

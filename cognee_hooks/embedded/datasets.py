"""Datasets: the named places that memory is kept in."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from cognee_hooks.embedded.clock import utc_now
from cognee_hooks.embedded.database import Database
from cognee_hooks.embedded.errors import datasets_not_found, permission_denied
from cognee_hooks.embedded.passages import Passages


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """A dataset's row: ``id``, ``name`` and time stamps; ``built`` once something was ingested."""

    id: str
    name: str
    created_at: str
    updated_at: str | None
    built: bool


def storable_name(name: str) -> bool:
    """Whether documents can be stored under this dataset name: no spaces, no dots."""
    return bool(name) and not any(character in name for character in " .")


class Datasets:
    """All datasets of the account. Ids follow from names, so a name made again has its old id."""

    def __init__(self, database: Database, passages: Passages, owner_id: str) -> None:
        self._database = database
        self._passages = passages
        self._namespace = uuid.UUID(owner_id)

    def id_of(self, name: str) -> str:
        """The id that a dataset of this name has or would have."""
        return str(uuid.uuid5(self._namespace, name))

    def create(self, name: str) -> DatasetRow:
        """The dataset of this name, made where it is missing."""
        dataset_id = self.id_of(name)
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO datasets (id, name, created_at) VALUES (?, ?, ?)",
                (dataset_id, name, utc_now()),
            )
            return self.get(dataset_id, "write")

    def all(self) -> list[DatasetRow]:
        """Every dataset, oldest first."""
        rows = self._database.rows("SELECT * FROM datasets ORDER BY created_at, name")
        return [_dataset(row) for row in rows]

    def find(self, dataset_id: str) -> DatasetRow | None:
        """The dataset with this id, or None."""
        row = self._database.row("SELECT * FROM datasets WHERE id = ?", (dataset_id,))
        return None if row is None else _dataset(row)

    def get(self, dataset_id: str, permission: str) -> DatasetRow:
        """The dataset with this id.

        Raises:
            ApiError: 403 naming the permission, where there is none.
        """
        found = self.find(dataset_id)
        if found is None:
            raise permission_denied(permission)
        return found

    def named(self, names: Sequence[str]) -> list[DatasetRow]:
        """The datasets of these names.

        Raises:
            ApiError: 404 listing the names that are not there.
        """
        found = [self.find(self.id_of(name)) for name in names]
        missing = [name for name, dataset in zip(names, found, strict=True) if dataset is None]
        if missing:
            raise datasets_not_found(missing)
        return [dataset for dataset in found if dataset is not None]

    def delete(self, dataset_id: str) -> None:
        """Delete a dataset with its documents and passages."""
        with self._database.transaction() as connection:
            self._passages.remove_dataset(dataset_id)
            connection.execute("DELETE FROM datasets WHERE id = ?", (dataset_id,))

    def mark_built(self, dataset_id: str) -> None:
        """Note that something was ingested, which the status route reports."""
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE datasets SET built = 1, updated_at = ? WHERE id = ?",
                (utc_now(), dataset_id),
            )


def _dataset(row: sqlite3.Row) -> DatasetRow:
    return DatasetRow(
        row["id"], row["name"], row["created_at"], row["updated_at"], bool(row["built"])
    )

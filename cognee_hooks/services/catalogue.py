"""The datasets that an account can read, which of them somebody means, and how each is addressed.

By the cognee 1.6 HTTP contract names may repeat, and a name leads only to a dataset that the
account owns. One that was shared by another account, or whose name other routes would refuse, is
reachable by its UUID only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cognee_hooks.errors import UsageError
from cognee_hooks.printable import brief
from cognee_hooks.services.names import canonical_uuid, safe_dataset_name

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.services.answers import Dataset
    from cognee_hooks.services.api import ServerApi

MOST_NAMES = 20
"""Datasets that a sentence lists."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """A list of datasets.

    Attributes:
        rows: The datasets, in the server's order.
        account: UUID of the account; "" where it does not matter which are its own.
        shared: UUIDs that names lead to, where the account shares another one's datasets.
    """

    rows: tuple[Dataset, ...]
    account: str = ""
    shared: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    async def load(cls, client: ServerApi, deadline: Deadline) -> Catalogue:
        """Ask the server.

        Raises:
            ServerFailure: It failed.
        """
        rows, account = await asyncio.gather(client.datasets(deadline), client.whoami(deadline))
        return cls(tuple(rows), account.id, dict(client.shared_names))

    def find(self, target: str) -> list[Dataset]:
        """Return the datasets that somebody may mean: the one of a UUID, or all of a name."""
        identifier = canonical_uuid(target)
        if identifier:
            return [row for row in self.rows if canonical_uuid(row.id) == identifier]
        return [row for row in self.rows if row.name == target]

    def choose(self, target: str) -> Dataset | None:
        """Return the dataset that somebody means by a name or UUID; None where there is none.

        Raises:
            UsageError: Several have that name; it says so, and which.
        """
        found = self.find(target)
        if len(found) > 1:
            listed = "; ".join(f"{brief(row.name)} {row.id}" for row in found[:MOST_NAMES])
            raise UsageError(
                f"Ambiguous: '{brief(target)}' matches {len(found)} datasets ({listed}) — "
                "select its UUID."
            )
        return found[0] if found else None

    def require(self, target: str) -> Dataset:
        """Return the dataset that somebody means by a name or UUID.

        Raises:
            UsageError: There is none, or there are several.
        """
        chosen = self.choose(target)
        if chosen is None:
            raise UsageError(self.unknown(target))
        return chosen

    def unknown(self, target: str) -> str:
        """Say that there is no such dataset, and which there are."""
        names = self.names
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        available = ", ".join(map(brief, names[:MOST_NAMES])) + more if names else "none"
        return f"Dataset '{brief(target)}' not found. Available: {available}."

    def led_to_by(self, dataset: str) -> Dataset | None:
        """Return the dataset that the server takes for a name or UUID; None where it has none."""
        if canonical_uuid(dataset):
            return next(iter(self.find(dataset)), None)
        name = safe_dataset_name(dataset)
        if self.shared:
            # Whatever the account has of its own, names lead to what it shares.
            led = self.shared.get(name)
            return next(iter(self.find(led)), None) if led else None
        owned = [row for row in self.find(name) if self.owns(row)]
        return next(iter(owned), None)

    def owns(self, row: Dataset) -> bool:
        """Tell whether a dataset is the account's own; where that is not said, it counts as so."""
        return row.owner_id in {"", self.account}

    def address_of(self, row: Dataset) -> str:
        """Return what leads to a dataset: its name, or its UUID where the name does not."""
        if self.shared:
            return row.name if self.led_to_by(row.name) is row else canonical_uuid(row.id)
        alike = [each for each in self.find(row.name) if self.owns(each)]
        sound = bool(row.name) and safe_dataset_name(row.name) == row.name
        by_name = sound and not canonical_uuid(row.name) and alike == [row]
        return row.name if by_name else canonical_uuid(row.id)

    @property
    def names(self) -> list[str]:
        """All names, each once, in order."""
        return sorted({row.name for row in self.rows if row.name})

"""Which datasets an account can write to, as far as the server tells.

By the cognee 1.6 HTTP contract the list of datasets holds all that can be read. Rights to write are
listed apart, and only those that an account has by itself: what it has through a role is known to
whoever gave it the role.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.identities import WRITE
from cognee_hooks.services.names import canonical_uuid

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.services.answers import Dataset
    from cognee_hooks.services.api import ServerApi
    from cognee_hooks.services.catalogue import Catalogue

_CANNOT_TELL = frozenset({FailureKind.NOT_FOUND, FailureKind.MISCONFIGURED})


@dataclass(frozen=True, slots=True)
class Rights:
    """What may be written to.

    Attributes:
        known: The server told; otherwise a dataset of somebody else may or may not be writable.
        writable: By UUID; None where it cannot be told.
    """

    known: bool = False
    writable: Mapping[str, bool | None] = field(default_factory=dict)

    def read_only(self, row: Dataset) -> bool:
        """Tell whether a dataset is known to be for reading only."""
        return self.writable.get(canonical_uuid(row.id)) is False

    @classmethod
    async def load(cls, client: ServerApi, catalogue: Catalogue, deadline: Deadline) -> Rights:
        """Ask the server.

        Args:
            client: The server.
            catalogue: The datasets.
            deadline: When to give up.

        Raises:
            ServerFailure: It failed. A server without such a list is none.
        """
        direct: set[str] | None = None
        if canonical_uuid(catalogue.account):
            try:
                direct = await client.accounts.granted(catalogue.account, WRITE, deadline)
            except ServerFailure as failure:
                if failure.kind not in _CANNOT_TELL:
                    raise
        otherwise = None if direct is None else False
        given = (direct or set()) | set(client.shared_ids)
        return cls(
            direct is not None,
            {
                identifier: True if identifier in given or catalogue.owns(row) else otherwise
                for row in catalogue.rows
                if (identifier := canonical_uuid(row.id))
            },
        )

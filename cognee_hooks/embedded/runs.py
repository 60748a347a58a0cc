"""The log of runs, by which a client learns how a background improve ended.

Only improves are logged, and only while the server runs: a client looks for a run that it has just
started.
"""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Sequence
from typing import Any

from cognee_hooks.embedded.clock import utc_now
from cognee_hooks.embedded.datasets import DatasetRow

KEPT = 500
"""Rows; the longest page of the contract."""


class Runs:
    """Rows of runs that have ended, in the form of the contract.

    Args:
        owner_id: UUID of the account that started them.
    """

    def __init__(self, owner_id: str) -> None:
        self._owner_id = owner_id
        self._rows: deque[dict[str, Any]] = deque(maxlen=KEPT)

    def add(
        self,
        dataset: DatasetRow,
        session_ids: Sequence[str],
        *,
        started_at: str,
        outcome: str,
        background: bool,
    ) -> None:
        """Log an improve.

        Args:
            dataset: Where its entries went.
            session_ids: Its sessions; a row names a session only where it is the only one.
            started_at: When it began.
            outcome: ``succeeded`` or ``noop``.
            background: Whether the client was answered before it ended.
        """
        ended_at = utc_now()
        row: dict[str, Any] = {
            "id": str(uuid.uuid4()),
            "kind": "operation",
            "pipeline_name": None,
            "status": None,
            "dataset_id": dataset.id,
            "dataset_name": dataset.name,
            "owner_id": self._owner_id,
            "created_at": ended_at,
            "pipeline_run_id": str(uuid.uuid4()),
            "operation_name": "improve",
            "origin": "api",
            "outcome": outcome,
            "background": background,
            "error_class": None,
            "started_at": started_at,
            "ended_at": ended_at,
            "user_id": self._owner_id,
            "session_id": session_ids[0] if len(session_ids) == 1 else None,
        }
        self._rows.appendleft(row)

    def page(self, limit: int, offset: int, dataset_id: str | None) -> list[dict[str, Any]]:
        """Return rows, newest first.

        Args:
            limit: Rows at most.
            offset: Rows to leave out.
            dataset_id: Only those of a dataset, or None for all.
        """
        rows = [row for row in self._rows if dataset_id in {None, row["dataset_id"]}]
        return rows[offset : offset + limit]

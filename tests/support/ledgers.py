"""Ledgers with rows of chosen times."""

from __future__ import annotations

import os

from cognee_hooks.results import Act
from cognee_hooks.services.ledger import Ledger
from cognee_hooks.services.paths import Paths

DAY = 86_400.0


class LedgerWriter:
    """Writes rows into the ledgers below the home folder that the environment names."""

    def __init__(self) -> None:
        self._now = 0.0
        self._made: dict[tuple[str, str], Ledger] = {}

    def __call__(
        self,
        session_id: str,
        act: Act,
        what: str = "x",
        *,
        at: float,
        agent: str = "claude-code",
        dataset: str = "",
        **more: object,
    ) -> None:
        """Record a row at a moment, in epoch seconds."""
        self._now = at
        ledger = self._made.get((agent, session_id))
        if ledger is None:
            paths = Paths.of(os.environ, agent)
            ledger = Ledger(paths.ledger_dir, agent, paths.key_file, now=lambda: self._now)
            self._made[agent, session_id] = ledger
            if dataset:
                ledger.bind(session_id, dataset)
        ledger.record(session_id, act, what, **more)

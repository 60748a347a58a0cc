"""Which entries were captured a moment ago and never had to wait."""

from __future__ import annotations

from cognee_hooks import PluginContext
from cognee_hooks.results import Act


class Fresh:
    """Entries of which no attempt has failed, for the ledger and for the first failure.

    Args:
        context: The plugin's context.
    """

    def __init__(self, context: PluginContext) -> None:
        self._context = context
        self._seqs: dict[str, dict[int, str]] = {}

    def add(self, stem: str, seq: int, session_id: str) -> None:
        """Add an entry that was captured now."""
        self._seqs.setdefault(stem, {})[seq] = session_id

    def holds(self, stem: str, seq: int) -> bool:
        """Tell whether no attempt of an entry has failed."""
        return seq in self._seqs.get(stem, {})

    def discard(self, stem: str, seq: int) -> bool:
        """Forget an entry; tells whether no attempt of it had failed."""
        return self._seqs.get(stem, {}).pop(seq, None) is not None

    def spill(self, stem: str) -> None:
        """Note in the ledger that all entries of a session have to wait."""
        for session_id in self._seqs.pop(stem, {}).values():
            self._context.record(Act.BUFFERED, session_id=session_id)

"""Which sessions and datasets are being improved just now.

By the contract there is one improve of a dataset at a time, and one of a session. Who comes
meanwhile is turned away; if it is the session itself that is held, its holder makes one more pass.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence


class Claims:
    """Claims of improves, for all threads of one server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: set[str] = set()
        self._again: set[str] = set()

    def claim(self, dataset_id: str, session_ids: Sequence[str]) -> bool:
        """Claim a dataset and sessions, all of them or none; tells whether they are ours."""
        wanted = _keys(dataset_id, session_ids)
        with self._lock:
            if self._held & wanted:
                return False
            self._held |= wanted
            return True

    def ask_again(self, session_ids: Sequence[str]) -> bool:
        """Ask who holds any of these sessions for one more pass; tells whether somebody does."""
        with self._lock:
            held = _keys("", session_ids) & self._held
            self._again |= held
            return bool(held)

    def release(self, dataset_id: str, session_ids: Sequence[str]) -> bool:
        """Give up a claim, unless one more pass is asked for; tells whether it is given up."""
        held = _keys(dataset_id, session_ids)
        with self._lock:
            if self._again & held:
                self._again -= held
                return False
            self._held -= held
            return True

    def drop(self, dataset_id: str, session_ids: Sequence[str]) -> None:
        """Give up a claim whatever is asked for, since its run failed."""
        held = _keys(dataset_id, session_ids)
        with self._lock:
            self._again -= held
            self._held -= held


def _keys(dataset_id: str, session_ids: Sequence[str]) -> set[str]:
    keys = {f"session:{each}" for each in session_ids}
    return keys | {f"dataset:{dataset_id}"} if dataset_id else keys

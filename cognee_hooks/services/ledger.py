"""What is done with what an agent says and hears: counted by session, on disk, without any text.

It answers "what went into the model's context, when, from where, and what did it cost", and "what
became of what was captured". Rows hold sizes and keyed hashes: with a plain hash anybody could try
out short texts.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from cognee_hooks.results import Act
from cognee_hooks.services.ledger_file import LedgerFile, LedgerRow, ledger_files
from cognee_hooks.services.session_state import KEPT_SECONDS
from cognee_hooks.services.statefile import read_bytes

MAX_WHAT = 80

_DIGEST = 16
_LOG = logging.getLogger("cognee_hooks.ledger")


class Ledger:
    """Writes and counts the ledgers of one agent's sessions. Making it touches no file.

    Args:
        folder: Where they lie.
        agent: Short name of the agent.
        key_file: The key of what is kept encrypted, whose bytes key the hashes; without it there
            are none.
        now: Epoch seconds.
    """

    def __init__(
        self, folder: Path, agent: str, key_file: Path, *, now: Callable[[], float] = time.time
    ) -> None:
        self._folder = folder
        self._agent = agent
        self._key_file = key_file
        self._now = now
        self._files: dict[str, LedgerFile] = {}
        self._datasets: dict[str, str] = {}
        self._key = b""

    def bind(self, session_id: str, dataset: str) -> None:
        """Say which dataset a session belongs to, before something is recorded for it."""
        self._datasets[session_id] = dataset

    def record(
        self,
        session_id: str,
        act: Act,
        what: str,
        *,
        content: str | bytes | None = None,
        count: int = 1,
        seconds: float | None = None,
        prompt: str = "",
    ) -> None:
        """Add a row; a ledger that cannot be written is a line in the log and nothing more.

        Args:
            session_id: The session; without one nothing is recorded.
            act: What was done.
            what: With what or why.
            content: The text; only its size and a keyed hash are kept.
            count: How often.
            seconds: What it cost.
            prompt: The prompt that it was done for; only a keyed hash is kept, by which what was
                done for one prompt can be put together.
        """
        if not session_id:
            return
        data = content.encode(errors="replace") if isinstance(content, str) else content
        row = LedgerRow(
            time=self._now(),
            act=act,
            what=what[:MAX_WHAT],
            count=count,
            size=None if data is None else len(data),
            digest="" if data is None else self._digest(data),
            seconds=seconds,
            prompt=self._digest(prompt.encode(errors="replace")) if prompt else "",
        )
        try:
            self._file(session_id).append(row)
        except OSError as error:
            _LOG.warning("%s is not in the ledger: %s", act.value, type(error).__name__)

    def totals(self, session_id: str) -> Mapping[Act, int]:
        """Return how often each act was done in a session, by all processes."""
        return self._file(session_id).totals() if session_id else {}

    def sizes(self, session_id: str) -> Mapping[Act, int]:
        """Return how many bytes of text each act was done with in a session, by all processes."""
        return self._file(session_id).sizes() if session_id else {}

    def sweep(self) -> None:
        """Remove ledgers that nobody has written to for a month."""
        limit = self._now() - KEPT_SECONDS
        for file in ledger_files(self._folder):
            with suppress(OSError):
                if file.path.stat().st_mtime < limit:
                    file.path.unlink()
                    file.older.unlink(missing_ok=True)

    def _file(self, session_id: str) -> LedgerFile:
        if session_id not in self._files:
            dataset = self._datasets.get(session_id, "")
            made = LedgerFile.of(self._folder, session_id, self._agent, self._now(), dataset)
            self._files[session_id] = made
        return self._files[session_id]

    def _digest(self, data: bytes) -> str:
        if not self._key and (key := read_bytes(self._key_file, private=True)):
            # Not the key itself: what it seals must not depend on what else it is used for.
            self._key = hmac.digest(key, b"ledger", hashlib.sha256)
        return hmac.digest(self._key, data, hashlib.sha256).hex()[:_DIGEST] if self._key else ""

"""How much a session's buffer holds."""

from __future__ import annotations

from dataclasses import dataclass

from cognee_hooks.services.retry import FIRST_WINDOW_MS

MAX_BUFFER_BYTES = 4 * 1024 * 1024
"""Bytes of sealed entries that wait for one session."""


@dataclass(frozen=True, slots=True)
class BufferLimits:
    """How much one session's buffer holds, and how patient it is.

    Attributes:
        entries: Entries.
        size: Bytes of sealed entries.
        backoff_ms: Pause after the first refusal, milliseconds.
    """

    entries: int
    size: int = MAX_BUFFER_BYTES
    backoff_ms: int = FIRST_WINDOW_MS

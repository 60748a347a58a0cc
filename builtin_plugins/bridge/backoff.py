"""When a file whose head the server refuses is tried again."""

from __future__ import annotations

from cognee_hooks.services.retry import FIRST_WINDOW_MS, LONGEST_WINDOW_MS

_DOUBLINGS = 20

SKEW_MS = 5_000
"""How far the clocks of two processes may differ."""


def window_ms(fail_count: int, first: int = FIRST_WINDOW_MS) -> int:
    """Return how long to leave a file alone after so many failures in a row, in milliseconds.

    Args:
        fail_count: Failures in a row.
        first: The pause after the first one, milliseconds.
    """
    if fail_count <= 0:
        return 0
    return min(first << min(fail_count - 1, _DOUBLINGS), LONGEST_WINDOW_MS)


def resting_until(fail_count: int, fail_at: int, now: int, first: int = FIRST_WINDOW_MS) -> int:
    """Return when the file may be tried again, epoch milliseconds; 0 where it may be now.

    A failure that lies in the future comes from a clock that was set back, or from a damaged file,
    and would never be over; it does not count.

    Args:
        fail_count: Failures in a row.
        fail_at: The latest one, epoch milliseconds.
        now: Epoch milliseconds.
        first: See `window_ms`.
    """
    until = fail_at + window_ms(fail_count, first)
    return until if fail_at <= now + SKEW_MS and now < until else 0

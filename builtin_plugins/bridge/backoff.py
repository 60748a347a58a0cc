"""When a file whose head the server refuses is tried again."""

from __future__ import annotations

from cognee_hooks.services.retry import backoff_window_ms

SKEW_MS = 5_000
"""How far the clocks of two processes may differ."""


def in_backoff(fail_count: int, fail_at: int, now: int) -> bool:
    """Tell whether it is too early to try again.

    A failure that lies in the future comes from a clock that was set back, or from a damaged file,
    and would never be over; it does not count.

    Args:
        fail_count: Failures in a row.
        fail_at: The latest one, epoch milliseconds.
        now: Epoch milliseconds.
    """
    return fail_at <= now + SKEW_MS and now < fail_at + backoff_window_ms(fail_count)

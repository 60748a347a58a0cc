"""When to try again: doubling windows, jitter, and what a server asks for."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from cognee_hooks.deadline import Clock

FIRST_WINDOW_MS = 60_000
LONGEST_WINDOW_MS = 3_600_000
LONGEST_RETRY_AFTER = 3600.0
"""Seconds; a server that asks for more is asked again after an hour."""

_DOUBLINGS = 6  # 60 s doubled six times is more than an hour
_LONGEST_NUMBER = 9  # digits; more seconds than any server means


def backoff_window_ms(failures: int) -> int:
    """Return how long to leave a server alone after so many failures in a row, in milliseconds."""
    if failures <= 0:
        return 0
    return min(FIRST_WINDOW_MS << min(failures - 1, _DOUBLINGS), LONGEST_WINDOW_MS)


def jittered(seconds: float, source: random.Random, spread: float = 0.2) -> float:
    """Return ``seconds`` changed by up to ``spread``, so that agents do not march in step."""
    return seconds * (1 + spread * (2 * source.random() - 1))


def parse_retry_after(
    value: str | None, *, now: Callable[[], float] = time.time, limit: float = LONGEST_RETRY_AFTER
) -> float | None:
    """Read a ``Retry-After`` header (RFC 9110, section 10.2.3).

    Args:
        value: The header, or None where there was none.
        now: Epoch seconds, for headers that hold a date.
        limit: Longest wait in seconds.

    Returns:
        Seconds to wait, between 0 and ``limit``, or None where the header says nothing usable.
    """
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:_LONGEST_NUMBER]), limit)
    moment = _http_date(text)
    return None if moment is None else min(max(moment - now(), 0.0), limit)


def _http_date(text: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError, OSError):
        return None


@dataclass(slots=True)
class Backoff:
    """Counts failures in a row and says when the next attempt is due.

    Attributes:
        first: Seconds to wait after the first failure; each further one doubles it.
        longest: Seconds at most.
        clock: Monotonic seconds.
    """

    first: float
    longest: float
    clock: Clock = field(default=time.monotonic, repr=False)
    _failures: int = 0
    _due: float | None = None

    @property
    def ready(self) -> bool:
        """Whether an attempt is due."""
        return self._due is None or self.clock() >= self._due

    def failed(self) -> None:
        """Count a failure; the next attempt is due after the window."""
        window = min(self.first * 2.0 ** min(self._failures, 30), self.longest)
        self._failures += 1
        self._due = self.clock() + window

    def hurry(self) -> None:
        """Make an attempt due now, and keep the count."""
        self._due = None

    def reset(self) -> None:
        """Forget all failures."""
        self._failures = 0
        self._due = None

"""A clock that a test moves."""

from __future__ import annotations


class FakeClock:
    """Monotonic seconds that pass only when a test says so.

    Args:
        now: Where it begins.
    """

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        """Return the seconds."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds

"""Absolute deadlines that travel with a call."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the monotonic clock after which nobody waits any longer.

    A deadline is made once, by whoever starts the work, and handed down. Nested work may only make
    it earlier, so the budgets of nested calls never add up.

    Attributes:
        at: The moment, in seconds of ``clock``. With the default clock this is also the time base
            of the asyncio event loop, so ``asyncio.timeout_at(deadline.at)`` is right.
        clock: Where "now" comes from; tests pass their own.
    """

    at: float
    clock: Clock = field(default=time.monotonic, repr=False, compare=False)

    @classmethod
    def after(cls, seconds: float, clock: Clock = time.monotonic) -> Deadline:
        """Return the deadline that lies ``seconds`` from now."""
        return cls(clock() + seconds, clock)

    def remaining(self) -> float:
        """Return the seconds that are left, never below zero."""
        return max(0.0, self.at - self.clock())

    @property
    def expired(self) -> bool:
        """Whether the moment has passed."""
        return self.clock() >= self.at

    def within(self, seconds: float) -> Deadline:
        """Return the earlier of this deadline and ``seconds`` from now."""
        return Deadline(min(self.at, self.clock() + seconds), self.clock)

    def sparing(self, seconds: float) -> Deadline:
        """Return the deadline that leaves so many seconds of this one for what comes afterwards."""
        return Deadline(self.at - seconds, self.clock)

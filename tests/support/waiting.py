"""Waiting for what a test expects, on a machine that may be busy with other things.

A test never sleeps a fixed time to let something happen: it waits until it has happened. Where
something must not take long, the bound is :data:`PATIENCE`, and what would be wrong takes longer
than that or never ends.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE = 30.0
"""Seconds after which something does not happen any more, on the slowest machine."""
_LOOK_SECONDS = 0.01
T = TypeVar("T")


def wait_until(probe: Callable[[], T], what: str = "it", seconds: float = PATIENCE) -> T:
    """Wait on this thread until a probe finds something, and return that.

    Raises:
        AssertionError: It found nothing in time.
    """
    limit = time.monotonic() + seconds
    while not (found := probe()):
        assert time.monotonic() < limit, f"{what} did not come about in {seconds:g} s"
        time.sleep(_LOOK_SECONDS)
    return found


async def until(probe: Callable[[], T], what: str = "it", seconds: float = PATIENCE) -> T:
    """Wait until a probe finds something while the event loop goes on, and return that.

    Raises:
        AssertionError: It found nothing in time.
    """
    limit = time.monotonic() + seconds
    while not (found := probe()):
        assert time.monotonic() < limit, f"{what} did not come about in {seconds:g} s"
        await asyncio.sleep(_LOOK_SECONDS)
    return found


async def turns(count: int = 10) -> None:
    """Give the event loop some turns, for what needs its turn but no time."""
    for _ in range(count):
        await asyncio.sleep(0)

"""Moments, ages and counts, as people read them."""

from __future__ import annotations

import time

_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def ago(moment: float | None, now: float) -> str:
    """Return how long ago a moment was, such as ``5 min ago``.

    Args:
        moment: Epoch seconds; None, or nothing above 0, where it is not known.
        now: Epoch seconds.
    """
    return f"{span(now - moment)} ago" if moment and moment > 0 else "?"


def span(seconds: float) -> str:
    """Return a length of time in its largest unit, such as ``5 min``; one below 0 is ``0 s``."""
    seconds = max(0.0, seconds)
    size, unit = next((each for each in _UNITS if seconds >= each[0]), _UNITS[-1])
    return f"{seconds // size:.0f} {unit}"


def local(moment: float) -> str:
    """Return a moment in the person's own time; ``?`` for one that no calendar has.

    Args:
        moment: Epoch seconds.
    """
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))
    except (OverflowError, ValueError, OSError):
        return "?"


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number of things, such as ``1 entry`` or ``2 entries``."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"

"""Makes values from files, plugins and other processes printable, short and finite."""

from __future__ import annotations

from cognee_hooks.printable import clean, one_line
from cognee_hooks.redaction import cut
from cognee_hooks.services.statefile import finite

MAX_LABEL = 200
"""Bytes of a name, reason or sentence."""
MAX_TEXT = 16 * 1024
"""Bytes of a prompt or of a section."""
MOST = 2**53 - 1
"""The largest whole number that a browser knows exactly."""


def label(value: object, limit: int = MAX_LABEL) -> str | None:
    """Return a name or a sentence on one line; None where there is none.

    Args:
        value: Anything.
        limit: Most bytes.
    """
    # What is far too long is not looked at as a whole.
    return cut(one_line(value[: 2 * limit]), limit) or None if isinstance(value, str) else None


def text(value: object) -> str | None:
    """Return text with its lines; None where there is none."""
    return cut(clean(value[: 2 * MAX_TEXT]), MAX_TEXT) if isinstance(value, str) else None


def count(value: object) -> int:
    """Return how many; 0 where that is not told."""
    return min(max(0, value), MOST) if type(value) is int else 0


def seconds(value: object) -> float | None:
    """Return a length of time; None where it is not told."""
    return round(max(0.0, finite(value)), 6) if _is_number(value) else None


def epoch_seconds(value: object) -> float | None:
    """Return epoch seconds; None where they are not told."""
    return finite(value) if _is_number(value) and 0 < finite(value) < MOST else None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)

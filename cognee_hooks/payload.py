"""One JSON object out of bytes that an agent sends, without waiting for the end of the stream."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

MAX_BYTES = 32 * 1024 * 1024
"""Largest payload; agents send written files twice in one event."""
_TAIL = 256  # bytes; to look for the last character in a copy of all would be quadratic as well


def first_object(data: bytes | bytearray, *, ended: bool) -> Mapping[str, Any] | None:
    """Return the first object, as soon as it is complete; what follows is not looked at.

    Args:
        data: What came so far.
        ended: Nothing more will come.

    Returns:
        The object; None where it is not complete, or nothing usable.
    """
    # Only a closing brace can complete an object; parsing after each chunk would be quadratic.
    if not ended and not (data[-_TAIL:].rstrip() or data.rstrip()).endswith(b"}"):
        return None
    text = data.decode("utf-8-sig", "replace").lstrip()
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None

"""Reads one JSON document from standard input, without waiting for its end.

Some agents leave the pipe open behind the payload, and some events come with no payload at all.
"""

from __future__ import annotations

import json
import os
import select
from collections.abc import Mapping
from typing import Any

from cognee_hooks.deadline import Deadline

IDLE_SECONDS = 2.0
"""How long a pipe may say nothing before it is given up."""
MAX_BYTES = 32 * 1024 * 1024
"""Largest payload; agents send written files twice in one event."""
_CHUNK = 1024 * 1024


def read_payload(descriptor: int, deadline: Deadline) -> Mapping[str, Any] | None:
    """Return the object on the pipe as soon as it is complete.

    Args:
        descriptor: An open file descriptor.
        deadline: Until when to wait at most.

    Returns:
        The object, or None where nothing usable comes: no data, other data, too much data.
    """
    buffer = bytearray()
    while len(buffer) <= MAX_BYTES:
        wait = min(IDLE_SECONDS, deadline.remaining())
        ready, _, _ = select.select([descriptor], [], [], wait)
        chunk = os.read(descriptor, _CHUNK) if ready else b""
        buffer += chunk
        # Only a closing brace can complete an object; parsing after each chunk would be quadratic.
        if not chunk or buffer.rstrip().endswith(b"}"):
            payload = _parsed(bytes(buffer))
            if payload is not None or not chunk:
                return payload
    return None


def _parsed(data: bytes) -> Mapping[str, Any] | None:
    try:
        value = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None

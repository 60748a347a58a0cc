"""Reads one JSON document from standard input, without waiting for its end.

Some agents leave the pipe open behind the payload, and some events come with no payload at all.
"""

from __future__ import annotations

import os
import select
from collections.abc import Mapping
from typing import Any, TextIO

from cognee_hooks.deadline import Deadline
from cognee_hooks.payload import MAX_BYTES, first_object

IDLE_SECONDS = 2.0
"""How long a pipe may say nothing before it is given up."""
_CHUNK = 1024 * 1024


def read_payload(stream: TextIO | None, deadline: Deadline) -> Mapping[str, Any] | None:
    """Return the first object on a stream as soon as it is complete; what follows is not looked at.

    Args:
        stream: Standard input; None where the agent closed it.
        deadline: Until when to wait at most.

    Returns:
        The object, or None where nothing usable comes: no data, other data, too much data.
    """
    buffer = bytearray()
    try:
        descriptor = stream.fileno() if stream is not None else -1
        while descriptor >= 0 and len(buffer) <= MAX_BYTES:
            wait = min(IDLE_SECONDS, deadline.remaining())
            ready, _, _ = select.select([descriptor], [], [], wait)
            chunk = os.read(descriptor, _CHUNK) if ready else b""
            buffer += chunk
            payload = first_object(buffer, ended=not chunk)
            if payload is not None or not chunk:
                return payload
    except OSError:  # a folder, a terminal that went away, a descriptor that is none
        return None
    return None

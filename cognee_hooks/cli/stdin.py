"""Reads one JSON document from standard input, without waiting for its end.

Some agents leave the pipe open behind the payload, and some events come with no payload at all.
"""

from __future__ import annotations

import os
import select
from collections.abc import Iterator, Mapping
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
    return read_first_object(stream, deadline)[0]


def read_first_object(
    stream: TextIO | None, deadline: Deadline
) -> tuple[Mapping[str, Any] | None, bytes]:
    """Return the first object on a stream, as `read_payload` does, and all that was read."""
    found: Mapping[str, Any] | None = None
    buffer = bytearray()
    for chunk in _chunks(stream, deadline):
        buffer += chunk
        found = first_object(buffer, ended=not chunk)
        if found is not None or len(buffer) > MAX_BYTES:
            break
    return found, bytes(buffer)


def read_stream(stream: TextIO | None, deadline: Deadline) -> str:
    """Return the text on a stream, to its end; what is too much is cut off."""
    buffer = bytearray()
    for chunk in _chunks(stream, deadline):
        buffer += chunk
        if len(buffer) > MAX_BYTES:
            break
    return buffer[:MAX_BYTES].decode("utf-8-sig", "replace")


def _chunks(stream: TextIO | None, deadline: Deadline) -> Iterator[bytes]:
    """Yield what comes, and nothing once at the end, or where the stream is no use any more."""
    try:
        descriptor = stream.fileno() if stream is not None else -1
        while descriptor >= 0:
            wait = min(IDLE_SECONDS, deadline.remaining())
            ready, _, _ = select.select([descriptor], [], [], wait)
            chunk = os.read(descriptor, _CHUNK) if ready else b""
            yield chunk
            if not chunk:
                return
    except OSError:  # a folder, a terminal that went away, a descriptor that is none
        return

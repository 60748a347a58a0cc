"""Lines of JSON, one message each, as they go over the daemon's socket.

The peer is a process of the same user and may still be anything, so lines and what waits for a
peer that does not read are bounded.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any

from cognee_hooks.payload import MAX_BYTES

_CHUNK = 256 * 1024
_LOG = logging.getLogger(__name__)


class Nonsense(Exception):
    """The peer does not keep to the protocol; the message names how, never what it sent."""


class LineWriter:
    """Sends messages to a peer that may not read them.

    Args:
        writer: To the peer.
        max_line: Longest line, in bytes.
    """

    def __init__(self, writer: asyncio.StreamWriter, max_line: int = MAX_BYTES) -> None:
        self._writer = writer
        self._max_line = max_line

    def send(self, message: Mapping[str, Any]) -> bool:
        """Send a message; tells whether the peer may still get it."""
        if self._writer.is_closing():
            return False
        if self._writer.transport.get_write_buffer_size() > self._max_line:
            _LOG.warning("a line of messages was closed: the peer does not read")
            self._writer.transport.abort()
            return False
        line = json.dumps(message)
        if len(line) > self._max_line:
            line = json.dumps({"id": message.get("id"), "error": "The answer is too long."})
        self._writer.write(line.encode() + b"\n")
        return True


async def lines_of(reader: asyncio.StreamReader, limit: int) -> AsyncIterator[bytes]:
    """Yield lines, without their ends; an unfinished one at the end is dropped.

    Raises:
        Nonsense: A line is longer than the limit.
    """
    held = bytearray()
    while chunk := await reader.read(_CHUNK):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            held += part
            _check(held, limit)
            yield bytes(held)
            held.clear()
        held += rest
        _check(held, limit)


def _check(line: bytearray, limit: int) -> None:
    if len(line) > limit:
        raise Nonsense("a line is too long")


def parsed(line: bytes) -> Mapping[str, Any]:
    """Return a line as a message.

    Raises:
        Nonsense: It is none.
    """
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Nonsense("a line is no JSON") from error
    if not isinstance(message, dict):
        raise Nonsense("a line is no JSON object")
    return message

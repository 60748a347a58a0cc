"""Listens on a TCP port of this machine."""

from __future__ import annotations

import socket

from cognee_hooks.errors import UsageError


def listen(host: str, port: int) -> socket.socket:
    """Return a bound socket, for a server to listen on.

    Args:
        host: Address.
        port: Port; 0 takes a free one.

    Raises:
        UsageError: The address cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The event loop turns Nagle's algorithm off only where it sees that the protocol is TCP; with
    # it, every answer on a kept connection would be 40 ms late.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # A restart may take over a port whose old connections are still closing down.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise UsageError(
            f"Cannot listen on {host} port {port}: {error.strerror}. "
            "Choose another port, or 0 for a free one."
        ) from error
    return listener

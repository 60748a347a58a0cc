from __future__ import annotations

import socket

import pytest

from cognee_hooks.errors import UsageError
from cognee_hooks.services.listening import listen


def test_small_answers_are_not_held_back():
    """Nagle's algorithm is off on connections that the event loop knows to be TCP."""
    with listen("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP
        assert listener.getsockname()[0] == "127.0.0.1"


def test_a_port_that_is_taken_is_told_with_what_to_do():
    with listen("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port}: .* 0 for a free one"):
            listen("127.0.0.1", port)

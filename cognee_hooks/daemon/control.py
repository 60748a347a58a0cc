"""Talks to a running daemon, for the command line."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from cognee_hooks.daemon import thin_client
from cognee_hooks.deadline import Deadline
from cognee_hooks.payload import first_object
from cognee_hooks.services.process import is_alive

ANSWER_SECONDS = 5.0
_CHUNK = 65536
_MAX_BYTES = 4 * 1024 * 1024


def ask(folder: Path, verb: str) -> Mapping[str, Any] | None:
    """Send a control request.

    Args:
        folder: The daemon's folder.
        verb: ``status`` or ``stop``.

    Returns:
        The answer; None where no daemon answers.
    """
    try:
        connection = thin_client.connect(os.fsencode(folder))
    except OSError:
        return None
    with closing(connection):
        connection.settimeout(ANSWER_SECONDS)
        opening = thin_client.compose("control", "", "", {})
        try:
            connection.sendall(opening + json.dumps({"do": verb}).encode())
            data = b""
            while len(data) < _MAX_BYTES and (chunk := connection.recv(_CHUNK)):
                data += chunk
        except OSError:
            return None
    return first_object(data, ended=True)


def stop(folder: Path, deadline: Deadline) -> bool:
    """Ask the daemon to end, and wait until it has; tells whether none runs any more."""
    reply = ask(folder, "stop")
    if reply is None:
        return True
    pid = reply.get("pid")
    while isinstance(pid, int) and is_alive(pid):
        if deadline.expired:
            return False
        time.sleep(0.02)
    return True


def start(folder: Path, environ: Mapping[str, str], deadline: Deadline) -> Mapping[str, Any] | None:
    """Start a daemon if none runs, and return its status; None where it does not come up."""
    raw = {os.fsencode(name): os.fsencode(value) for name, value in environ.items()}
    while (reply := ask(folder, "status")) is None and not deadline.expired:
        thin_client.start_daemon(os.fsencode(folder), raw)
        time.sleep(0.05)
    return reply

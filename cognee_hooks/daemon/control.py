"""Talks to a running daemon, for the command line."""

from __future__ import annotations

import fcntl
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
from cognee_hooks.services.process_table import is_alive
from cognee_hooks.services.statefile import make_private_folder

ANSWER_SECONDS = 5.0
MAX_STARTS = 3
"""A daemon that ends so often before it answers will not come up by being started once more."""
MAX_BYTES = 4 * 1024 * 1024
"""Of an answer; what is longer is not read to its end, and so is none."""

_CHUNK = 65536
_POLL_SECONDS = 0.02


def ask(
    folder: Path, verb: str, deadline: Deadline | None = None, **fields: object
) -> Mapping[str, Any] | None:
    """Send a control request.

    Args:
        folder: The daemon's folder.
        verb: ``status``, ``stop``, ``plugins`` (how plugins behave in live sessions), or
            ``prompts`` (the latest of the one with the ``session_id``, and what was injected).
        deadline: When to give up, at the latest after `ANSWER_SECONDS`.
        **fields: What else the request says.

    Returns:
        The answer; None where no daemon answers. A daemon of another version may not know the verb;
        it answers with an ``error``.
    """
    limit = deadline.within(ANSWER_SECONDS) if deadline else Deadline.after(ANSWER_SECONDS)
    try:
        connection = thin_client.connect(os.fsencode(folder))
    except OSError:
        return None
    data = bytearray()
    with closing(connection):
        opening = thin_client.compose("control", "", "", {})
        try:
            connection.settimeout(limit.remaining())
            connection.sendall(opening + json.dumps({**fields, "do": verb}).encode())
            while len(data) < MAX_BYTES and (chunk := connection.recv(_CHUNK)):
                data += chunk
                connection.settimeout(limit.remaining())
        except OSError:
            return None
    return first_object(data, ended=True)


def runs(folder: Path) -> bool:
    """Tell whether there is a daemon; it may be starting, ending, or unable to answer."""
    try:
        lock = os.open(folder / "lock", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        # Shared, so that two of us do not take each other for a daemon.
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def stop(folder: Path, deadline: Deadline) -> bool:
    """Ask the daemon to end, and wait until it has; tells whether none runs any more."""
    while (reply := ask(folder, "stop", deadline)) is None and runs(folder):
        if deadline.expired:
            return False
        time.sleep(_POLL_SECONDS)
    # The next event of an agent may have started another one, which is not meant.
    pid = (reply or {}).get("pid")
    while is_alive(pid) if isinstance(pid, int) else runs(folder):
        if deadline.expired:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def start(folder: Path, environ: Mapping[str, str], deadline: Deadline) -> Mapping[str, Any] | None:
    """Start a daemon if none runs, and return its status; None where it does not come up.

    Raises:
        OSError: It cannot be started.
    """
    make_private_folder(folder)
    where = os.fsencode(folder)
    raw = {os.fsencode(name): os.fsencode(value) for name, value in environ.items()}
    starts = 0
    while True:
        # Asked first: a daemon listens before it says that it has started.
        starting = thin_client.is_starting(where)
        if (reply := ask(folder, "status", deadline)) is not None or deadline.expired:
            return reply
        if not starting:
            if starts == MAX_STARTS:
                return None
            thin_client.start_daemon(where, raw)
            starts += 1
        time.sleep(_POLL_SECONDS)

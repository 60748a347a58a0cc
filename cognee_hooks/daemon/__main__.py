"""``python -m cognee_hooks.daemon``: becomes the daemon, if there is none."""

from __future__ import annotations

import argparse
import fcntl
import logging
import os
import resource
import time
from contextlib import suppress
from pathlib import Path

from cognee_hooks.services.logfile import LogFile, LogHandler
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.process import current_environ
from cognee_hooks.services.statefile import make_private_folder

HANDOVER_SECONDS = 20.0
"""How long to wait for another daemon that is just ending."""
OPEN_FILES = 8192
"""Descriptors that the daemon may use; a session takes one for its agent, and up to a few for the
server, and systems allow 256 or 1024 where nobody asks for more."""
LOG_BYTES = 1_000_000
LOG_FILES = 3
_LOG = logging.getLogger(__name__)


def main() -> None:
    """Take the lock, or leave it to whoever has it, and serve."""
    parser = argparse.ArgumentParser(prog="python -m cognee_hooks.daemon")
    parser.add_argument("--starting", type=int, help="descriptor to close when the socket is there")
    options = parser.parse_args()
    os.umask(0o077)  # logs hold no text of anybody, but names of folders and plugins
    paths = Paths.of(current_environ(), "daemon")
    make_private_folder(paths.daemon_dir)
    paths.daemon_dir.chmod(0o700)
    path = paths.daemon_dir / "lock"
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if not _locked(lock) or not _is_at(path, lock):
        return
    _log_to(paths.daemon_dir / "daemon.log")
    _allow_many_files()

    # Only whoever has the lock pays for loading all of this.
    import asyncio

    from cognee_hooks.daemon.daemon import Daemon
    from cognee_hooks.faults import innermost
    from cognee_hooks.guard import attempt

    async def serve() -> None:
        await Daemon(paths, lock).run(options.starting)

    done = attempt(asyncio.run, serve())
    if done.error is not None:
        where = innermost(done.error.__traceback__)
        _LOG.critical("the daemon failed: %s in %s", type(done.error).__name__, where)
    logging.shutdown()
    # Threads of plugins that hang would keep a normal exit waiting.
    os._exit(0 if done.error is None else 1)


def _locked(lock: int) -> bool:
    """Take the lock; another daemon that holds it and does not end leaves no room for us."""
    until = time.monotonic() + HANDOVER_SECONDS
    while time.monotonic() < until:
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(0.05)
    return False


def _is_at(path: Path, lock: int) -> bool:
    """Tell whether the lock is the one that others find; the folder may be gone meanwhile."""
    try:
        return os.path.samestat(path.stat(), os.fstat(lock))
    except OSError:
        return False


def _allow_many_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _log_to(path: Path) -> None:
    root = logging.getLogger()
    root.addHandler(LogHandler(LogFile(path, max_bytes=LOG_BYTES, kept=LOG_FILES)))
    root.setLevel(logging.WARNING)
    logging.getLogger("cognee_hooks").setLevel(logging.INFO)


if __name__ == "__main__":
    main()

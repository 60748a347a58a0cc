"""Small files that several processes read and write, and that survive a kill at any instant.

Readers take whatever lies there: absent, torn, alien, huge, a pipe, a symbolic link to itself are
all "nothing". Writers make the new content complete in the same folder and put it in place with one
rename. Locks are exclusively created files that say who holds them, as the other cognee plugins use
them, so that each sees the other's.
"""

from __future__ import annotations

import errno
import fcntl
import json
import math
import os
import secrets
import stat
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from cognee_hooks.deadline import Deadline
from cognee_hooks.services.lock import Lock
from cognee_hooks.services.process_table import is_alive, start_time

MAX_BYTES = 16_000_000
"""Longest file that is read, in bytes."""
STALE_AFTER = 30.0
"""Seconds after which a lock no longer counts, whoever holds it."""
LOCK_SECONDS = 2.0
"""Longest wait for a lock where the caller names no deadline."""

_TORN_AFTER = 5.0  # seconds; a lock file that says nothing is being written, or its writer died
_POLL_SECONDS = 0.01
_FOREIGN_WRITERS = stat.S_IWGRP | stat.S_IWOTH


# -- reading -----------------------------------------------------------------------------------


def read_bytes(path: Path, *, max_bytes: int = MAX_BYTES, private: bool = False) -> bytes | None:
    """Return the content of a regular file, or None where it cannot be had.

    Args:
        path: The file; a symbolic link is followed.
        max_bytes: A longer file counts as absent.
        private: Count a file as absent that another user owns or can write to.
    """
    try:
        # Without O_NONBLOCK a named pipe in the place of the file would hold us for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > max_bytes:
            return None
        if private and (facts.st_uid != os.geteuid() or facts.st_mode & _FOREIGN_WRITERS):
            return None
        return _read_up_to(descriptor, max_bytes)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _read_up_to(descriptor: int, max_bytes: int) -> bytes | None:
    # The size may have grown since it was looked at.
    parts: list[bytes] = []
    left = max_bytes + 1
    while left > 0 and (part := os.read(descriptor, min(left, 1 << 20))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts) if left > 0 else None


def read_json(path: Path, *, max_bytes: int = MAX_BYTES, private: bool = False) -> object | None:
    """Return the JSON value in a file, or None where there is none that can be used.

    Args:
        path: The file.
        max_bytes: A longer file counts as absent.
        private: Count a file as absent that another user owns or can write to.
    """
    content = read_bytes(path, max_bytes=max_bytes, private=private)
    if content is None:
        return None
    try:
        value: object = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    return value


def read_object(path: Path, *, max_bytes: int = MAX_BYTES, private: bool = False) -> dict[str, Any]:
    """Return the JSON object in a file, empty where there is none that can be used."""
    value = read_json(path, max_bytes=max_bytes, private=private)
    return value if isinstance(value, dict) else {}


def finite(value: object) -> float:
    """Return a number read from a file, 0.0 where it is none or not finite."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0.0
    try:
        number = float(value)
    except OverflowError:
        return 0.0
    return number if math.isfinite(number) else 0.0


# -- writing -----------------------------------------------------------------------------------


def make_private_folder(folder: Path) -> None:
    """Make a folder and its missing parents, each 0700.

    Raises:
        OSError: It cannot be made, or something else has its name.
    """
    if folder.is_dir():
        return
    make_private_folder(folder.parent)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))


def write_atomic(path: Path, data: bytes, *, mode: int = 0o600, durable: bool = True) -> None:
    """Replace a file as a whole; readers see the old content or the new one, never a part.

    A symbolic link in its place is replaced, not followed.

    Args:
        path: The file; missing parents are made 0700.
        data: Its new content.
        mode: Its permissions, in force from the first byte.
        durable: Whether the content must survive a power cut, which costs two flushes to disk.

    Raises:
        OSError: It cannot be written; the old content is still there.
    """
    make_private_folder(path.parent)
    temporary = path.parent / f".{path.name[:100]}.{os.getpid()}.{secrets.token_hex(6)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    if durable:
        _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    # The rename itself is in the folder's data. Some file systems cannot flush a folder.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_json(
    path: Path,
    value: object,
    *,
    mode: int = 0o600,
    durable: bool = True,
    indent: int | None = None,
) -> None:
    """Replace a file by a JSON value; see `write_atomic`.

    Raises:
        OSError: It cannot be written.
        ValueError: The value holds lone surrogates, NaN or itself.
        TypeError: The value is not JSON.
    """
    text = json.dumps(
        value,
        ensure_ascii=False,
        allow_nan=False,
        indent=indent,
        separators=(",", ":") if indent is None else None,
    )
    end = "" if indent is None else "\n"
    write_atomic(path, (text + end).encode(), mode=mode, durable=durable)


def update_json(
    path: Path,
    change: Callable[[dict[str, Any]], Mapping[str, Any] | None],
    *,
    deadline: Deadline | None = None,
    durable: bool = True,
) -> dict[str, Any]:
    """Change a JSON object in a file under a lock that all processes of this project honour.

    Args:
        path: The file; its lock lies beside it, named ``<name>.lock``.
        change: Gets the object (empty where the file is absent or damaged) and returns what takes
            its place, or None to leave the file alone.
        deadline: How long to wait for the lock; by default `LOCK_SECONDS`.
        durable: See `write_atomic`.

    Returns:
        The object that the file holds now.

    Raises:
        TimeoutError: Another process holds the lock.
        OSError: The file cannot be written.
    """
    lock = LockFile(path.with_name(f"{path.name}.lock"))
    with lock.holding(deadline or Deadline.after(LOCK_SECONDS)):
        current = read_object(path)
        changed = change(current)
        if changed is None:
            return current
        write_json(path, changed, durable=durable)
        return dict(changed)


# -- locks -------------------------------------------------------------------------------------


class LockFile(Lock):
    """A lock that is a file: ``{"owner", "pid", "start_time", "time", "token"}``.

    The file is created exclusively and removed by its holder. It counts as stale when its process
    is gone (or its id was given to another one), when it is older than ``stale_after``, or when it
    says nothing readable for five seconds.

    Looking at the file and then taking or removing it are two steps, and between them somebody else
    may have done the same; so these two steps are done under a kernel lock on ``<name>.guard``,
    held for microseconds and given back by the kernel if we are killed. Two processes can therefore
    never both take over a stale lock.

    Args:
        path: The lock file; missing parents are made 0700.
        owner: Who we are, for people who look at the file.
        stale_after: Seconds.
        now: Epoch seconds.
    """

    def __init__(
        self,
        path: Path,
        *,
        owner: str = "cognee-hooks",
        stale_after: float = STALE_AFTER,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(path, _POLL_SECONDS)
        self._owner = owner
        self._stale_after = stale_after
        self._now = now
        self._token = ""

    @property
    def held(self) -> bool:
        """Whether the file says that it is ours; it may have been taken over as too old."""
        return bool(self._token) and read_object(self._path).get("token") == self._token

    def try_acquire(self) -> bool:
        """Take the lock if it is free or stale.

        Raises:
            OSError: The lock file cannot be written.
        """
        make_private_folder(self._path.parent)
        with _Guard(self._path) as guarded:
            if not guarded or not self._cleared():
                return False
            return self._create()

    def release(self) -> None:
        """Give the lock back; does nothing where we do not hold it, or no longer.

        A child process that inherited this object does not hold the lock.
        """
        # Without the guard we could remove a lock that was taken over a moment ago.
        limit = Deadline.after(LOCK_SECONDS)
        while self._token and not limit.expired:
            with suppress(OSError), _Guard(self._path) as guarded:
                if guarded:
                    self._remove_own()
                    return
            time.sleep(_POLL_SECONDS)

    def _create(self) -> bool:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            descriptor = os.open(self._path, flags, 0o600)
        except FileExistsError:  # a program that knows nothing of the guard was faster
            return False
        token = secrets.token_hex(8)
        content = {
            "owner": self._owner,
            "pid": os.getpid(),
            "start_time": start_time(os.getpid()),
            "time": self._now(),
            "token": token,
        }
        with os.fdopen(descriptor, "wb") as file:
            file.write(json.dumps(content).encode())
        self._token = token
        return True

    def _cleared(self) -> bool:
        """Remove a stale lock; tells whether the way is free."""
        try:
            age = self._now() - self._path.lstat().st_mtime
        except FileNotFoundError:
            return True
        content = read_object(self._path, max_bytes=10_000)
        if not self._is_stale(content, age):
            return False
        self._path.unlink(missing_ok=True)
        return True

    def _is_stale(self, content: Mapping[str, Any], age: float) -> bool:
        # A file from the future comes from a clock that was set back, and would never grow old.
        if not -self._stale_after <= age <= self._stale_after:
            return True
        pid = content.get("pid")
        if not isinstance(pid, int):
            return age > _TORN_AFTER
        return not is_alive(pid, str(content.get("start_time") or ""))

    def _remove_own(self) -> None:
        content = read_object(self._path)
        if content.get("token") == self._token and content.get("pid") == os.getpid():
            self._path.unlink(missing_ok=True)
        self._token = ""


class _Guard:
    """A kernel lock around looking at a lock file and acting on it; never waits."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f".{path.name}.guard")
        self._descriptor = -1

    def __enter__(self) -> bool:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._descriptor = os.open(self._path, flags, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._descriptor)

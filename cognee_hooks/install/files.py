"""Reads settings files, and the copies that earlier runs kept of them."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from cognee_hooks.errors import InstallRefused
from cognee_hooks.services.statefile import MAX_BYTES, read_bytes

BACKUP_MARK = ".cognee-hooks-backup-"
_MAX_BACKUPS = 20


def read(path: Path) -> bytes | None:
    """Return the content of a settings file, or None where there is none.

    Raises:
        InstallRefused: Something is there that cannot be read as a file.
    """
    try:
        facts = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise refused(path, _reason(error)) from error
    if not stat.S_ISREG(facts.st_mode):
        raise refused(path, "it is not a regular file")
    if facts.st_size > MAX_BYTES:
        raise refused(path, f"it is larger than {MAX_BYTES // 1_000_000} MB")
    content = read_bytes(path)
    if content is None:
        raise refused(path, "it cannot be read")
    return content


def refused(path: Path, reason: str) -> InstallRefused:
    """Return the refusal to touch a file."""
    return InstallRefused(f"{path}: {reason}. Nothing was changed.")


def refused_for(path: Path, error: OSError) -> InstallRefused:
    """Return the refusal for what the system said about a file."""
    return refused(path, _reason(error))


def backups(path: Path) -> Iterator[bytes]:
    """Yield what earlier runs kept of a file, newest first."""
    pattern = f"{_literal(path.name)}{BACKUP_MARK}*"
    for each in sorted(path.parent.glob(pattern), reverse=True)[:_MAX_BACKUPS]:
        content = read_bytes(each)
        if content is not None:
            yield content


def original(
    path: Path, cleaned: bytes, install_and_clean: Callable[[bytes], bytes | None]
) -> bytes | None:
    """Return the copy from which a file came, to the last byte, if one is still there.

    A file cannot tell whether an object that is empty without our entries was empty before, or not
    there. A copy that would come out just like the file differs from it in nothing else, so that
    bringing it back loses no change that anybody made since.

    Args:
        path: The file.
        cleaned: The file's content without our entries.
        install_and_clean: Adds our entries to a content and takes them out again; None where that
            cannot be done, or the content holds entries of ours to begin with.
    """
    return next((each for each in backups(path) if install_and_clean(each) == cleaned), None)


def backup_path(path: Path, now: datetime) -> Path:
    """Return a free name for the copy of a file."""
    base = path.with_name(f"{path.name}{BACKUP_MARK}{now:%Y%m%d-%H%M%S}")
    candidate, number = base, 1
    while os.path.lexists(candidate):
        number += 1
        candidate = base.with_name(f"{base.name}-{number}")
    return candidate


def _literal(name: str) -> str:
    return "".join(f"[{each}]" if each in "*?[" else each for each in name)


def _reason(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "it is a symbolic link that leads back to itself"
    if error.errno == errno.ENOTDIR:
        return "a part of this path is a file where a folder is needed"
    return f"it cannot be read or written ({error.strerror})"

"""Rows about this machine: room on the disk, and who may read what is kept."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from cognee_hooks.doctor.rows import failed, info, ok, warning
from cognee_hooks.results import CheckResult
from cognee_hooks.services.permissions import open_to_others

if TYPE_CHECKING:
    from cognee_hooks.host import Host
    from cognee_hooks.services.paths import Paths

MIN_FREE = 200 * 1024 * 1024
"""Bytes below which a person should know; entries are small, and other programs fail first."""
LAST_FREE = 5 * 1024 * 1024
LARGE_STATE = 1024 * 1024 * 1024
MAX_FILES = 20_000
MAX_LOOSE = 5


def checks(host: Host) -> list[CheckResult]:
    """Return all rows; may take as long as the file system does."""
    return [*_disk(host.paths), *_permissions(host.paths)]


def _disk(paths: Paths) -> Iterator[CheckResult]:
    root = paths.daemon_dir.parent
    try:
        facts = os.statvfs(_existing(root))
    except OSError as error:
        yield failed("disk", f"{root}: {error.strerror}", f"mend {root}, where captures wait")
        return
    free = facts.f_bavail * facts.f_frsize
    detail = f"{_size(free)} free at {root}"
    make_room = "make room: what cannot be written is kept in memory only"
    if free < LAST_FREE:
        yield failed("disk", detail, make_room)
    elif free < MIN_FREE:
        yield warning("disk", detail, make_room)
    else:
        yield ok("disk", detail)
    yield _state(root)


def _state(root: Path) -> CheckResult:
    files = list(islice(_files(root), MAX_FILES))
    used = sum(map(_bytes, files))
    more = "more than " if len(files) == MAX_FILES else ""
    detail = f"{more}{_size(used)} in {more}{len(files)} files below {root}"
    if used > LARGE_STATE:
        return warning("state", detail, "`cognee-hooks status` shows what waits, and for whom")
    return ok("state", detail) if files else info("state", f"nothing is kept below {root} yet")


def _permissions(paths: Paths) -> list[CheckResult]:
    known = [path for path in _private(paths) if os.path.lexists(path)]
    loose = [(path, mode) for path in known if (mode := _loose(path)) is not None]
    if not loose:
        text = f"private files and folders are yours alone ({len(known)} looked at)"
        return [ok("permissions", text)] if known else []
    return [
        warning(
            "permissions",
            f"others can get at {path} ({mode:04o})",
            f"`chmod go-rwx {path}`",
        )
        for path, mode in loose[:MAX_LOOSE]
    ]


def _private(paths: Paths) -> Iterator[Path]:
    """Yield what nobody else should read: it holds keys, buffers, or says what was done when."""
    yield from (paths.key_file, paths.key_file.parent, paths.api_key_cache, paths.config_file)
    yield from (paths.state_dir, paths.daemon_dir, paths.bridge_dir, paths.sessions_dir)
    yield from (paths.ledger_dir, paths.code_dir, paths.daemon_dir / "socket")
    yield from (paths.daemon_dir / name for name in ("daemon.log", "journal", "spool"))
    yield from islice(paths.bridge_dir.glob("*.json"), MAX_FILES)


def _loose(path: Path) -> int | None:
    """Return the mode of what others can get at; None where they cannot."""
    try:
        facts = path.lstat()
    except OSError:
        return None
    mode = stat.S_IMODE(facts.st_mode)
    if stat.S_ISLNK(facts.st_mode):
        return None
    return mode if open_to_others(mode) else None


def _existing(path: Path) -> Path:
    """Return the nearest folder that is there."""
    return next((each for each in (path, *path.parents) if each.is_dir()), Path(os.sep))


def _files(root: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(root):
        yield from (Path(folder, name) for name in names)


def _bytes(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:  # gone meanwhile
        return 0


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:  # noqa: PLR2004 - what the units are made of
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"

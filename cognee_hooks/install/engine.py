"""Shows a plan and carries it out: all of it or nothing, as far as a file system allows."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from cognee_hooks.install.files import backup_path, backups, read, refused, refused_for
from cognee_hooks.install.plan import FileChange, Plan
from cognee_hooks.printable import clean
from cognee_hooks.services.statefile import write_atomic

_MAX_LINE = 400


@dataclass(slots=True)
class InstallReport:
    """What was done.

    Attributes:
        written: Files that were made or changed.
        removed: Files that are gone.
        backups: Copies of files as they were before.
    """

    written: list[Path] = field(default_factory=list)
    removed: list[Path] = field(default_factory=list)
    backups: list[Path] = field(default_factory=list)


def diff(plan: Plan) -> str:
    """Return the plan as a unified diff, safe for a terminal."""
    return "".join(line for each in plan.effective for line in _diff_of(each))


def _diff_of(change: FileChange) -> Iterator[str]:
    name = clean(str(change.path))
    if change.wholly_ours and (change.before is None or change.after is None):
        count = len(_lines(change.before or change.after))
        what = "new file" if change.before is None else "file to be removed"
        yield f"{name}: {what}, wholly ours, {count} lines\n"
        return
    lines = difflib.unified_diff(
        _lines(change.before),
        _lines(change.after),
        fromfile=os.devnull if change.before is None else name,
        tofile=os.devnull if change.after is None else name,
    )
    for line in lines:
        text = clean(line).rstrip("\n")
        yield (text if len(text) <= _MAX_LINE else f"{text[:_MAX_LINE]}…") + "\n"


def _lines(content: bytes | None) -> list[str]:
    return (content or b"").decode("utf-8", "replace").splitlines(keepends=True)


def apply(plan: Plan, now: datetime) -> InstallReport:
    """Carry a plan out.

    Everything is checked before anything is written. Where writing fails all the same, what was
    written before is put back.

    Args:
        plan: What to do.
        now: Names the copies that are kept.

    Raises:
        InstallRefused: A file cannot be written, or changed since the plan was made; nothing was
            changed.
    """
    changes = plan.effective
    for each in changes:
        _check(each)
    report = InstallReport()
    done: list[FileChange] = []
    for each in changes:
        try:
            _keep_copy(each, now, report)
            _write(each, report)
        except OSError as error:
            for earlier in reversed(done):
                _put_back(earlier)
            raise refused_for(each.path, error) from error
        done.append(each)
    for folder in plan.empty_folders:
        with suppress(OSError):  # somebody else's files are in it, or it is not there
            folder.rmdir()
    return report


def keep_backup(path: Path, content: bytes, mode: int, now: datetime) -> Path | None:
    """Keep a copy of a file beside it, unless there is one with the same content.

    Returns:
        The copy that was made.

    Raises:
        OSError: It cannot be written.
    """
    if content in backups(path):
        return None
    copy = backup_path(path, now)
    write_atomic(copy, content, mode=mode)
    return copy


def _check(change: FileChange) -> None:
    if read(change.path) != change.before:
        raise refused(change.path, "another program changed it just now; run the command again")
    real = Path(os.path.realpath(change.path))
    for path in {change.path, real}:
        _check_folder(path)
    if change.before is None:
        return
    facts = real.stat()
    # Root may write everything, but somebody made this file read-only for a reason.
    if not facts.st_mode & stat.S_IWUSR or not os.access(real, os.W_OK):
        where = "" if real == change.path else f" (it leads to {real})"
        raise refused(
            change.path,
            f"it is read-only{where}. Make it writable, or change it where it is managed, with "
            "what `--dry-run` shows",
        )
    if facts.st_uid != os.geteuid() != 0:
        raise refused(change.path, "it belongs to another user; run the command as that user")


def _check_folder(path: Path) -> None:
    folder = path.parent
    while not os.path.lexists(folder):
        folder = folder.parent
    if not folder.is_dir():
        raise refused(path, f"{folder} is not a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise refused(path, f"the folder {folder} is read-only")


def _keep_copy(change: FileChange, now: datetime, report: InstallReport) -> None:
    if change.before is None or change.wholly_ours:
        return
    mode = stat.S_IMODE(change.path.stat().st_mode)
    copy = keep_backup(change.path, change.before, mode, now)
    if copy is not None:
        report.backups.append(copy)


def _write(change: FileChange, report: InstallReport) -> None:
    real = Path(os.path.realpath(change.path))
    if change.after is None:
        real.unlink()
        report.removed.append(change.path)
        return
    facts = real.stat() if change.before is not None else None
    mode = change.mode if facts is None else stat.S_IMODE(facts.st_mode)
    write_atomic(real, change.after, mode=mode)
    # The mask of this process may have taken bits away that the file had.
    real.chmod(mode)
    if facts is not None and facts.st_uid != os.geteuid():
        os.chown(real, facts.st_uid, facts.st_gid)
    report.written.append(change.path)


def _put_back(change: FileChange) -> None:
    """Undo a change that was made a moment ago; the copy beside the file is still there."""
    with suppress(OSError):
        back = FileChange(
            path=change.path, before=change.after, after=change.before, mode=change.mode
        )
        _write(back, InstallReport())

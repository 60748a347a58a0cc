"""Reads a file that somebody wants remembered, unless it should not or cannot be."""

from __future__ import annotations

import stat
from dataclasses import dataclass, field
from pathlib import Path

from cognee_hooks.denied import DeniedPaths
from cognee_hooks.errors import UsageError
from cognee_hooks.services.statefile import read_bytes

MAX_BYTES = 200_000
_LOOKED_AT = 8192
_TEXT_CONTROLS = frozenset(b"\t\n\r")
_MAX_CONTROLS = 0.1
_SPACE = 32


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file as it was read.

    Attributes:
        path: Where it lies, behind all links.
        name: Its name as it was given.
        text: What it holds.
        size: Bytes.
    """

    path: Path
    name: str
    text: str = field(repr=False)
    size: int


def read_file(given: str, cwd: str, home: Path, denied: DeniedPaths) -> TextFile:
    """Read a text file.

    A path that is denied is refused before anything is looked at, so that nobody learns whether it
    is there.

    Args:
        given: The path; from ``cwd`` if it is relative, from ``home`` if it begins with ``~/``.
        cwd: Working directory of the session.
        home: The user's home folder.
        denied: Files that are never remembered.

    Raises:
        UsageError: It is not remembered; the message says why.
    """
    secret = UsageError(
        f"refusing likely-secret file '{given}': remember the part that is no secret as text"
    )
    if denied.denies(given):
        raise secret
    path = _absolute(given, cwd, home)
    if denied.denies_file(path):
        raise secret
    try:
        # What was found harmless is read, also if a link in the path is turned meanwhile.
        real = path.resolve()
        facts = real.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"file not found: {path}") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {type(error).__name__}") from None
    if not stat.S_ISREG(facts.st_mode):
        raise UsageError(f"not a file: {path}")
    if facts.st_size > MAX_BYTES:
        raise UsageError(
            f"file too large ({facts.st_size} bytes; limit {MAX_BYTES}): remember a summary instead"
        )
    content = read_bytes(real, max_bytes=MAX_BYTES)
    if content is None:
        raise UsageError(f"cannot read {path}")
    return TextFile(real, path.name, text_in(content, path), len(content))


def _absolute(given: str, cwd: str, home: Path) -> Path:
    if given == "~" or given.startswith("~/"):
        return home / given[2:].lstrip("/")
    if not Path(given).is_absolute() and not cwd:
        raise UsageError(f"'{given}' is relative, and this session has no folder: give a full path")
    return Path(cwd) / given


def text_in(content: bytes, path: object) -> str:
    """Return the text in a file.

    Raises:
        UsageError: It holds none.
    """
    beginning = content[:_LOOKED_AT]
    if 0 in beginning:
        raise UsageError(f"binary file rejected (NUL byte): {path}")
    controls = sum(each < _SPACE and each not in _TEXT_CONTROLS for each in beginning)
    if controls > len(beginning) * _MAX_CONTROLS:
        raise UsageError(f"binary file rejected (too many control characters): {path}")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise UsageError(f"not UTF-8 text: {path}; convert it, then remember it again") from None
    if not text.strip():
        raise UsageError(f"empty file: {path}")
    return text

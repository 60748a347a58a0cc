"""Plans the change of one JSON file of hooks, from bytes to bytes."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from pathlib import Path

from cognee_hooks.errors import InstallRefused
from cognee_hooks.install import jsonhooks
from cognee_hooks.install.command import MARKER
from cognee_hooks.install.files import original, read, refused
from cognee_hooks.install.jsonhooks import HookTable, WrongShapeError
from cognee_hooks.install.jsontext import JsonTextError, line_and_column
from cognee_hooks.install.plan import PRIVATE_MODE, FileChange


def plan_addition(
    path: Path, table: HookTable, agent: str, *, mode: int = PRIVATE_MODE
) -> FileChange:
    """Plan to add our entries to a file, which may be missing or empty.

    Args:
        path: The file.
        table: What belongs into it.
        agent: The agent's name for people.
        mode: Permissions of a new file.

    Raises:
        InstallRefused: The file cannot be read, or not by the agent.
    """
    before = read(path)
    after = _edited(path, before or b"", agent, lambda text: jsonhooks.add(text, table))
    return FileChange(path=path, before=before, after=after, mode=mode)


def plan_removal(path: Path, table: HookTable, agent: str) -> FileChange:
    """Plan to take our entries out of a file; what they alone needed goes with them.

    Args:
        path: The file.
        table: Says where to look.
        agent: The agent's name for people.

    Raises:
        InstallRefused: The file cannot be read although it seems to hold entries of ours.
    """
    before = read(path)
    if before is None or not before.strip():
        return FileChange(path=path, before=before, after=before)
    try:
        cleaned = _edited(path, before, agent, lambda text: jsonhooks.remove(text, table))
    except InstallRefused:
        if MARKER.encode() in before:
            raise
        return FileChange(path=path, before=before, after=before)
    if cleaned == before:
        return FileChange(path=path, before=before, after=before)
    after: bytes | None = original(path, cleaned, lambda each: _round_trip(path, each, table))
    if after is None and not jsonhooks.is_empty(_decoded(path, cleaned)[1]):
        after = cleaned
    # Of a file in which nothing is left, nothing has to be kept either.
    return FileChange(path=path, before=before, after=after, wholly_ours=after is None)


def text_of(path: Path, content: bytes | None) -> str:
    """Return a file's text without its byte order mark, "" where there is no file.

    Raises:
        InstallRefused: It is no UTF-8.
    """
    return _decoded(path, content or b"")[1]


def _round_trip(path: Path, content: bytes, table: HookTable) -> bytes | None:
    try:
        if content.strip() and _edited(path, content, "", _remover(table)) != content:
            return None
        added = _edited(path, content, "", lambda text: jsonhooks.add(text, table))
        return _edited(path, added, "", _remover(table))
    except InstallRefused:
        return None


def _remover(table: HookTable) -> Callable[[str], str]:
    return lambda text: jsonhooks.remove(text, table)


def _edited(path: Path, content: bytes, agent: str, edit: Callable[[str], str]) -> bytes:
    mark, text = _decoded(path, content)
    try:
        return mark + edit(text).encode()
    except JsonTextError as error:
        raise refused(
            path,
            f"line {error.line}, column {error.column}: {error.reason}. {agent} cannot read the "
            "file either. Correct it there and run the command again",
        ) from error
    except WrongShapeError as error:
        line, column = line_and_column(text, error.position)
        raise refused(
            path,
            f"line {line}, column {column}: {error.reason}, as {agent} expects. Correct it there "
            "and run the command again",
        ) from error


def _decoded(path: Path, content: bytes) -> tuple[bytes, str]:
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    try:
        return mark, content[len(mark) :].decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise refused(
            path, f"line {line}: it is not UTF-8 text. Save it as UTF-8 and run the command again"
        ) from error

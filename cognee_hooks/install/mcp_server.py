"""Registers our MCP server in agents' own settings."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cognee_hooks.install import command
from cognee_hooks.install.files import read, refused
from cognee_hooks.install.jsonhooks import WrongShapeError, is_empty
from cognee_hooks.install.jsonmember import TakenError, with_member, without_member
from cognee_hooks.install.jsontext import JsonTextError, Node, strings
from cognee_hooks.install.plan import PRIVATE_MODE, SHARED_MODE, FileChange, Place, Scope, Tools
from cognee_hooks.install.tomltable import ConfigEditError, table_of, with_table, without_table

SERVER = "cognee-hooks"
"""Its name at the agents; the plain ``cognee`` is another project's server."""
CONTAINER = "mcpServers"
TABLE = ("mcp_servers", SERVER)
PASSED_ON = (
    "COGNEE_API_KEY",
    "COGNEE_BASE_URL",
    "COGNEE_HOOKS_STATE_DIR",
    "COGNEE_PLUGIN_DATASET",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
)
"""Codex gives MCP servers of its environment only what is named. These lead to the daemon, and to
the memory server where no session lives."""
NO_SDK = (
    "The MCP SDK is not installed here, so the server cannot start yet: pip install "
    "'cognee-hooks[mcp]'"
)


def notes(place: Place) -> list[str]:
    """Return what a person should know who wants the server."""
    return [NO_SDK] if place.tools is Tools.MCP and find_spec("mcp") is None else []


def in_json(path: Path, place: Place, agent: str, title: str) -> FileChange:
    """Plan to have the server in a JSON file if it is wanted, or else not.

    Raises:
        InstallRefused: The file cannot be read, or the name belongs to somebody else.
    """
    before = read(path)
    if place.tools is not Tools.MCP:
        return out_of_json(path)
    program, *arguments = command.mcp_argv(agent)
    # Else new releases of Claude Code name the tools only, and the model has to look for them.
    value: dict[str, Any] = {"command": program, "args": arguments, "alwaysLoad": True}
    try:
        after = with_member(_decoded(path, before), CONTAINER, SERVER, value, _is_ours)
    except JsonTextError as error:
        reason = f"line {error.line}, column {error.column}: {error.reason}. {title} cannot read"
        raise refused(path, f"{reason} the file either. Correct it there") from error
    except WrongShapeError as error:
        raise refused(path, f"{error.reason}. Correct it there") from error
    except TakenError as error:
        raise refused(path, f"the MCP server {SERVER!r} in it is somebody else's") from error
    mode = SHARED_MODE if place.scope is Scope.PROJECT else PRIVATE_MODE
    return FileChange(path=path, before=before, after=after.encode(), mode=mode)


def out_of_json(path: Path) -> FileChange:
    """Plan to take the server out of a JSON file."""
    before = read(path)
    if before is None or SERVER.encode() not in before:
        return FileChange(path=path, before=before, after=before)
    try:
        text = without_member(_decoded(path, before), CONTAINER, SERVER, _is_ours)
    except JsonTextError as error:
        raise refused(path, f"line {error.line}: {error.reason}. Correct it there") from error
    after = None if is_empty(text) else text.encode()
    return FileChange(path=path, before=before, after=after, wholly_ours=after is None)


def in_toml(path: Path, before: bytes | None, place: Place, agent: str) -> bytes | None:
    """Return a Codex configuration with the server if it is wanted, or else without it.

    Args:
        path: The file.
        before: Its content, as other changes leave it.
        place: Where and how to install.
        agent: The adapter's name.

    Raises:
        InstallRefused: The file cannot be edited, or the name belongs to somebody else.
    """
    if place.tools is not Tools.MCP and SERVER.encode() not in (before or b""):
        return before
    text = _decoded(path, before)
    found = table_of(text, TABLE)
    ours = found is not None and command.MODULE in (found.get("args") or ())
    try:
        if place.tools is Tools.MCP:
            if found is not None and not ours:
                raise refused(path, f"the MCP server {SERVER!r} in it is somebody else's")
            program, *arguments = command.mcp_argv(agent)
            value = {"command": program, "args": arguments, "env_vars": list(PASSED_ON)}
            return with_table(text, TABLE, value).encode()
        cleaned = without_table(text, TABLE) if ours else text
    except ConfigEditError as error:
        raise refused(path, str(error)) from error
    if cleaned == text:
        return before
    return cleaned.encode() if cleaned.strip() else None


def _is_ours(text: str, node: Node) -> bool:
    return command.MODULE in strings(text, node)


def _decoded(path: Path, content: bytes | None) -> str:
    try:
        return (content or b"").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refused(path, "it is not UTF-8 text") from error

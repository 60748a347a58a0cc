"""Trust in our hooks, as Codex asks for it: looked up, granted and taken back."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import cognee_hooks
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import InstallRefused
from cognee_hooks.install import engine
from cognee_hooks.install.codex_config import trusted_hashes, with_trust
from cognee_hooks.install.codex_hooks import Hook, hooks_of
from cognee_hooks.install.command import MARKER
from cognee_hooks.install.files import read
from cognee_hooks.install.plan import FileChange, Place, Plan, Scope
from cognee_hooks.install.tomltable import ConfigEditError
from cognee_hooks.services.jsonlines import JsonLines, talking_to

SECONDS = 15.0
"""How long Codex may take to grant trust, its start included."""

BY_HAND = (
    "Start `codex` in a terminal; it asks to review new hooks. Until then Codex skips them, and "
    "`codex exec` does so without a word."
)


def hooks_path(place: Place) -> Path:
    """Return the hook file of a scope."""
    if place.scope is Scope.PROJECT:
        return place.cwd / ".codex" / "hooks.json"
    return codex_home(place) / "hooks.json"


def codex_home(place: Place) -> Path:
    """Return Codex's own folder as Codex names it: a folder from the variable without links."""
    folder = place.folder("CODEX_HOME", ".codex")
    return Path(os.path.realpath(folder)) if place.environ.get("CODEX_HOME", "").strip() else folder


def config_path(place: Place) -> Path:
    """Return the file in which Codex keeps what a person trusts."""
    return codex_home(place) / "config.toml"


def untrusted(place: Place, content: bytes | None) -> list[Hook]:
    """Return our hooks in a hook file that Codex would skip.

    Args:
        place: Where Codex looks.
        content: The hook file of the place's scope.
    """
    hooks = hooks_of((content or b"").decode("utf-8-sig", "replace"), hooks_path(place))
    trusted = trusted_hashes(_config(place))
    return [each for each in hooks if each.ours and trusted.get(each.key) != each.hash]


def codex_trust_problems(environ: Mapping[str, str], cwd: Path) -> list[str]:
    """Return the events whose hooks of ours are in place but not trusted, so that Codex skips them.

    Args:
        environ: The person's environment.
        cwd: The project.
    """
    events: dict[str, None] = {}
    for scope in (Scope.USER, Scope.PROJECT):
        place = Place(environ=environ, cwd=cwd, scope=scope)
        with suppress(InstallRefused):  # a file that nobody can read runs no hooks
            events |= dict.fromkeys(
                each.event for each in untrusted(place, read(hooks_path(place)))
            )
    return list(events)


def grant(place: Place, now: datetime) -> Sequence[str]:
    """Trust our hooks: by Codex itself where it can be asked, or else in its configuration.

    Args:
        place: Where Codex looks.
        now: Names the copy that is kept of the configuration.

    Returns:
        Lines about what was done, or what the person has to do.
    """
    path = config_path(place)
    try:
        before = read(path)
        lines = _through_codex(place, before, now)
        hooks = untrusted(place, read(hooks_path(place)))
        if hooks:
            lines = _through_file(path, {each.key: each.hash for each in hooks}, now)
    except (InstallRefused, ConfigEditError, UnicodeDecodeError, OSError) as error:
        return [f"The hooks could not be trusted in {path}: {error}", BY_HAND]
    return lines


def _through_file(path: Path, hashes: Mapping[str, str], now: datetime) -> list[str]:
    before = read(path)
    text = (before or b"").decode("utf-8")
    change = FileChange(path=path, before=before, after=with_trust(text, hashes).encode())
    report = engine.apply(Plan(changes=[change]), now)
    return [f"Trusted in {path}.", *(f"Copy of it as it was: {each}" for each in report.backups)]


def _through_codex(place: Place, before: bytes | None, now: datetime) -> list[str]:
    path = config_path(place)
    mode = stat.S_IMODE(path.stat().st_mode) if before is not None else 0
    program = shutil.which("codex", path=place.environ.get("PATH", ""))
    if program is None:
        return []
    with suppress(OSError, EOFError, ValueError, TimeoutError):
        asyncio.run(_trust(program, place))
    lines = [f"Trusted by Codex, in {path}."]
    if before is not None and read(path) != before:
        copy = engine.keep_backup(path, before, mode, now)
        lines += [f"Copy of it as it was: {copy}"] if copy else []
    return lines


async def _trust(program: str, place: Place) -> None:
    deadline = Deadline.after(SECONDS)
    async with talking_to(
        [program, "app-server"], deadline=deadline, env=place.environ, cwd=place.cwd
    ) as talk:
        about = {"name": "cognee-hooks", "title": "cognee-hooks"}
        client = about | {"version": cognee_hooks.__version__}
        await _ask(talk, 1, "initialize", {"clientInfo": client})
        await talk.send({"method": "initialized"})
        listed = await _ask(talk, 2, "hooks/list", {"cwds": [str(place.cwd)]})
        states = _found(listed, hooks_path(place))
        if states:
            edit = {"keyPath": "hooks.state", "value": states, "mergeStrategy": "upsert"}
            request = {"edits": [edit], "filePath": None, "expectedVersion": None}
            await _ask(talk, 3, "config/batchWrite", request)


async def _ask(talk: JsonLines, number: int, method: str, params: Mapping[str, Any]) -> Any:
    await talk.send({"id": number, "method": method, "params": params})
    while (message := await talk.receive()).get("id") != number or "method" in message:
        pass
    return message.get("result")


def _found(listed: Any, path: Path) -> dict[str, dict[str, str]]:
    """Return the states to be written for our hooks in one file, from Codex's list of all hooks."""
    folders = listed.get("data") if isinstance(listed, dict) else None
    states: dict[str, dict[str, str]] = {}
    for folder in folders if isinstance(folders, list) else []:
        hooks = folder.get("hooks") if isinstance(folder, dict) else None
        for hook in hooks if isinstance(hooks, list) else []:
            if not isinstance(hook, dict) or MARKER not in str(hook.get("command")):
                continue
            key, current = hook.get("key"), hook.get("currentHash")
            source = str(hook.get("sourcePath"))
            same = os.path.realpath(source) == os.path.realpath(path)
            if same and isinstance(key, str) and isinstance(current, str):
                states[key] = {"trusted_hash": current}
    return states


def _config(place: Place) -> str:
    try:
        return (read(config_path(place)) or b"").decode("utf-8", "replace")
    except InstallRefused:
        return ""

"""Writes down what every session did: one JSON object a line, without a word of what was said."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cognee_hooks import Leak, PluginContext, hookimpl, option
from cognee_hooks.events import (
    Event,
    PostToolUse,
    PostToolUseFailure,
    SessionEnd,
    SessionStart,
    UserPromptSubmit,
)
from cognee_hooks.results import CheckResult, CheckStatus, Scrubbed, ScrubState


@dataclass(frozen=True)
class Options:
    """Options of the plugin, under ``plugins: {audit-log: …}`` in the configuration."""

    file: Path = option(
        default=Path("~/cognee-audit.jsonl"),
        env="COGNEE_AUDIT_FILE",
        help="File that gets a line for each event.",
    )
    tools: tuple[str, ...] = option(
        default=(), env="COGNEE_AUDIT_TOOLS", help="Only calls of these tools; all if empty."
    )


class AuditLog:
    """The plugin; every session gets an object of its own."""

    def __init__(self, context: PluginContext) -> None:
        self._context = context
        self._options = context.settings(Options)
        self._in_order = asyncio.Lock()

    @hookimpl
    def cognee_register_settings(self) -> type:
        """Declare the options."""
        return Options

    @hookimpl
    async def cognee_session_start(self, event: SessionStart) -> None:
        """Note that a conversation began, or went on."""
        self._note(event, "session_start", source=event.source)

    @hookimpl
    async def cognee_user_prompt_submit(self, event: UserPromptSubmit) -> None:
        """Note that something was asked, and how long it was."""
        if not event.machine_made:
            self._note(event, "prompt", characters=len(event.prompt))

    @hookimpl
    async def cognee_post_tool_use(self, event: PostToolUse) -> None:
        """Note a call that went well."""
        self._call(event, "ok")

    @hookimpl
    async def cognee_post_tool_use_failure(self, event: PostToolUseFailure) -> None:
        """Note a call that failed."""
        self._call(event, "failed")

    @hookimpl
    async def cognee_session_end(self, event: SessionEnd) -> None:
        """Note the end, and wait for the lines before it: nothing comes after this hook."""
        self._note(event, "session_end", reason=event.reason)
        async with self._in_order:
            pass

    @hookimpl
    def cognee_doctor_checks(self) -> CheckResult:
        """Tell whether the file can be written."""
        path = self._options.file
        there = path if path.exists() else path.parent
        writable = os.access(there, os.W_OK)
        return CheckResult(
            name="audit log",
            status=CheckStatus.OK if writable else CheckStatus.FAILED,
            detail=f"{path} {'is written' if writable else 'cannot be written'}",
            remedy="" if writable else "choose another file with COGNEE_AUDIT_FILE",
        )

    @hookimpl
    def cognee_scrub(self, leak: Leak, dry_run: bool) -> Scrubbed | None:
        """Take a leaked value out of the file, which lies where the core does not look."""
        path = self._options.file.resolve()
        if not path.is_file():
            return None
        data = path.read_bytes()
        count = leak.count(data)
        if not count:
            return None
        if not dry_run:
            _replace(path, b"".join(_without(leak, line) for line in data.splitlines(True)))
        state = ScrubState.FOUND if dry_run else ScrubState.CLEANED
        return Scrubbed(place=str(path), state=state, count=count)

    # -- inside ----------------------------------------------------------------------------------

    def _call(self, event: PostToolUse | PostToolUseFailure, outcome: str) -> None:
        if not self._options.tools or event.tool_name in self._options.tools:
            self._note(event, "tool", tool=event.tool_name, outcome=outcome)

    def _note(self, event: Event, what: str, **more: Any) -> None:
        # Hooks have 50 ms for all plugins together, and a disk may take longer than that.
        line = {"time": time.time(), "session": event.session_id, "event": what, **more}
        self._context.spawn(self._write(line))

    async def _write(self, line: Mapping[str, Any]) -> None:
        async with self._in_order:
            await asyncio.to_thread(_append, self._options.file, json.dumps(line) + "\n")


def _append(path: Path, text: str) -> None:
    """Add a line; the file is the user's own, and no one else's."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _without(leak: Leak, line: bytes) -> bytes:
    """Return a line without the value, and still JSON where it was JSON."""
    if not leak.is_in(line):
        return line
    try:
        return json.dumps(leak.cleaned(json.loads(line))).encode() + b"\n"
    except ValueError:
        return leak.cleaned_bytes(line)  # torn by a full disk, or not ours


def _replace(path: Path, data: bytes) -> None:
    """Write a file anew: whoever is killed leaves the old one or the new one, never half of it."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except OSError:
        Path(name).unlink()
        raise

"""Hook implementations of bootstrap."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from builtin_plugins.bootstrap.settings import BootstrapSettings, ServerKind
from cognee_hooks import Leak, PluginContext, hookimpl
from cognee_hooks.deadline import Deadline
from cognee_hooks.events import ServerStateChanged
from cognee_hooks.results import CheckResult, Command, Scrubbed, StatusRow, StatusSegment

if TYPE_CHECKING:
    from builtin_plugins.bootstrap.commands import ServerCommands
    from builtin_plugins.bootstrap.keeper import ServerKeeper
    from builtin_plugins.bootstrap.local_server import LocalServer

HEAD = 110
"""Above the status line's own head, in whose place it stands."""


class BootstrapPlugin:
    """Runs a local server where the person named none; see `builtin_plugins.bootstrap.keeper`."""

    def __init__(self, context: PluginContext) -> None:
        self._context = context
        self._settings = context.settings(BootstrapSettings)
        self._kept: ServerKeeper | None = None
        self._made: LocalServer | None = None

    @hookimpl
    def cognee_session_start(self) -> None:
        """Start a server if there is none."""
        self._look()

    @hookimpl
    def cognee_server_state_changed(self, event: ServerStateChanged) -> None:
        """Start it again when it went away."""
        # A command's host sees the server too, and starts nothing by itself.
        if event.current == "offline" and self._kept is not None:
            self._look()

    @hookimpl
    def cognee_status_segments(self) -> StatusSegment | None:
        """Say that a server is being started."""
        if self._kept is None or not self._kept.phase:
            return None
        context = self._context
        where = f"{context.services.mode.backend} · {context.session.dataset}"
        return StatusSegment(text=f"◐ cognee: starting ({where})", priority=HEAD)

    @hookimpl
    def cognee_status_rows(self) -> StatusRow | None:
        """Say what is done about the server, or why nothing is."""
        if not self._settings.enabled or self._server.refusal():
            return None
        from builtin_plugins.bootstrap.checks import status_text

        text = status_text(self._server, self._context.now())
        return StatusRow(label="Local server", text=text) if text else None

    @hookimpl
    def cognee_register_commands(self) -> list[Command]:
        """Offer what people do by hand."""
        return [
            Command(
                name="up",
                help="start the local memory server, and install it where need be",
                run=self._up,
            ),
            Command(
                name="down",
                help="stop the local memory server, until `up`",
                run=self._down,
            ),
            Command(
                name="logs",
                help="show the end of the local memory server's logs",
                run=self._logs,
            ),
        ]

    @hookimpl
    async def cognee_doctor_checks(self, deadline: Deadline) -> list[CheckResult]:
        """Tell what is installed, and how the last start went."""
        from builtin_plugins.bootstrap.checks import rows

        return await rows(self._server, self._settings, deadline, self._context.now())

    @hookimpl
    async def cognee_scrub(self, leak: Leak, dry_run: bool, deadline: Deadline) -> list[Scrubbed]:
        """Take a leaked value out of what no route of the local server deletes."""
        if not self._settings.enabled or self._server.refusal():
            return []
        if self._settings.server is not ServerKind.COGNEE:
            return []  # the core looks after the embedded server's database
        from builtin_plugins.bootstrap.databases import databases_of, scrub

        found = databases_of(self._server.environment())
        return await asyncio.to_thread(scrub, found, leak, deadline, dry_run=dry_run)

    # -- inside ----------------------------------------------------------------------------------

    def _look(self) -> None:
        if not self._settings.enabled or self._server.refusal():
            return
        if self._kept is None:
            from builtin_plugins.bootstrap.keeper import ServerKeeper

            self._kept = ServerKeeper(self._context, self._server)
        self._kept.wake()

    async def _up(self, argument: str) -> str:
        return await self._commands.up(argument)

    async def _down(self, argument: str) -> str:
        return await self._commands.down(argument)

    async def _logs(self, argument: str) -> str:
        return await self._commands.logs(argument)

    @property
    def _commands(self) -> ServerCommands:
        from builtin_plugins.bootstrap.commands import ServerCommands

        return ServerCommands(self._context, self._server)

    @property
    def _server(self) -> LocalServer:
        # What it needs takes long to import, and many commands only make the plugin.
        if self._made is None:
            from builtin_plugins.bootstrap.local_server import LocalServer

            self._made = LocalServer(self._context, self._settings)
        return self._made

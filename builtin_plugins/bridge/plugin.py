"""Hook implementations of the bridge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from builtin_plugins.bridge.settings import BridgeSettings
from cognee_hooks import PluginContext, hookimpl
from cognee_hooks.deadline import Deadline
from cognee_hooks.events import ServerStateChanged
from cognee_hooks.results import CheckResult, Command, Scrubbed, StoreReceipt, StoreRequest

if TYPE_CHECKING:
    from builtin_plugins.bridge.bridge import Bridge
    from cognee_hooks import Leak


class BridgePlugin:
    """Takes charge of captured entries; see `builtin_plugins.bridge.bridge`."""

    def __init__(self, context: PluginContext) -> None:
        self._context = context
        self._settings = context.settings(BridgeSettings)
        self._made: Bridge | None = None

    @hookimpl
    def cognee_store_entry(self, request: StoreRequest) -> StoreReceipt | None:
        """Keep an entry on disk, and have it sent; None where that is not possible."""
        return self._bridge.keep(request) if request.session_id else None

    @hookimpl
    async def cognee_session_start(self) -> None:
        """Look after what earlier sessions left behind, and have it sent."""
        if self._context.session.session_id:
            await self._bridge.take_up()

    @hookimpl
    def cognee_server_state_changed(self, event: ServerStateChanged) -> None:
        """Send what waits as soon as the server is back."""
        if event.current == "ok" and self._made is not None:
            self._made.server_works()

    @hookimpl(tryfirst=True)
    async def cognee_session_end(self, deadline: Deadline) -> None:
        """Send what waits while there is time; the rest stays on disk."""
        await self._bridge.finish(deadline)

    @hookimpl
    def cognee_register_commands(self) -> Command:
        """Let people have sent what waits, also where no session goes on."""
        return Command(
            name="send",
            help="Send captured entries that wait for the server, of all sessions of the agent.",
            run=lambda _: self._bridge.send(),
        )

    @hookimpl
    def cognee_doctor_checks(self) -> list[CheckResult]:
        """Tell what waits, and what cannot be sent."""
        return self._bridge.checks()

    @hookimpl
    def cognee_scrub(self, leak: Leak, dry_run: bool) -> list[Scrubbed]:
        """Take a leaked value out of what waits and what was put aside."""
        from builtin_plugins.bridge.scrub import scrub

        return scrub(self._context, leak, dry_run=dry_run)

    @property
    def _bridge(self) -> Bridge:
        # What it needs takes long to import, and commands that only list plugins never need it.
        if self._made is None:
            from builtin_plugins.bridge.bridge import Bridge

            self._made = Bridge(self._context, self._settings)
        return self._made

"""Hook implementations of provisioning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from builtin_plugins.provisioning.settings import ProvisioningSettings
from cognee_hooks import Deadline, PluginContext, hookimpl
from cognee_hooks.events import ServerStateChanged
from cognee_hooks.results import CheckResult, Identity

if TYPE_CHECKING:
    from builtin_plugins.provisioning.account import AgentAccount


class ProvisioningPlugin:
    """Gives the agent an account of its own; see `builtin_plugins.provisioning.provisioner`."""

    def __init__(self, context: PluginContext) -> None:
        self._context = context
        self._settings = context.settings(ProvisioningSettings)
        self._made: AgentAccount | None = None
        self._due = False
        self._at_work = False

    @hookimpl
    def cognee_session_start(self) -> None:
        """Look after the agent's account once the server is there; nobody waits."""
        self._due = True
        self._begin()

    @hookimpl
    def cognee_server_state_changed(self, event: ServerStateChanged) -> None:
        """Do what could not be done while the server was away."""
        if event.current == "ok":
            self._begin()

    @hookimpl
    async def cognee_resolve_identity(self, url: str, deadline: Deadline) -> Identity | None:
        """Speak as the agent's own account, where there is one that may be used."""
        return await self._account.resolve(url, deadline)

    @hookimpl
    async def cognee_doctor_checks(self, deadline: Deadline) -> list[CheckResult]:
        """Tell whose account the agent uses, and what the server offers."""
        from builtin_plugins.provisioning.checks import rows

        return await rows(self._account, self._settings, deadline)

    # -- inside ----------------------------------------------------------------------------------

    def _begin(self) -> None:
        if self._due and not self._at_work and self._context.services.health.state == "ok":
            self._at_work = True
            self._context.spawn(self._work())

    async def _work(self) -> None:
        from builtin_plugins.provisioning.provisioner import Provisioner

        self._due = False
        try:
            known = await Provisioner(self._context, self._settings, self._account).run()
            self._due = not known
        finally:
            self._at_work = False

    @property
    def _account(self) -> AgentAccount:
        # What it needs is of no use to commands that only list plugins.
        if self._made is None:
            from builtin_plugins.provisioning.account import AgentAccount

            self._made = AgentAccount(self._context, self._settings)
        return self._made

"""Hook implementations of provisioning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from builtin_plugins.provisioning.connection import Connection
from builtin_plugins.provisioning.settings import ProvisioningSettings
from cognee_hooks import Deadline, PluginContext, hookimpl
from cognee_hooks.errors import ServerFailure, UsageError
from cognee_hooks.events import ServerStateChanged
from cognee_hooks.results import WARNING_SIGN, CheckResult, Command, Failure, Identity

if TYPE_CHECKING:
    from builtin_plugins.provisioning.account import AgentAccount


class ProvisioningPlugin:
    """Gives the agent an account of its own; see `builtin_plugins.provisioning.provisioner`."""

    def __init__(self, context: PluginContext) -> None:
        self._context = context
        self._settings = context.settings(ProvisioningSettings)
        self._made: AgentAccount | None = None
        self._connection = Connection(context)
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
    def cognee_dataset_changed(self) -> None:
        """Say under which id the conversation goes on."""
        if self._settings.register and self._connection.is_open:
            self._context.spawn(self._connection.open())

    @hookimpl(trylast=True)
    async def cognee_session_end(self, deadline: Deadline) -> None:
        """Say that the agent has ended, when all that it had to send is sent."""
        await self._connection.close(deadline)

    @hookimpl
    async def cognee_resolve_identity(self, url: str, deadline: Deadline) -> Identity | None:
        """Speak as the agent's own account, where there is one that may be used."""
        return await self._account.resolve(url, deadline)

    @hookimpl
    def cognee_register_commands(self) -> Command:
        """Let people see and give rights on datasets."""
        return Command(
            name="access",
            help="Show rights on datasets, or share one: [grant|revoke <dataset> <account id>] "
            "[--read] [--write] [--yes]",
            run=self._access,
        )

    @hookimpl
    async def cognee_doctor_checks(self, deadline: Deadline) -> list[CheckResult]:
        """Tell whose account the agent uses, and what the server offers."""
        from builtin_plugins.provisioning.checks import rows

        return await rows(self._account, self._settings, deadline)

    # -- inside ----------------------------------------------------------------------------------

    async def _access(self, text: str) -> str:
        """Return the answer; what goes wrong is one, too."""
        from builtin_plugins.provisioning.access import Access

        try:
            return await Access(self._context, self._account).command(text)
        except UsageError as error:
            return Failure(f"{WARNING_SIGN} {error}")
        except ServerFailure as failure:
            self._context.services.health.note(failure)
            return Failure(
                f"{WARNING_SIGN} The server could not be asked ({failure.kind.value}); nothing has "
                "changed. `cognee-hooks doctor` says how it is."
            )

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
            if self._settings.register:
                await self._connection.open()
        finally:
            self._at_work = False

    @property
    def _account(self) -> AgentAccount:
        # What it needs is of no use to commands that only list plugins.
        if self._made is None:
            from builtin_plugins.provisioning.account import AgentAccount

            self._made = AgentAccount(self._context, self._settings)
        return self._made

"""Gets the agent an account of its own and has it share its owner's memory, at a session's start.

Nothing of it is waited for. One absolute deadline holds for all of it; what could not be found out
in time, or from a server that did not answer, is left for the next session and never written down.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from builtin_plugins.provisioning.account import AgentAccount, problem_text
from builtin_plugins.provisioning.marker import OPT_OUT, STRUCTURAL, Marker
from builtin_plugins.provisioning.settings import IdentityPolicy, ProvisioningSettings
from builtin_plugins.provisioning.wiring import Separated, join, survey
from cognee_hooks import Deadline, PluginContext
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.accounts import BadProvision
from cognee_hooks.services.filelock import KernelLock

if TYPE_CHECKING:
    from builtin_plugins.provisioning.agent_key import AgentKey
    from cognee_hooks.services.accounts import Contract, Provisioned

BUDGET = 10.0
_POLL_SECONDS = 0.05


class NotProvisioned(Exception):
    """The agent has no account of its own, and gets none now.

    Attributes:
        status: ``unsupported`` by the server, or ``failed``.
    """

    def __init__(self, status: str) -> None:
        super().__init__(status)
        self.status = status


@dataclass(slots=True)
class _Got:
    """The account that a run works with.

    Attributes:
        key: The account; None as long as there is none.
        made: This run has made it.
    """

    key: AgentKey | None
    made: bool = False


class Provisioner:
    """Does it.

    Args:
        context: The plugin's context.
        settings: The plugin's options.
        account: Which account the agent speaks as.
    """

    def __init__(
        self, context: PluginContext, settings: ProvisioningSettings, account: AgentAccount
    ) -> None:
        self._context = context
        self._policy = settings.identity
        self._sharing = settings.shared_memory
        self._account = account
        self._owner = account.owner
        self._log = context.log

    async def run(self) -> bool:
        """Do what is due; tells whether all could be found out."""
        if self._policy is IdentityPolicy.DISABLED:
            return True
        deadline = Deadline.after(BUDGET, self._context.clock)
        try:
            await self._run(deadline)
        except ServerFailure as failure:
            self._log.info("wiring_failed %s", failure.kind.value)
            return False
        except OSError as error:
            self._log.warning("plugin_identity_not_kept %s", type(error).__name__)
        return True

    # -- inside ----------------------------------------------------------------------------------

    async def _run(self, deadline: Deadline) -> None:
        if await self._context.services.keys.key(deadline) is None:
            return
        standing = await self._account.standing(deadline)
        if standing.problem in {"blocked", "principal_mismatch"}:
            self._obstacle("plugin_identity_skipped", standing.problem)
            return
        got = _Got(standing.key)
        try:
            if self._sharing:
                await self._share(got, deadline)
            else:
                await self._keep_apart(got, deadline)
        except NotProvisioned as why:
            self._unprovisioned(why.status)
        except Separated as why:
            await self._separate(got, why.reason, deadline)

    async def _keep_apart(self, got: _Got, deadline: Deadline) -> None:
        """Have the account leave what it shares; get one only where somebody wants it."""
        marker = self._account.markers.read()
        if got.key is not None and marker.wired_for(got.key.agent_id):
            await self._leave(marker, deadline)
            self._account.changed()
        if got.key is None and self._policy is IdentityPolicy.ENABLED:
            await self._provision(got, await self._owner.contract(deadline), deadline)
            self._account.changed()

    async def _leave(self, marker: Marker, deadline: Deadline) -> None:
        try:
            await self._owner.leave_role(marker.agent_id, marker.role_id, deadline)
        except ServerFailure as failure:
            if failure.kind is not FailureKind.NOT_FOUND:
                raise
        # All ids stay, so that it comes back to the same role and datasets.
        self._account.markers.save(replace(marker, shared=False, reason=OPT_OUT))
        self._log.info("shared_memory_opted_out agent=%s", marker.agent_id)

    async def _share(self, got: _Got, deadline: Deadline) -> None:
        marker = self._account.markers.read()
        dataset = self._context.session.dataset
        if got.key is not None and marker.wired_for(got.key.agent_id):
            rows = await self._owner.datasets(deadline)
            led = await self._account.sharing.begin(marker, rows, dataset, deadline)
            if await self._sees(got.key, led, deadline):
                return
            self._log.info("shared_memory_lost agent=%s", got.key.agent_id)
        if self._is_settled(marker):
            return
        contract = await self._owner.contract(deadline)
        if got.key is None and not contract.provisioning:
            raise NotProvisioned("unsupported")
        found = await survey(self._owner, contract, deadline)
        if got.key is None:
            await self._provision(got, contract, deadline)
        key = got.key
        if key is None:
            return
        agent = self._account.speaking(key)
        joined = await join(self._owner, agent, key.agent_id, found, deadline)
        same = marker.role_id == joined.role_id
        marker = Marker(
            shared=True,
            tenant_id=joined.tenant_id,
            role_id=joined.role_id,
            parent_id=found.owner.id,
            agent_id=key.agent_id,
            granted=marker.granted if same else {},
            canonical=marker.canonical if same else {},
        )
        await self._account.sharing.begin(marker, found.rows, dataset, deadline)
        self._log.info("shared_memory_wired agent=%s role=%s", key.agent_id, joined.role_id)
        self._account.changed()

    async def _sees(self, key: AgentKey, dataset_id: str, deadline: Deadline) -> bool:
        """Tell whether the account still has the rights that it was given."""
        try:
            rows = await self._account.speaking(key).datasets(deadline)
        except ServerFailure as failure:
            if failure.kind is FailureKind.AUTH and await self._account.refused(key, deadline):
                self._account.changed()
            raise
        return any(row.id == dataset_id for row in rows)

    def _is_settled(self, marker: Marker) -> bool:
        """Tell whether an earlier session has found out that it cannot be done."""
        if self._policy is IdentityPolicy.ENABLED or marker.reason not in STRUCTURAL:
            return False
        if marker.version == self._account.markers.version:
            self._log.info("plugin_provision_skipped %s", marker.reason)
            return True
        self._log.info("plugin_provision_retry_after_update %s", marker.reason)
        return False

    async def _provision(self, got: _Got, contract: Contract, deadline: Deadline) -> None:
        """Get an account, or take the one that another process got meanwhile.

        Raises:
            NotProvisioned: There is none, or none whose key we know.
            OSError: It cannot be kept.
        """
        if not contract.provisioning:
            raise NotProvisioned("unsupported")
        keys, lock = self._account.keys, KernelLock(self._account.keys.path.with_suffix(".lock"))
        while not lock.try_acquire():
            if deadline.expired:
                raise NotProvisioned("failed")
            await asyncio.sleep(_POLL_SECONDS)
        try:
            got.key = (await self._account.standing(deadline)).key
            principal = await self._context.services.keys.key(deadline)
            if got.key is not None or principal is None:
                return
            made = await self._owner.provision(keys.plugin, principal.value, deadline)
            got.key, got.made = await self._kept(made, principal.value, deadline), True
        except BadProvision as bad:
            fields = ",".join(bad.fields)
            self._log.warning("plugin_provision_bad_response %s fields=%s", bad.reason, fields)
            raise NotProvisioned("failed") from None
        except ServerFailure as failure:
            missing = failure.kind is FailureKind.NOT_FOUND
            raise NotProvisioned("unsupported" if missing else "failed") from None
        finally:
            lock.release()
        why = "explicit" if self._policy is IdentityPolicy.ENABLED else "shared_memory"
        self._log.info("plugin_agent_provisioned agent=%s reason=%s", got.key.agent_id, why)

    async def _kept(self, made: Provisioned, principal: str, deadline: Deadline) -> AgentKey:
        """Keep an account's key; one that cannot be kept is revoked, since nobody will know it.

        Raises:
            OSError: It cannot be kept.
        """
        try:
            return self._account.keys.save(made, principal)
        except OSError:
            with suppress(ServerFailure):
                await self._owner.disconnect(self._account.keys.plugin, deadline)
            raise

    async def _separate(self, got: _Got, reason: str, deadline: Deadline) -> None:
        """Write down why memory is not shared, and give back what is of no use then."""
        marker = Marker(reason=reason)
        with suppress(OSError):
            self._account.markers.save(marker)
        self._log.info("shared_memory_skipped %s", reason)
        self._account.changed()
        if self._policy is not IdentityPolicy.ENABLED:
            if got.made:
                await self._revert(deadline)
            return
        if got.key is None:
            try:
                await self._provision(got, await self._owner.contract(deadline), deadline)
            except NotProvisioned as why:
                self._unprovisioned(why.status)
                return
        self._context.say(
            f"Cognee memory: the agent's own account does not share your datasets "
            f"({reason.replace('_', ' ')}); it keeps a memory of its own."
        )

    async def _revert(self, deadline: Deadline) -> None:
        """Disconnect an account that nobody asked for and that would see nothing."""
        self._log.info("plugin_identity_reverted")
        # Its key stays where it is until the server has revoked it: it could not be had again.
        await self._owner.disconnect(self._account.keys.plugin, deadline)
        self._account.keys.remove()
        self._account.changed()

    def _unprovisioned(self, status: str) -> None:
        self._log.info("plugin_provision_skipped %s", status)
        if self._policy is IdentityPolicy.ENABLED:
            why = (
                "this server makes no accounts for plugins"
                if status == "unsupported"
                else "the server made none"
            )
            self._context.say(
                f"Cognee plugin provisioning {status}: {why}. Your own key is used, so all agents "
                "share your memory as they are; set COGNEE_PLUGIN_IDENTITY=auto to stop this line."
            )

    def _obstacle(self, event: str, problem: str) -> None:
        self._log.info("%s %s", event, problem)
        if self._policy is IdentityPolicy.ENABLED:
            text = problem_text(problem, self._account.keys.path.name)
            self._context.say(f"Cognee plugin identity: {text}.")

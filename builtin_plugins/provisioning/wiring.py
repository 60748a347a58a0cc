"""Puts the agent's account and its owner's into one tenant, with a role for what is shared.

The calls are those of the cognee 1.6 HTTP contract. What a server says no to is `Separated`; where
it says nothing, or something else than an answer, the `ServerFailure` goes on to the caller, since
nothing follows from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cognee_hooks.errors import FailureKind, ServerFailure

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.services.accounts import Contract, Named
    from cognee_hooks.services.answers import Account, Dataset
    from cognee_hooks.services.identities import IdentityRoutes

ROLE = "cognee-agent"
"""Name of the role, the same for all cognee plugins, so that they share one."""

_REFUSED = frozenset({FailureKind.FORBIDDEN, FailureKind.AUTH})
_THERE_ALREADY = frozenset({409, 500})
"""How a server answers to a role whose name is taken; the second is what released ones do."""


class Separated(Exception):
    """The accounts cannot share memory.

    Attributes:
        reason: Why, in a word.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Survey:
    """What the owner's account is and has.

    Attributes:
        owner: The account.
        tenants: Its tenants.
        rows: The datasets that it can read.
    """

    owner: Account
    tenants: tuple[Named, ...]
    rows: tuple[Dataset, ...]

    @property
    def tenant_name(self) -> str:
        """Name of the tenant that is made where there is none."""
        return f"cognee-{self.owner.id[:8]}"


@dataclass(frozen=True, slots=True)
class Joined:
    """Where both accounts are now.

    Attributes:
        tenant_id: Their tenant.
        role_id: The role of the agent's account.
    """

    tenant_id: str
    role_id: str


async def survey(owner: IdentityRoutes, contract: Contract, deadline: Deadline) -> Survey:
    """Look whether an account can share its memory; changes nothing.

    Args:
        owner: The routes, as the owner.
        contract: What the server says that it can do.
        deadline: When to give up.

    Raises:
        Separated: It cannot.
        ServerFailure: That cannot be told.
    """
    try:
        tenants = await owner.tenants(deadline)
    except ServerFailure as failure:
        if failure.kind is FailureKind.NOT_FOUND:
            raise Separated("unsupported") from None
        raise
    if not contract.typed_dataset_ids:
        raise Separated("typed_dataset_unsupported")
    account = await owner.whoami(deadline)
    if account.parent_id:
        raise Separated("principal_is_an_agent")
    # A list that could not be had is not an empty one: a tenant would hide what is there.
    rows = await owner.datasets(deadline)
    if rows and not account.tenant_id:
        raise Separated("tenantless_with_data")
    return Survey(account, tuple(tenants), tuple(rows))


async def join(
    owner: IdentityRoutes, agent: IdentityRoutes, agent_id: str, found: Survey, deadline: Deadline
) -> Joined:
    """Bring the agent's account into the owner's tenant and give it the role.

    Args:
        owner: The routes, as the owner.
        agent: The routes, as the agent's account.
        agent_id: Its UUID.
        found: What the owner's account is and has.
        deadline: When to give up.

    Raises:
        Separated: The server does not allow it.
        ServerFailure: That cannot be told.
    """
    tenant_id = found.owner.tenant_id or await _tenant(owner, found, deadline)
    role_id = await _role(owner, tenant_id, deadline)
    try:
        await owner.join_tenant(agent_id, tenant_id, deadline)
    except ServerFailure as failure:
        raise _no(failure, "tenant_membership_failed", owned=True) from None
    try:
        await agent.select_tenant(tenant_id, deadline)
    except ServerFailure as failure:
        raise _no(failure, "agent_tenant_select_failed") from None
    try:
        await owner.join_role(agent_id, role_id, deadline)
    except ServerFailure as failure:
        raise _no(failure, "role_membership_failed", owned=True) from None
    return Joined(tenant_id, role_id)


async def _tenant(owner: IdentityRoutes, found: Survey, deadline: Deadline) -> str:
    try:
        for each in found.tenants:
            # The same name once more would make a second one.
            if each.name == found.tenant_name:
                await owner.select_tenant(each.id, deadline)
                return each.id
        return await owner.create_tenant(found.tenant_name, deadline)
    except ServerFailure as failure:
        raise _no(failure, "tenant_create_failed") from None


async def _role(owner: IdentityRoutes, tenant_id: str, deadline: Deadline) -> str:
    try:
        known = await _find_role(owner, tenant_id, deadline)
        if known:
            return known
        try:
            return await owner.create_role(ROLE, deadline)
        except ServerFailure as failure:
            # Another program may have made it meanwhile.
            taken = failure.status in _THERE_ALREADY
            made = await _find_role(owner, tenant_id, deadline) if taken else ""
            if not made:
                raise
            return made
    except ServerFailure as failure:
        raise _no(failure, "role_create_failed", owned=True) from None


async def _find_role(owner: IdentityRoutes, tenant_id: str, deadline: Deadline) -> str:
    roles = await owner.roles(tenant_id, deadline)
    return next((each.id for each in roles if each.name == ROLE), "")


def _no(failure: ServerFailure, reason: str, *, owned: bool = False) -> Exception:
    """Return what a failure means: a no of the server, or nothing that could be written down."""
    if owned and failure.kind in _REFUSED:
        return Separated("not_tenant_owner")
    return failure if failure.outage else Separated(reason)

"""The routes about accounts: plugin identities, tenants, roles, and rights on datasets.

Part of the cognee 1.6 HTTP contract. Two things of it are announced in a server's description and
in no released server yet: provisioning that makes an account only where there is none
(``create_only``), and session entries that are addressed by a dataset's UUID for another account.
Provisioning without the first **changes the key** of an account that is there, and every program
that uses the old key is locked out. So nothing here provisions in any other way, and whoever calls
`IdentityRoutes.provision` has seen `Contract.provisioning` first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import ServerFailure
from cognee_hooks.services.accounts import (
    Contract,
    Named,
    Provisioned,
    read_contract,
    read_named,
    read_provisioned,
)
from cognee_hooks.services.answers import Account, Dataset, read_account, read_datasets, text_of
from cognee_hooks.services.asking import Ask, expect, required_uuid
from cognee_hooks.services.names import canonical_uuid, safe_dataset_name
from cognee_hooks.services.wire import SMALL_BODY, ServerAnswer, ServerCall

_RIGHTS = "/api/v1/permissions"
_CONFLICT = 409
READ, WRITE = "read", "write"


class IdentityRoutes:
    """Accounts and rights, as the account whose key is sent.

    Args:
        ask: Sends the requests.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    # -- what the server can do, and who we are ----------------------------------------------------

    async def contract(self, deadline: Deadline) -> Contract:
        """Read the server's description of itself.

        Raises:
            ServerFailure: It cannot be told; nothing follows from that.
        """
        answer = await self._ask(ServerCall(method="GET", path="/openapi.json"), deadline)
        return expect(read_contract(answer.document), "is no description of an API")

    async def whoami(self, deadline: Deadline) -> Account:
        """Return the account that the key belongs to.

        Raises:
            ServerFailure: It failed; ``AUTH`` where the key is not good.
        """
        answer = await self._get("/api/v1/users/me", deadline)
        return expect(read_account(answer.document), "is no account")

    async def datasets(self, deadline: Deadline) -> list[Dataset]:
        """Return all datasets that the account can read.

        Raises:
            ServerFailure: It failed. That is not an empty list.
        """
        answer = await self._ask(ServerCall(method="GET", path="/api/v1/datasets"), deadline)
        rows = expect(read_datasets(answer.document), "is no list of datasets")
        return [row for row in rows if canonical_uuid(row.id) and row.name]

    async def create_dataset(self, name: str, deadline: Deadline) -> str:
        """Make a dataset of the account's own, or find it, and return its UUID.

        Raises:
            ServerFailure: It failed.
        """
        call = ServerCall(
            method="POST",
            path="/api/v1/datasets",
            json={"name": safe_dataset_name(name)},
            limit=SMALL_BODY,
        )
        answer = await self._ask(call, deadline)
        return expect(_id_in(answer.document, "id"), "is no dataset")

    # -- plugin identities -------------------------------------------------------------------------

    async def provision(self, plugin: str, principal: str, deadline: Deadline) -> Provisioned:
        """Make an account for a plugin, where it has none.

        Only for servers whose `Contract` says ``provisioning``: any other changes the key of an
        account that is there.

        Args:
            plugin: The plugin's key, such as ``claude-code``.
            principal: The key that is sent; an account with the same one is none of its own.
            deadline: When to give up.

        Raises:
            BadProvision: What was answered cannot be used.
            ServerFailure: It failed; ``NOT_FOUND`` where the server knows no such plugin.
        """
        path = f"{_plugin(plugin)}/provision?create_only=true"
        answer = await self._post(path, deadline, body={})
        return read_provisioned(answer.document, principal)

    async def disconnect(self, plugin: str, deadline: Deadline) -> None:
        """Revoke the keys of a plugin's account; the account and its data stay.

        Raises:
            ServerFailure: It failed.
        """
        await self._delete(_plugin(plugin), deadline)

    # -- tenants and roles -------------------------------------------------------------------------

    async def tenants(self, deadline: Deadline) -> list[Named]:
        """Return the tenants of the account.

        Raises:
            ServerFailure: It failed; ``NOT_FOUND`` where the server has no such thing.
        """
        answer = await self._get(f"{_RIGHTS}/tenants/me", deadline)
        return expect(read_named(answer.document), "is no list of tenants")

    async def create_tenant(self, name: str, deadline: Deadline) -> str:
        """Make a tenant and return its UUID; the account works in it from then on.

        **Whatever datasets the account has are out of its sight from then on**, and the same name
        again makes a second tenant.

        Raises:
            ServerFailure: It failed or may have.
        """
        answer = await self._post(f"{_RIGHTS}/tenants?tenant_name={_text(name)}", deadline)
        return expect(_id_in(answer.document, "tenant_id", "tenantId"), "names no tenant")

    async def select_tenant(self, tenant_id: str, deadline: Deadline) -> None:
        """Have the account work in a tenant that it is a member of.

        Raises:
            ServerFailure: It failed.
        """
        body = {"tenant_id": required_uuid(tenant_id)}
        await self._post(f"{_RIGHTS}/tenants/select", deadline, body=body, again=True)

    async def join_tenant(self, user_id: str, tenant_id: str, deadline: Deadline) -> None:
        """Make an account a member of a tenant; it may be one already.

        Raises:
            ServerFailure: It failed.
        """
        path = (
            f"{_RIGHTS}/users/{required_uuid(user_id)}/tenants?tenant_id={required_uuid(tenant_id)}"
        )
        await self._post(path, deadline, again=True)

    async def roles(self, tenant_id: str, deadline: Deadline) -> list[Named]:
        """Return the roles of a tenant.

        Raises:
            ServerFailure: It failed; ``FORBIDDEN`` for strangers to the tenant.
        """
        answer = await self._get(f"{_RIGHTS}/tenants/{required_uuid(tenant_id)}/roles", deadline)
        return expect(read_named(answer.document), "is no list of roles")

    async def create_role(self, name: str, deadline: Deadline) -> str:
        """Make a role in the account's tenant and return its UUID.

        Raises:
            ServerFailure: It failed: with status 409 or 500 where there is one of that name, with
                ``FORBIDDEN`` for anybody but the tenant's owner.
        """
        answer = await self._post(f"{_RIGHTS}/roles?role_name={_text(name)}", deadline)
        return expect(_id_in(answer.document, "role_id", "roleId"), "names no role")

    async def join_role(self, user_id: str, role_id: str, deadline: Deadline) -> None:
        """Give an account a role; it may have it already.

        Raises:
            ServerFailure: It failed.
        """
        path = f"{_user(user_id)}/roles?role_id={required_uuid(role_id)}"
        await self._post(path, deadline, again=True)

    async def leave_role(self, user_id: str, role_id: str, deadline: Deadline) -> None:
        """Take a role from an account.

        Raises:
            ServerFailure: It failed; ``NOT_FOUND`` where the account has not got it.
        """
        await self._delete(
            f"{_user(user_id)}/roles?role_id={required_uuid(role_id)}",
            deadline,
        )

    # -- rights on datasets ------------------------------------------------------------------------

    async def grant(
        self, principal_id: str, permission: str, dataset_ids: Sequence[str], deadline: Deadline
    ) -> None:
        """Give an account or role a right on datasets, all of them or none.

        Raises:
            ServerFailure: It failed; ``FORBIDDEN`` where one of them is not ours to share, or not
                there.
        """
        path = (
            f"{_RIGHTS}/datasets/{required_uuid(principal_id)}?permission_name={_text(permission)}"
        )
        call = ServerCall(
            method="POST",
            path=path,
            json=[required_uuid(each) for each in dataset_ids],
            limit=SMALL_BODY,
        )
        await self._ask(call, deadline)

    async def revoke(
        self, principal_id: str, permission: str, dataset_ids: Sequence[str], deadline: Deadline
    ) -> None:
        """Take a right on datasets from an account or role.

        Raises:
            ServerFailure: It failed.
        """
        path = (
            f"{_RIGHTS}/datasets/{required_uuid(principal_id)}?permission_name={_text(permission)}"
        )
        call = ServerCall(
            method="DELETE",
            path=path,
            json=[required_uuid(each) for each in dataset_ids],
            limit=SMALL_BODY,
        )
        await self._ask(call, deadline)

    async def granted(self, principal_id: str, permission: str, deadline: Deadline) -> set[str]:
        """Return the UUIDs of the datasets on which an account or role has a right of its own.

        What an account has through a role is not among them; ask for the role.

        Raises:
            ServerFailure: It failed; ``NOT_FOUND`` where the server cannot tell.
        """
        principal = required_uuid(principal_id)
        path = f"{_RIGHTS}/principals/{principal}/datasets?permission_name={_text(permission)}"
        answer = await self._ask(ServerCall(method="GET", path=path), deadline)
        rows = expect(read_datasets(answer.document), "is no list of datasets")
        return {canonical_uuid(row.id) for row in rows} - {""}

    # -- connections -------------------------------------------------------------------------------

    async def register(self, name: str, session_id: str, agent: str, deadline: Deadline) -> None:
        """Tell the server that an agent works with it, and which session is its own.

        Raises:
            ServerFailure: It failed; ``NOT_FOUND`` where the server keeps no such list.
        """
        body = {
            "agent_session_name": name,
            "session_id": session_id,
            "type": agent,
            "memory_mode": "hybrid",
            "source": "api",
        }
        await self._post("/api/v1/agents/register", deadline, body=body, again=True)

    async def unregister(self, name: str, deadline: Deadline) -> None:
        """Tell the server that an agent has ended.

        Raises:
            ServerFailure: It failed.
        """
        body = {"agent_session_name": name}
        await self._post("/api/v1/agents/unregister", deadline, body=body, again=True)

    # -- inside ------------------------------------------------------------------------------------

    async def _get(self, path: str, deadline: Deadline) -> ServerAnswer:
        return await self._ask(ServerCall(method="GET", path=path, limit=SMALL_BODY), deadline)

    async def _post(
        self,
        path: str,
        deadline: Deadline,
        *,
        body: Mapping[str, Any] | None = None,
        again: bool = False,
    ) -> ServerAnswer:
        """Send a request that changes something; ``again`` if what is done may be done again."""
        call = ServerCall(method="POST", path=path, json=body, repeatable=again, limit=SMALL_BODY)
        try:
            return await self._ask(call, deadline)
        except ServerFailure as failure:
            if again and failure.status == _CONFLICT:
                return ServerAnswer(_CONFLICT, {}, {})
            raise

    async def _delete(self, path: str, deadline: Deadline) -> ServerAnswer:
        return await self._ask(ServerCall(method="DELETE", path=path, limit=SMALL_BODY), deadline)


def _id_in(document: object, *names: str) -> str | None:
    """Return the UUID in the first of several fields that has one."""
    if not isinstance(document, Mapping):
        return None
    found = (canonical_uuid(text_of(document, name)) for name in names)
    return next((each for each in found if each), None)


def _plugin(name: str) -> str:
    return f"/api/v1/integrations/plugins/{_text(name)}"


def _text(value: str) -> str:
    return quote(value, safe="")


def _user(identifier: str) -> str:
    return f"{_RIGHTS}/users/{required_uuid(identifier)}"

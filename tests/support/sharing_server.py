"""The embedded server with what no released cognee server has yet: accounts that share memory.

It stands in front of the embedded application and speaks the contract that plugins wait for, as a
server announces it in ``/openapi.json``: ``create_only`` on provisioning, and session entries that
name another account's dataset by its UUID. Rights are those of cognee 1.6: an account sees its own
datasets and what its roles were granted; a name leads to its own ones only, and written to, makes
one. It lives with the tests and not in the product, since a server that people run must not
announce what cognee itself does not have.
"""

from __future__ import annotations

import json
import secrets
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cognee_hooks.embedded import EmbeddedServer
from cognee_hooks.embedded.memory import EmbeddedMemory

PLUGINS = ("claude-code", "codex", "pi", "opencode")
FOREIGN = "99999999-9999-4999-8999-999999999999"
"""An account that shared a dataset with the owner."""

_ID_FIELDS = ("dataset_id", "datasetId", "dataset_ids", "datasetIds")
_NAME_FIELDS = ("dataset_name", "datasetName", "datasets", "dataset")


@dataclass
class Account:
    """A user of the server."""

    id: str
    email: str
    key: str = ""
    parent: str = ""
    tenant: str = ""


@dataclass
class Role:
    """A role of a tenant."""

    id: str
    name: str
    tenant: str
    members: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Seen:
    """A request.

    Attributes:
        method: HTTP method.
        path: Path, without what stands behind its question mark.
        query: That.
        who: ``owner``, ``agent``, or "" for neither.
        body: The JSON body, if it is one.
    """

    method: str
    path: str
    query: str
    who: str
    body: Any = None


class SharingServer(EmbeddedServer):
    """The server. All that a test wants to know or change is an attribute.

    Attributes:
        create_only: It announces that provisioning makes accounts only.
        typed_ids: It announces that entries take UUIDs of shared datasets.
        seen: All requests but those for health, in order.
        refusals: What is answered instead, by method and beginning of the path, which may hold
            stars; an empty body is
            sent as it is, so that a test can have an answer without what it should hold.
        owner: The account of the data.
        agents: Accounts of plugins, by plugin.
        tenants: Names of tenants by id, all the owner's.
        roles: Roles by id.
        grants: Datasets by principal and permission.
        foreign: Names of datasets that somebody else shared with the owner, by id.
        ungrantable: Datasets that the owner may not share.
    """

    def __init__(self, data_path: Path) -> None:
        super().__init__(data_path, wrap=self._behind)
        self.create_only = self.typed_ids = True
        self.seen: list[Seen] = []
        self.refusals: dict[tuple[str, str], tuple[int, Any]] = {}
        self.owner = Account("", "default_user@example.com")
        self.agents: dict[str, Account] = {}
        self.tenants: dict[str, str] = {}
        self.roles: dict[str, Role] = {}
        self.grants: dict[tuple[str, str], set[str]] = {}
        self.foreign: dict[str, str] = {}
        self.created: dict[str, str] = {}
        self.ungrantable: set[str] = set()
        self.memory: EmbeddedMemory | None = None

    def _behind(self, app: ASGIApp) -> ASGIApp:
        assert self._memory is not None
        self.memory = self._memory
        self.owner.id = self.memory.accounts.owner_id
        self.owner.key = self.memory.accounts.create_key("owner")["key"]
        return _Front(self, app)

    # -- what tests ask ---------------------------------------------------------------------------

    def paths(self, who: str = "", beginning: str = "") -> list[str]:
        """Return method and path of what was asked, by one or by all."""
        return [
            f"{each.method} {each.path}"
            for each in self.seen
            if who in {"", each.who} and each.path.startswith(beginning)
        ]

    def changes(self) -> list[str]:
        """Return what was asked of the routes that change accounts and rights."""
        routes = ("/api/v1/integrations", "/api/v1/permissions")
        asked = [each for route in routes for each in self.paths(beginning=route)]
        return [each for each in asked if not each.startswith("GET ")]

    def dataset(self, name: str) -> str:
        """Make a dataset of the owner's and return its id."""
        assert self.memory is not None
        return self.memory.datasets.create(name).id

    def shared_by_somebody(self, name: str, created: str) -> str:
        """Have somebody share a dataset with the owner; returns its id."""
        assert self.memory is not None
        inner = self.memory.datasets.create(f"foreign-{len(self.foreign)}").id
        self.foreign[inner] = name
        self.created[inner] = created
        return inner

    # -- who may what -----------------------------------------------------------------------------

    def account_of(self, key: str) -> Account | None:
        """Return whose key it is."""
        known = [self.owner, *self.agents.values()]
        return next((each for each in known if each.key and each.key == key), None)

    def may(self, account: Account, permission: str, dataset_id: str) -> bool:
        """Tell whether an account has a right on a dataset."""
        if account is self.owner:
            return True
        principals = [account.id, *(r.id for r in self.roles.values() if account.id in r.members)]
        shared = any(dataset_id in self.grants.get((each, permission), ()) for each in principals)
        # Whoever works in another tenant than the dataset's does not see it.
        return self.is_own(account, dataset_id) or (shared and account.tenant == self.owner.tenant)

    def is_own(self, account: Account, dataset_id: str) -> bool:
        """Tell whether a dataset is an account's own."""
        return self.inner_name(dataset_id).startswith(_prefix(account))

    def inner_name(self, dataset_id: str) -> str:
        """Return the name under which the embedded server keeps a dataset."""
        assert self.memory is not None
        found = self.memory.datasets.find(dataset_id)
        return found.name if found else ""

    def rows(self, account: Account) -> list[dict[str, Any]]:
        """Return the datasets that an account can read."""
        assert self.memory is not None
        rows = []
        for each in self.memory.datasets.all():
            agent = next((a for a in self.agents.values() if self.is_own(a, each.id)), None)
            owner = FOREIGN if each.id in self.foreign else (agent or self.owner).id
            name = self.foreign.get(each.id) or each.name.rpartition("::")[2]
            if self.may(account, "read", each.id) and (agent is None or account is agent):
                created = self.created.get(each.id, each.created_at)
                rows.append({"id": each.id, "name": name, "ownerId": owner, "createdAt": created})
        return rows


def _prefix(account: Account) -> str:
    return f"{account.id}::"


class _Front:
    """Answers what the embedded application does not, and rewrites what it does."""

    def __init__(self, server: SharingServer, inner: ASGIApp) -> None:
        self._server = server
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] == "/health":
            await self._inner(scope, receive, send)
            return
        request = Request(scope, receive)
        body = await request.body()
        answer = await self._answer(request, body)
        if answer is None:
            await self._inner(*self._as_owner(scope, body), send)
        else:
            await answer(scope, receive, send)

    async def _answer(self, request: Request, body: bytes) -> Response | None:
        server, key = self._server, request.headers.get("x-api-key", "")
        account = server.account_of(key)
        who = "" if account is None else "owner" if account is server.owner else "agent"
        query, path = request.url.query, request.url.path
        document = json.loads(body) if body[:1] in {b"{", b"["} else None
        server.seen.append(Seen(request.method, path, query, who, document))
        for (method, beginning), (status, refusal) in server.refusals.items():
            if request.method == method and fnmatch(path, f"{beginning}*"):
                return JSONResponse(refusal, status)
        if account is None:
            return None if not key else JSONResponse({"detail": "Unauthorized"}, 401)
        asked = _Asked(server, account, parse_qs(query), document)
        parts = path.removeprefix("/api/v1").strip("/").split("/")
        special = _route(request.method, parts)
        if special is not None:
            return special(asked, parts)
        if path == "/openapi.json":
            return JSONResponse(_description(server))
        return None if account is server.owner else asked.within_rights(path)

    def _as_owner(self, scope: Scope, body: bytes) -> tuple[Scope, Receive]:
        server = self._server
        request = Request(scope)
        account = server.account_of(request.headers.get("x-api-key", ""))
        if account is not None and account is not server.owner:
            body = _renamed(body, account)
        headers = [
            (name, server.owner.key.encode() if name == b"x-api-key" and account else value)
            for name, value in scope["headers"]
            if name != b"content-length"
        ]
        headers.append((b"content-length", str(len(body)).encode()))

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        return {**scope, "headers": headers}, receive


def _renamed(body: bytes, account: Account) -> bytes:
    """Turn an agent's names of datasets into those of its own ones."""
    if body[:1] != b"{":
        for name in (b"datasetName",):
            mark = b'name="' + name + b'"\r\n\r\n'
            body = body.replace(mark, mark + _prefix(account).encode())
        return body
    document = json.loads(body)
    for name in _NAME_FIELDS:
        value = document.get(name)
        if isinstance(value, str):
            document[name] = _prefix(account) + value
        elif isinstance(value, list):
            document[name] = [_prefix(account) + each for each in value]
    return json.dumps(document).encode()


class _Asked:
    """One request of an account."""

    def __init__(
        self, server: SharingServer, account: Account, query: Mapping[str, list[str]], body: Any
    ) -> None:
        self.server = server
        self.account = account
        self.query = {name: values[0] for name, values in query.items()}
        self.body = body

    @property
    def is_owner(self) -> bool:
        return self.account is self.server.owner

    def within_rights(self, path: str) -> Response | None:
        """Refuse an agent what it has no right to."""
        body = self.body if isinstance(self.body, dict) else {}
        ids = [body[name] for name in _ID_FIELDS if body.get(name)]
        flat = [each for value in ids for each in (value if isinstance(value, list) else [value])]
        need = "read" if path.endswith("/recall") else "write"
        if all(self.server.may(self.account, need, each) for each in flat):
            return None
        text = f"Request owner does not have necessary permission: [{need}]"
        return JSONResponse({"detail": f"{text} [PermissionDeniedError]"}, 403)


def _forbidden() -> Response:
    return JSONResponse({"detail": "Not the owner. [PermissionDeniedError]"}, 403)


def _provision(asked: _Asked, parts: list[str]) -> Response:
    server, plugin = asked.server, parts[2]
    if plugin not in PLUGINS:
        return JSONResponse({"detail": f"Unknown plugin: '{plugin}'"}, 404)
    if not asked.is_owner:
        return _forbidden()
    create_only = server.create_only and asked.query.get("create_only") == "true"
    known = server.agents.get(plugin)
    if known is not None and known.key and create_only:
        told = {"pluginKey": plugin, "agentId": known.id, "apiKey": None, "created": False}
        return JSONResponse(told)
    email = f"{plugin}+{server.owner.id}@cognee.agent"
    made = known or Account(str(uuid.uuid4()), email, parent=server.owner.id)
    made.key = secrets.token_hex(32)
    server.agents[plugin] = made
    told = {"pluginKey": plugin, "agentId": made.id, "apiKey": made.key}
    return JSONResponse({**told, "created": create_only or known is None})


def _disconnect(asked: _Asked, parts: list[str]) -> Response:
    known = asked.server.agents.get(parts[2])
    if known is not None:
        known.key = ""
    return JSONResponse({"disconnected": known is not None})


def _me(asked: _Asked, _parts: list[str]) -> Response:
    account = asked.account
    return JSONResponse(
        {
            "id": account.id,
            "email": account.email,
            "is_active": True,
            "tenant_id": account.tenant or None,
            "parent_user_id": account.parent or None,
        }
    )


def _datasets(asked: _Asked, _parts: list[str]) -> Response:
    return JSONResponse(asked.server.rows(asked.account))


def _tenants(asked: _Asked, _parts: list[str]) -> Response:
    return JSONResponse([{"id": k, "name": v} for k, v in asked.server.tenants.items()])


def _create_tenant(asked: _Asked, _parts: list[str]) -> Response:
    made = str(uuid.uuid4())
    asked.server.tenants[made] = asked.query["tenant_name"]
    asked.account.tenant = made
    return JSONResponse({"message": "Tenant created.", "tenant_id": made})


def _select_tenant(asked: _Asked, _parts: list[str]) -> Response:
    asked.account.tenant = asked.body["tenant_id"]
    return JSONResponse({"message": "Tenant selected.", "tenant_id": asked.account.tenant})


def _roles(asked: _Asked, parts: list[str]) -> Response:
    if not asked.is_owner:
        return _forbidden()
    found = [each for each in asked.server.roles.values() if each.tenant == parts[2]]
    return JSONResponse([{"id": each.id, "name": each.name} for each in found])


def _create_role(asked: _Asked, _parts: list[str]) -> Response:
    name, tenant = asked.query["role_name"], asked.account.tenant
    if any((each.name, each.tenant) == (name, tenant) for each in asked.server.roles.values()):
        return PlainTextResponse("Internal Server Error", 500)
    made = Role(str(uuid.uuid4()), name, tenant)
    asked.server.roles[made.id] = made
    return JSONResponse({"message": "Role created for tenant", "role_id": made.id})


def _join_tenant(_asked: _Asked, _parts: list[str]) -> Response:
    return JSONResponse({"message": "User added to tenant"})


def _join_role(asked: _Asked, parts: list[str]) -> Response:
    role = asked.server.roles[asked.query["role_id"]]
    if parts[2] in role.members:
        text = "User is already part of group. [EntityAlreadyExistsError]"
        return JSONResponse({"detail": text}, 409)
    role.members.add(parts[2])
    return JSONResponse({"message": "User added to role"})


def _leave_role(asked: _Asked, parts: list[str]) -> Response:
    asked.server.roles[asked.query["role_id"]].members.discard(parts[2])
    return JSONResponse({"message": "User removed from role"})


def _grant(asked: _Asked, parts: list[str]) -> Response:
    server = asked.server
    there = {row["id"] for row in server.rows(server.owner)} - server.ungrantable
    if not asked.is_owner or not set(asked.body) <= there:
        return _forbidden()
    held = server.grants.setdefault((parts[2], asked.query["permission_name"]), set())
    held |= set(asked.body)
    return JSONResponse({"message": "Permission assigned to principal"})


def _revoke(asked: _Asked, parts: list[str]) -> Response:
    held = asked.server.grants.get((parts[2], asked.query["permission_name"]), set())
    held -= set(asked.body)
    return JSONResponse({"message": "Permission revoked"})


def _granted(asked: _Asked, parts: list[str]) -> Response:
    server = asked.server
    held = server.grants.get((parts[2], asked.query["permission_name"]), set())
    own = {
        row["id"]
        for row in server.rows(server.owner)
        if parts[2] == server.owner.id == row["ownerId"]
    }
    return JSONResponse([row for row in server.rows(server.owner) if row["id"] in held | own])


_Answering = Callable[[_Asked, list[str]], Response]
_ROUTES: list[tuple[str, str, _Answering]] = [
    ("POST", "integrations/plugins/*/provision", _provision),
    ("DELETE", "integrations/plugins/*", _disconnect),
    ("GET", "users/me", _me),
    ("GET", "datasets", _datasets),
    ("GET", "permissions/tenants/me", _tenants),
    ("POST", "permissions/tenants", _create_tenant),
    ("POST", "permissions/tenants/select", _select_tenant),
    ("GET", "permissions/tenants/*/roles", _roles),
    ("POST", "permissions/roles", _create_role),
    ("POST", "permissions/users/*/tenants", _join_tenant),
    ("POST", "permissions/users/*/roles", _join_role),
    ("DELETE", "permissions/users/*/roles", _leave_role),
    ("POST", "permissions/datasets/*", _grant),
    ("DELETE", "permissions/datasets/*", _revoke),
    ("GET", "permissions/principals/*/datasets", _granted),
]


def _route(method: str, parts: list[str]) -> _Answering | None:
    for known, pattern, answering in _ROUTES:
        wanted = pattern.split("/")
        alike = len(wanted) == len(parts) and all(
            a in {"*", b} for a, b in zip(wanted, parts, strict=True)
        )
        if known == method and alike:
            return answering
    return None


def _description(server: SharingServer) -> dict[str, Any]:
    parameters = [{"name": "plugin_key", "in": "path"}]
    if server.create_only:
        parameters.append({"name": "create_only", "in": "query"})
    entry = {"x-cognee-session-dataset-ids": True} if server.typed_ids else {}
    provision = "/api/v1/integrations/plugins/{plugin_key}/provision"
    return {
        "openapi": "3.1.0",
        "paths": {
            provision: {"post": {"parameters": parameters}},
            "/api/v1/remember/entry": {"post": entry},
        },
    }

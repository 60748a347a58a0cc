"""Accounts and rights: what released servers have, and what is never asked of them.

On cognee 1.6 a second provisioning changes the key of the account that is there, whatever is asked
for. So the plugin must not send one, and the proof is at the server: an account made before a
session still has its key after it.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.events import SessionEnd, SessionStart, Stop, UserPromptSubmit
from cognee_hooks.host import Host
from cognee_hooks.services.accounts import Contract
from cognee_hooks.services.answers import DatasetRef
from cognee_hooks.services.catalogue import Catalogue
from cognee_hooks.services.client import CogneeClient
from cognee_hooks.services.identities import READ, WRITE
from cognee_hooks.services.keys import Key
from cognee_hooks.services.keysource import FixedKey
from cognee_hooks.services.rights import Rights
from tests.support.redacted import redacted
from tests.support.servers import REAL_NAMES, Server, ServerPool
from tests.support.waiting import until

SOON = 30.0
ACCOUNTS = ("/api/v1/integrations", "/api/v1/permissions")


@pytest.fixture(params=[pytest.param(each, marks=pytest.mark.real_cognee) for each in REAL_NAMES])
def real(request: pytest.FixtureRequest, servers: ServerPool) -> Server:
    return servers.get(request.param)


@dataclass
class Person:
    """An account of somebody who has no data yet.

    Attributes:
        url: The server.
        key: The account's key.
    """

    url: str
    key: str

    def http(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, headers={"X-Api-Key": self.key}, timeout=60)

    def provision(self, plugin: str) -> tuple[str, str]:
        """Make an account for a plugin as nobody but a test may; returns its id and key."""
        with self.http() as api:
            path = f"/api/v1/integrations/plugins/{plugin}/provision"
            made = api.post(path).raise_for_status().json()
        return made["agentId"], made["apiKey"]

    def connected(self) -> set[str]:
        """Plugins that have an account with a key."""
        with self.http() as api:
            listed = api.get("/api/v1/integrations/status").raise_for_status().json()["plugins"]
        return {each["key"] for each in listed if each["connected"]}


@pytest.fixture
def person(real: Server) -> Person:
    login = {"email": f"{uuid.uuid4().hex[:12]}@example.com", "password": "made-up-for-tests"}
    with httpx.Client(base_url=real.url, timeout=60) as api:
        api.post("/api/v1/auth/register", json=login).raise_for_status()
        form = {"username": login["email"], "password": login["password"]}
        token = api.post("/api/v1/auth/login", data=form).raise_for_status().json()["access_token"]
        bearer = {"Authorization": f"Bearer {token}"}
        made = api.post("/api/v1/auth/api-keys", json={"name": "tests"}, headers=bearer)
        return Person(real.url, made.raise_for_status().json()["key"])


class Recorder(httpx.AsyncBaseTransport):
    """Passes requests on and notes down each that left."""

    def __init__(self) -> None:
        self.left: list[str] = []
        self._network = httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.left.append(f"{request.method} {request.url.path}")
        return await self._network.handle_async_request(request)

    async def aclose(self) -> None:
        await self._network.aclose()


Speaking = Callable[..., CogneeClient]


@pytest.fixture
async def speaking() -> AsyncIterator[Speaking]:
    """Makes clients of one key each."""
    made: list[CogneeClient] = []

    def client(url: str, key: str, transport: httpx.AsyncBaseTransport | None = None):
        made.append(CogneeClient(url, FixedKey(Key(key)), transport=transport))
        return made[-1]

    yield client
    for each in made:
        await each.aclose()


async def play(home: Path, person: Person, policy: str, speaking: Speaking) -> list[str]:
    """Play a session and return the requests that it sent."""
    recorder = Recorder()
    host = Host(
        "claude-code",
        environ={
            "HOME": str(home),
            "COGNEE_BASE_URL": person.url,
            "COGNEE_API_KEY": person.key,
            "COGNEE_PLUGIN_IDENTITY": policy,
            "COGNEE_RECALL_WARM_UP": "false",
        },
        session_id=f"claude_{uuid.uuid4().hex[:8]}",
        entry_points=(),
        client=speaking(person.url, person.key, recorder),
    )
    here = {"session_id": host.session.session_id, "agent": "claude-code"}
    await host.start()
    await host.session_start(SessionStart(**here))
    await until(lambda: host.services.health.state == "ok", seconds=SOON)
    assert await host.background.settle(Deadline.after(SOON))
    await host.user_prompt_submit(UserPromptSubmit(**here, prompt="Where are the books kept?"))
    await host.stop(Stop(**here, last_assistant_message="In the PapaStore."))
    await until(lambda: not host.waiting, seconds=SOON)
    assert await host.registered.commands["datasets"].run("")
    await host.session_end(SessionEnd(**here))
    await host.close(Deadline.after(5.0))
    return recorder.left


async def test_a_released_server_announces_nothing_of_what_provisioning_needs(
    server: Server, speaking: Speaking
):
    client = speaking(server.url, server.key)
    assert await client.accounts.contract(Deadline.after(SOON)) == Contract()


@pytest.mark.parametrize("policy", ["auto", "true"])
async def test_no_request_that_could_change_a_key_or_a_right_ever_leaves(
    person: Person, tmp_path: Path, policy: str, speaking: Speaking
):
    agent_id, agent_key = person.provision("claude-code")
    left = await play(tmp_path, person, policy, speaking)
    assert "GET /openapi.json" in left
    assert "POST /api/v1/remember/entry" in left
    about_accounts = [each for each in left if each.split()[1].startswith(ACCOUNTS)]
    assert all(each.startswith("GET ") for each in about_accounts)
    assert not [each for each in left if "provision" in each]
    # Provisioning once more would have changed this key.
    agent = speaking(person.url, agent_key)
    assert (await agent.accounts.whoami(Deadline.after(SOON))).id == agent_id
    assert person.connected() == {"claude-code"}
    owner = speaking(person.url, person.key)
    assert await owner.accounts.tenants(Deadline.after(SOON)) == []


async def test_rights_are_told_of_what_is_ones_own(server: Server, name: str, speaking: Speaking):
    client, soon = speaking(server.url, server.key), Deadline.after(SOON)
    made = await client.ensure_dataset(name, soon)
    rights = await Rights.load(client, await Catalogue.load(client, soon), soon)
    assert rights.writable[made.id] is True
    assert rights.known == (server.name in REAL_NAMES)


async def test_memory_that_two_agents_share_through_a_role(
    real: Server, person: Person, speaking: Speaking
):
    """The sequence that works on released servers, call by call."""
    owner, soon = speaking(person.url, person.key), Deadline.after(90.0)
    accounts = owner.accounts
    assert await accounts.tenants(soon) == []
    tenant = await accounts.create_tenant("team", soon)
    assert [each.id for each in await accounts.tenants(soon)] == [tenant]
    assert (await accounts.whoami(soon)).tenant_id == tenant
    dataset = await accounts.create_dataset("team_mem", soon)
    assert await accounts.roles(tenant, soon) == []
    role = await accounts.create_role("cognee-agent", soon)
    with pytest.raises(ServerFailure) as taken:
        await accounts.create_role("cognee-agent", soon)
    assert taken.value.status in {409, 500}
    assert [each.name for each in await accounts.roles(tenant, soon)] == ["cognee-agent"]
    agents = {}
    for plugin in ("claude-code", "codex"):
        agent_id, key = person.provision(plugin)
        agents[plugin] = agent = speaking(person.url, key)
        for _ in range(2):  # what is done already is fine
            await accounts.join_tenant(agent_id, tenant, soon)
            await accounts.join_role(agent_id, role, soon)
        await agent.accounts.select_tenant(tenant, soon)
        assert (await agent.accounts.whoami(soon)).parent_id
        with pytest.raises(ServerFailure, match="forbidden"):
            await agent.accounts.create_role("another", soon)
    for permission in (READ, WRITE):
        await accounts.grant(role, permission, [dataset], soon)
    assert await accounts.granted(role, WRITE, soon) == {dataset}
    claude = agents["claude-code"]
    assert [row.id for row in await claude.accounts.datasets(soon)] == [dataset]
    ref = DatasetRef(id=dataset)
    fact = redacted("The books are kept in the PapaStore.")
    await claude.documents.remember(
        fact, file_name=redacted("a.txt"), dataset=ref, deadline=soon, background=False
    )
    query = redacted("Where are the books kept?")
    for reader in (*agents.values(), owner):
        found = await reader.recall(query, dataset=ref, deadline=soon)
        assert "PapaStore" in found[0].text
    entry = redacted({"type": "qa", "question": "q", "answer": "a"})
    stored = claude.store_entry(entry, session_id="claude_1", dataset=ref, deadline=soon)
    if real.can.binds_sessions:
        assert (await stored).dataset_id == dataset
    else:
        with pytest.raises(ServerFailure, match="rejected"):
            await stored
    member = (await claude.accounts.whoami(soon)).id
    await accounts.leave_role(member, role, soon)
    with pytest.raises(ServerFailure) as failed:
        await claude.recall(query, dataset=ref, deadline=soon)
    assert failed.value.kind is FailureKind.FORBIDDEN


async def test_a_right_that_is_given_directly_and_taken_back(person: Person, speaking: Speaking):
    owner, soon = speaking(person.url, person.key), Deadline.after(90.0)
    agent_id, key = person.provision("codex")
    agent = speaking(person.url, key)
    dataset = await owner.accounts.create_dataset("mine", soon)
    for permission in (READ, WRITE):
        await owner.accounts.grant(agent_id, permission, [dataset], soon)
    catalogue = await Catalogue.load(agent, soon)
    rights = await Rights.load(agent, catalogue, soon)
    assert rights.writable == {dataset: True}
    await owner.accounts.revoke(agent_id, WRITE, [dataset], soon)
    rights = await Rights.load(agent, catalogue, soon)
    assert rights.writable == {dataset: False}
    with pytest.raises(ServerFailure, match="forbidden"):
        await owner.accounts.grant(agent_id, READ, [str(uuid.uuid4())], soon)
    await owner.accounts.disconnect("codex", soon)
    with pytest.raises(ServerFailure, match="auth"):
        await agent.accounts.whoami(soon)


async def test_a_session_is_attributed_to_its_agent_while_it_lasts(
    real: Server, person: Person, speaking: Speaking, name: str
):
    client, soon = speaking(person.url, person.key), Deadline.after(SOON)
    for _ in range(2):  # a conversation that switched is registered again
        await client.accounts.register(name, f"pi_{name}", "pi", soon)
    with person.http() as api:
        path = f"/api/v1/agents/connections/me?agent_session_name={name}"
        known = api.get(path).raise_for_status().json()["agent"]
    assert (known["session_id"], known["type"], known["status"]) == (f"pi_{name}", "pi", "active")
    await client.accounts.unregister(name, soon)
    with person.http() as api:
        ended = api.get(path)
    # 1.6.0 forgets it, 1.6.5 keeps it.
    assert ended.status_code == 404 or ended.json()["agent"]["status"] == "inactive"


async def test_a_server_without_connections_says_so(embedded_server: Server, speaking: Speaking):
    client = speaking(embedded_server.url, embedded_server.key)
    with pytest.raises(ServerFailure, match="not_found"):
        await client.accounts.register("x", "pi_x", "pi", Deadline.after(SOON))


async def test_rights_are_given_by_hand(real: Server, person: Person, tmp_path: Path):
    agent_id, _ = person.provision("codex")
    host = Host(
        "pi",
        environ={
            "HOME": str(tmp_path),
            "COGNEE_BASE_URL": person.url,
            "COGNEE_API_KEY": person.key,
        },
        session_id="pi_s1",
        entry_points=(),
    )
    access = host.registered.commands["access"].run
    await host.services.client.ensure_dataset("notes", Deadline.after(SOON))
    assert "notes (" in await access("")
    assert "may now read 'notes'" in await access(f"grant notes {agent_id} --read --yes")
    assert "may no longer read 'notes'" in await access(f"revoke notes {agent_id} --read")
    told = await access(f"grant notes {uuid.uuid4()} --yes")
    assert "most likely since it knows no such account" in told
    await host.close(Deadline.after(5.0))

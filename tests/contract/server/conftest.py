"""The server under test: each case runs against the embedded one and two real ones."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import httpx
import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.services.client import CogneeClient
from cognee_hooks.services.keys import Key
from tests.support.api import remember
from tests.support.servers import NAMES, REAL_NAMES, Server, ServerPool


@pytest.fixture(
    params=[
        pytest.param(name, marks=[pytest.mark.real_cognee] if name in REAL_NAMES else [])
        for name in NAMES
    ]
)
def server(request: pytest.FixtureRequest, servers: ServerPool) -> Server:
    return servers.get(request.param)


@pytest.fixture
def api(server: Server) -> Iterator[httpx.Client]:
    """A client with the owner's key. Idle connections are dropped before the server drops them."""
    with httpx.Client(
        base_url=server.url,
        headers={"X-Api-Key": server.key},
        timeout=60,
        limits=httpx.Limits(keepalive_expiry=2),
    ) as client:
        yield client


@pytest.fixture
def anonymous(server: Server) -> Iterator[httpx.Client]:
    """A client without credentials."""
    with httpx.Client(base_url=server.url, timeout=60) as client:
        yield client


@pytest.fixture
def name() -> str:
    """A name that no other test uses, good for datasets and sessions."""
    return f"t_{uuid.uuid4().hex[:12]}"


@dataclass(frozen=True)
class Library:
    """A dataset that holds three documents and that tests only read."""

    name: str
    id: str
    texts: tuple[str, ...]


LIBRARY = (
    "AlphaService keeps its double entry books in the RubyLedger.",
    "Deployments of the BravoGateway are rolled out by the HarborPipeline every Tuesday.",
    "The CharlieCache evicts entries after forty minutes without a read.",
)


@pytest.fixture(scope="session")
def libraries() -> dict[str, Library]:
    """One library a server, filled by the first test that wants it."""
    return {}


@pytest.fixture
def library(server: Server, api: httpx.Client, libraries: dict[str, Library]) -> Library:
    if server.name not in libraries:
        answer = remember(api, "library", *LIBRARY)
        libraries[server.name] = Library("library", answer["dataset_id"], LIBRARY)
    return libraries[server.name]


class OneKey:
    """The owner's key, and no other."""

    def __init__(self, value: str) -> None:
        self._key = Key(value, "test")

    async def key(self, deadline: Deadline) -> Key:
        return self._key

    async def rejected(self, key: Key) -> None:
        raise AssertionError("the key is good")


@pytest.fixture
async def client(server: Server) -> AsyncIterator[CogneeClient]:
    """Our client, as the owner of the server."""
    made = CogneeClient(server.url, OneKey(server.key))
    yield made
    await made.aclose()

from __future__ import annotations

import pytest

from cognee_hooks.services.client import CogneeClient
from cognee_hooks.services.keys import Key, KeyChain
from tests.support.fake_server import KEY, FakeServer

CONFIGURED = Key(KEY, "shell env")


@pytest.fixture
async def server():
    async with FakeServer() as running:
        yield running


@pytest.fixture
def chain(tmp_path):
    def build(url, configured=None):
        return KeyChain(
            url,
            configured,
            cache_path=tmp_path / "shared" / "api_key.json",
            email="default_user@example.com",
            password="default_" + "password",
            agent="pi",
        )

    return build


@pytest.fixture
async def client_of(chain):
    made = []

    def build(url, configured=CONFIGURED, **options):
        made.append(CogneeClient(url, chain(url, configured), **options))
        return made[-1]

    yield build
    for each in made:
        await each.aclose()


@pytest.fixture
def client(server, client_of):
    return client_of(server.url)

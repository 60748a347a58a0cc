"""What servers say about their models, to whoever asks."""

from __future__ import annotations

from builtin_plugins.recall.models import rows
from cognee_hooks.deadline import Deadline
from cognee_hooks.results import CheckStatus
from cognee_hooks.services.client import CogneeClient
from cognee_hooks.services.keys import Key
from cognee_hooks.services.keysource import FixedKey
from tests.support.servers import REAL_NAMES, Server


async def test_a_server_tells_without_a_key_whether_its_models_take_its_keys(server: Server):
    client = CogneeClient(server.url, FixedKey(Key("")))
    try:
        found = await rows(client, Deadline.after(40))
    finally:
        await client.aclose()
    expected = ["model", "embedding model"] if server.name in REAL_NAMES else []
    assert [each.name for each in found] == expected
    assert all(each.status is CheckStatus.OK for each in found)

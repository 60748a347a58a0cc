from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.host import Host
from tests.support.compacting import quiet_host
from tests.support.scripted import ScriptedClient


@pytest.fixture
def client() -> ScriptedClient:
    return ScriptedClient()


@pytest.fixture
async def host(client: ScriptedClient, isolated_environment: Path) -> AsyncIterator[Host]:
    host = quiet_host(isolated_environment, client)
    yield host
    await host.close(Deadline.after(2))

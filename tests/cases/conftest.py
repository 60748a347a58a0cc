"""The machine on which users met the cases."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.cases.machine import Machine
from tests.support.daemon import agent_environment, daemon_of
from tests.support.fake_server import FakeServer


@pytest.fixture
async def machine(isolated_environment: Path) -> AsyncIterator[Machine]:
    """A machine with a memory server that is well."""
    async with FakeServer() as server:
        environ = agent_environment(isolated_environment, server.url)
        async with daemon_of(environ):
            yield Machine(isolated_environment, environ, server)

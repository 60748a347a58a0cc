"""An embedded server or its stores, on a fresh data file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from cognee_hooks.embedded import EmbeddedServer
from cognee_hooks.embedded.memory import EmbeddedMemory


@pytest.fixture
def data_path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def memory(data_path: Path) -> Iterator[EmbeddedMemory]:
    opened = EmbeddedMemory(data_path, "secret")
    yield opened
    opened.close()


@pytest.fixture
def open_api(data_path: Path) -> Iterator[httpx.Client]:
    """A client of a server without authentication."""
    with (
        EmbeddedServer(data_path, auth=False) as server,
        httpx.Client(base_url=server.url, timeout=30) as client,
    ):
        yield client

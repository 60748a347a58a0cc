from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builtin_plugins.bridge.buffer import Buffer
from builtin_plugins.bridge.items import Vault
from builtin_plugins.bridge.limits import BufferLimits
from cognee_hooks.services.crypto import KEY_BYTES, Sealer
from tests.support.bridged import STEM, Clock, ListServer, SmallContext


@pytest.fixture
def sealer() -> Sealer:
    return Sealer(bytes(range(KEY_BYTES)))


@pytest.fixture
def vault(sealer) -> Vault:
    return Vault(sealer, STEM)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "bridge"


@pytest.fixture
def buffer_of(folder, sealer, clock) -> Callable[..., Buffer]:
    """Make a buffer of the one session, as another process would."""

    def make(entries: int = 1000, **options: Any) -> Buffer:
        key = options.pop("sealer", sealer)
        return Buffer(folder, STEM, key, BufferLimits(entries, **options), now=clock)

    return make


@pytest.fixture
def buffer(buffer_of) -> Buffer:
    return buffer_of()


@pytest.fixture
def server() -> ListServer:
    return ListServer()


@pytest.fixture
def context(server, clock) -> SmallContext:
    return SmallContext(server, clock)

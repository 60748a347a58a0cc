from __future__ import annotations

import pytest

from tests.support.scripted import ScriptedClient


@pytest.fixture
def client() -> ScriptedClient:
    return ScriptedClient()

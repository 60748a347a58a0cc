from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cognee_hooks.cli import main, server
from cognee_hooks.embedded.accounts import DEFAULT_PASSWORD


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the command would serve with."""
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(server, "serve", lambda *_, **options: calls.append(options))
    return calls


def test_the_login_is_the_well_known_one_where_nobody_says_otherwise(served):
    assert main(["server"]) == 0
    assert served[0]["password"] == DEFAULT_PASSWORD


def test_the_login_is_the_one_that_clients_use(served, isolated_environment: Path):
    file = isolated_environment / ".cognee" / ".env"
    file.parent.mkdir()
    file.write_text("COGNEE_USER_PASSWORD=of-my-own\n")
    main(["server"])
    assert served[0]["password"] == "of-my-own"


def test_whoever_starts_it_for_somebody_else_says_the_login(served, monkeypatch):
    monkeypatch.setenv("COGNEE_USER_PASSWORD", "of-my-own")
    monkeypatch.setenv("DEFAULT_USER_PASSWORD", "of-theirs")
    main(["server"])
    assert served[0]["password"] == "of-theirs"

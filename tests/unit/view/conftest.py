from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from cognee_hooks.services.names import session_file_stem
from cognee_hooks.services.paths import Paths
from cognee_hooks.view.installed import Found
from cognee_hooks.view.sources import Sources
from tests.support.ledgers import LedgerWriter

NOW = 1_750_000_000.0


class Daemon:
    """What a daemon answers, by what it is asked; nothing where none runs."""

    def __init__(self) -> None:
        self.answers: dict[str, Mapping[str, Any]] = {}
        self.asked: list[tuple[str, Mapping[str, Any]]] = []

    def ask(
        self, folder: Path, verb: str, deadline: object, **fields: object
    ) -> Mapping[str, Any] | None:
        self.asked.append((verb, fields))
        return self.answers.get(verb)

    def serves(self, *session_ids: str, **more: object) -> None:
        """Let sessions live."""
        rows = [
            {"session_id": each, "agent": "pi", "began": NOW - 60, "last_event": NOW, "waiting": 0}
            for each in session_ids
        ]
        self.answers["status"] = {"pid": 77, "version": "1.2.3", "sessions": rows, **more}


@pytest.fixture
def daemon() -> Daemon:
    return Daemon()


@pytest.fixture
def record(isolated_environment: Path) -> LedgerWriter:
    return LedgerWriter()


@pytest.fixture
def sources(isolated_environment: Path, daemon: Daemon) -> Sources:
    return Sources(dict(os.environ), Found, ask=daemon.ask, now=lambda: NOW)


@pytest.fixture
def put(isolated_environment: Path) -> Callable[..., Path]:
    """Puts a file of waiting entries where the bridge has them."""

    def write(session_id: str, content: str, folder: str = "", agent: str = "pi") -> Path:
        name = f"{session_file_stem(session_id)}.json"
        path = Paths.of(os.environ, agent).bridge_dir / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    return write

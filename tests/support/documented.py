"""Payloads of one agent, captured or taken from its documentation, one a file, named for events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cognee_hooks.results import Agent

DATA = Path(__file__).parents[1] / "data"
SESSION_ID = "agent_s1"


class Documented:
    """The payloads of one agent.

    Args:
        agent: Its adapter.
        version: The version that they were captured from; "" for documented ones.
    """

    def __init__(self, agent: Agent, version: str = "") -> None:
        self.agent = agent
        self._folder = DATA / agent.name / version
        self.paths = sorted(self._folder.glob("*.json"))

    def payload(self, name: str, **changes: Any) -> dict[str, Any]:
        """A payload by the name of its file."""
        document: dict[str, Any] = json.loads((self._folder / f"{name}.json").read_text())
        return document | changes

    def read(self, name: str, **changes: Any) -> Any:
        """The event that a payload becomes."""
        event = name.partition(".")[0]
        return self.agent.read(event, self.payload(name, **changes), session_id=SESSION_ID)

    def kinds(self) -> dict[str, str]:
        """Name of the event that each payload becomes, by the name of its file."""
        return {path.stem: type(self.read(path.stem)).__name__ for path in self.paths}

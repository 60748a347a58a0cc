"""Hosts with a real memory server behind them, as a program that runs an agent SDK makes them."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from cognee_hooks import Host
from cognee_hooks.events import Stop, UserPromptSubmit
from cognee_hooks.sdk import running
from tests.support.servers import Server

FACT = "the quillfeather service listens on port 7431"
QUESTION = "Where does the quillfeather service listen?"


@dataclass(frozen=True)
class Memories:
    """One dataset of a server, and hosts that use it.

    Attributes:
        server: The server.
        home: Home folder of the hosts.
        dataset: Name of the dataset.
    """

    server: Server
    home: Path
    dataset: str

    @classmethod
    def fresh(cls, server: Server, home: Path) -> Memories:
        """A dataset that nothing is in."""
        return cls(server, home, f"sdk_{uuid.uuid4().hex[:8]}")

    def host(self, agent: str, session_id: str, **options: Any) -> Host:
        """Make a host that keeps every tool's calls."""
        environ = {
            "HOME": str(self.home),
            "COGNEE_BASE_URL": self.server.url,
            "COGNEE_API_KEY": self.server.key,
            "COGNEE_PLUGIN_DATASET": self.dataset,
            "COGNEE_CAPTURE_TOOLS": "*",
            "COGNEE_RECALL_TIMEOUT_MS": "9000",
            **options.pop("environ", {}),
        }
        return Host(agent, environ=environ, session_id=session_id, entry_points=(), **options)

    async def remember(self) -> None:
        """Have an earlier session in which the fact came up."""
        # A session belongs to one dataset, so its id may not come back in another one.
        session_id = f"earlier_{self.dataset}"
        async with self.running("earlier", session_id) as host:
            await host.user_prompt_submit(UserPromptSubmit(session_id=session_id, prompt=QUESTION))
            answer = f"I looked it up: {FACT}."
            await host.stop(Stop(session_id=session_id, last_assistant_message=answer))

    @asynccontextmanager
    async def running(self, agent: str, session_id: str, **options: Any) -> AsyncIterator[Host]:
        """Run a host for the length of the block."""
        async with running(self.host(agent, session_id, **options)) as host:
            yield host

    def stored(self, session_id: str) -> str:
        """Everything that the server holds of a session."""
        answer = httpx.get(
            f"{self.server.url}/api/v1/sessions/{session_id}",
            headers={"X-Api-Key": self.server.key},
            timeout=60,
        )
        return answer.raise_for_status().text

"""Conversations of agents with the sessions of a daemon, in this process."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cognee_hooks.agents import BUILT_IN
from cognee_hooks.daemon.journal import Journal
from cognee_hooks.daemon.live_session import Incoming
from cognee_hooks.daemon.protocol import Opening
from cognee_hooks.daemon.sessions import LiveSessions, origin_of
from cognee_hooks.services.crypto import Sealer
from tests.support.agent_samples import CAPTURED, DATA


class Conversations:
    """Passes payloads that were captured from an agent on, as the daemon's socket does.

    Args:
        folder: The daemon's.
        environ: The agent's environment.
        agent: Its name.
        pid: Its process; 0 for one that nobody watches.
    """

    def __init__(
        self, folder: Path, environ: Mapping[str, str], agent: str = "claude-code", pid: int = 0
    ) -> None:
        self.sessions = LiveSessions(Journal(folder, Sealer(b"k" * 32)))
        self._environ = dict(environ)
        self._agent = BUILT_IN[agent]
        self._pid = pid
        self._idents = itertools.count(1)

    def sample(self, name: str, **changes: Any) -> dict[str, Any]:
        """Return a captured payload."""
        folder = DATA / self._agent.name / CAPTURED.get(self._agent.name, "")
        document: dict[str, Any] = json.loads((folder / f"{name}.json").read_text())
        return document | changes

    async def event(self, name: str, **changes: Any) -> str:
        """Pass an event on and return the agent's answer.

        Args:
            name: Name of a captured payload, which begins with that of the event.
            changes: Fields that are different from it.
        """
        event, document = name.partition(".")[0], self.sample(name, **changes)
        opening = Opening(
            version="",
            kind="hook",
            ident=f"{next(self._idents):020}-1",
            agent=self._agent.name,
            event=event,
            pid=self._pid,
            cwd=document["cwd"],
            environ=self._environ,
        )
        incoming = Incoming.of(self._agent, opening, document)
        if incoming is None:  # no event of ours
            return ""
        self.sessions.keep(opening, json.dumps(document).encode())
        session = self.sessions.session_of(self._agent, opening, origin_of(self._agent, document))
        return await self.sessions.handle(session, incoming)

    def live(self) -> list[str]:
        """Return the ids of the sessions that are not over."""
        return [session.row()["session_id"] for session in self.sessions._live.values()]

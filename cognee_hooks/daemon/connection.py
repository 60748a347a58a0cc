"""Tells the person at an agent when memory comes and goes: each once, until it is the other way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cognee_hooks.faults import Notice, NoticeLevel

if TYPE_CHECKING:
    from cognee_hooks.events import ConnectionState
    from cognee_hooks.host import Host

CONNECTED = "Cognee Memory Connected"
_AWAY = "Prompts work as usual, and what is captured waits on disk. Run /cognee-doctor to diagnose."
_NO_ADDRESS = "COGNEE_BASE_URL missing for forced cloud mode"
_HEADS: dict[ConnectionState, str] = {
    "offline": "Cognee memory offline",
    "auth": "Cognee memory: the server refuses the key",
    "server-error": "Cognee memory: the server does not work",
}


class ConnectionNews:
    """Knows what the person has been told. One for each agent, so nobody hears a thing twice."""

    def __init__(self) -> None:
        self._told: ConnectionState = "unknown"
        self._told_broken = False

    def take(self, host: Host) -> Notice | None:
        """Return what there is to tell now; None where there is nothing new.

        Args:
            host: The session. Ask again when its server's state has changed and settled.
        """
        health = host.services.health
        state = health.state
        # With a server that is there and fails at every other request it would never end.
        again = state == "server-error" and self._told_broken
        if state in {"unknown", self._told} or again:
            return None
        self._told = state
        self._told_broken |= state == "server-error"
        if state == "ok":
            return Notice(NoticeLevel.INFO, CONNECTED)
        why = _NO_ADDRESS if host.mode.missing_base_url else health.detail
        because = f" ({why})" if why else ""
        return Notice(NoticeLevel.WARNING, f"{_HEADS[state]}{because}. {_AWAY}")

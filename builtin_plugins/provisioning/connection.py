"""Tells the server which agent works with it, for as long as a session lasts.

By the cognee 1.6 HTTP contract a connection has a name of its own and the id of its session, which
is how the server attributes sessions to agents. A server that was started for agents ends when the
last connection does, so one that nobody knows of would lose it in the middle of a session.
"""

from __future__ import annotations

import secrets
from contextlib import suppress

from cognee_hooks import Deadline, PluginContext
from cognee_hooks.errors import FailureKind, ServerFailure

OPEN_SECONDS = 5.0
CLOSE_SECONDS = 0.5


class Connection:
    """One connection.

    Args:
        context: The plugin's context.
    """

    def __init__(self, context: PluginContext) -> None:
        self._context = context
        self._name = f"conn_{secrets.token_hex(16)}"
        self._opened = ""
        self._unknown = False

    @property
    def is_open(self) -> bool:
        """Whether the server was told."""
        return bool(self._opened)

    async def open(self) -> None:
        """Register it with the session as it is now; once, and again after a switch."""
        session = self._context.session
        if self._unknown or not session.session_id or self._opened == session.session_id:
            return
        agent = session.agent.replace("-", "_")
        limit = Deadline.after(OPEN_SECONDS, self._context.clock)
        try:
            accounts = self._context.services.client.accounts
            await accounts.register(self._name, session.session_id, agent, limit)
        except ServerFailure as failure:
            # A server without such a list needs none.
            self._unknown = failure.kind is FailureKind.NOT_FOUND
            self._context.log.debug("agent_not_registered %s", failure.kind.value)
            return
        self._opened = session.session_id

    async def close(self, deadline: Deadline) -> None:
        """Unregister it, where it was and if the server is there.

        Args:
            deadline: When to give up; half a second is the most that it takes.
        """
        if not self._opened or not self._context.services.health.healthy:
            return
        self._opened = ""
        with suppress(ServerFailure):
            accounts = self._context.services.client.accounts
            await accounts.unregister(self._name, deadline.within(CLOSE_SECONDS))

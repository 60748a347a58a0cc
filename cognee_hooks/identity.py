"""With which key to speak to the server: plugins are asked first, then the core's key chain."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from cognee_hooks.services.keys import Key

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.dispatch import Dispatcher
    from cognee_hooks.results import Identity
    from cognee_hooks.services.keys import KeyChain


class Credentials:
    """Where the client gets its key.

    Args:
        dispatcher: Asks the plugins (``cognee_resolve_identity``).
        chain: The core's own keys.
        url: Base URL of the server.
    """

    def __init__(self, dispatcher: Dispatcher, chain: KeyChain, url: str) -> None:
        self._dispatcher = dispatcher
        self._chain = chain
        self._url = url
        self._identity: Key | None = None
        self._asked = False
        self._asking = asyncio.Lock()

    async def key(self, deadline: Deadline) -> Key | None:
        """Return the key to use, or None where there is none.

        Args:
            deadline: The budget of the request that needs the key.
        """
        async with self._asking:
            await self._ask(deadline)
        return self._identity or await self._chain.key(deadline)

    async def _ask(self, deadline: Deadline) -> None:
        if not self._asked:
            called = await self._dispatcher.call(
                "cognee_resolve_identity", deadline=deadline, url=self._url
            )
            identity: Identity | None = called.value
            self._identity = Key(identity.api_key, identity.source) if identity else None
            # A plugin that had no time is asked again; one that keeps failing ends in quarantine.
            faulty = any(outcome.fault for outcome in called.outcomes)
            self._asked = identity is not None or not faulty

    async def rejected(self, key: Key) -> None:
        """Learn that the server refused a key (401); the next request asks anew."""
        if self._identity is not None and key == self._identity:
            self._asked = False
            self._identity = None
        else:
            await self._chain.rejected(key)

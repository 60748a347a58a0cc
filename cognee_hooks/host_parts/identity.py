"""With which key to speak to the server: plugins are asked first, then the core's key chain."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.guard import Attempt, attempt, attempt_await
from cognee_hooks.services.keys import Key
from cognee_hooks.services.names import canonical_uuid

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.dispatch import Dispatcher
    from cognee_hooks.results import Identity, SharedDatasets
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
        self._datasets: SharedDatasets | None = None
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

    @property
    def source(self) -> str:
        """Where the key comes from, for people, as far as it is known without asking anybody."""
        known = self._identity or self._chain.known()
        return known.source if known is not None else self._chain.source

    @property
    def known_value(self) -> str:
        """The key itself, to be kept out of what is shown; "" while none is known."""
        known = self._identity or self._chain.known()
        return known.value if known is not None else ""

    @property
    def shared_names(self) -> Mapping[str, str]:
        """UUIDs that names of datasets lead to, where the account shares another one's."""
        datasets = self._datasets
        if datasets is None:
            return {}
        found = attempt(lambda: dict(datasets.known)).result
        return found if isinstance(found, dict) else {}

    @property
    def shared_ids(self) -> Collection[str]:
        """UUIDs of the datasets that the account may write to as a guest of another one."""
        datasets = self._datasets
        if datasets is None:
            return ()
        found = attempt(lambda: tuple(datasets.shared)).result
        return found if isinstance(found, tuple) else ()

    async def address(self, name: str, deadline: Deadline, *, write: bool) -> str:
        """Return the UUID that the name of a dataset leads to; "" where the name itself does.

        Args:
            name: The name.
            deadline: The budget of the request that needs it.
            write: Whether the dataset is made where it is not there.

        Raises:
            ServerFailure: It cannot be found out now.
        """
        async with self._asking:
            await self._ask(deadline)
        datasets = self._datasets
        if datasets is None:
            return ""
        done = await _led(datasets, name, deadline, write=write)
        if isinstance(done.error, ServerFailure):
            raise done.error
        found = canonical_uuid(done.result) if isinstance(done.result, str) else ""
        if found or not (write or done.error):
            return found
        # By its name it would be made a second time, for this account alone.
        kind = type(done.error).__name__ if done.error else "no id"
        detail = f"the plugin that chose the account could not say which dataset is meant ({kind})"
        raise ServerFailure(FailureKind.UNAVAILABLE, detail, sent=False)

    def reconsider(self) -> None:
        """Ask the plugins anew before the next request, since one has another answer."""
        self._asked = False

    async def _ask(self, deadline: Deadline) -> None:
        if not self._asked:
            called = await self._dispatcher.call(
                "cognee_resolve_identity", deadline=deadline, url=self._url
            )
            identity: Identity | None = called.value
            self._identity = Key(identity.api_key, identity.source) if identity else None
            self._datasets = identity.datasets if identity else None
            # A plugin that had no time is asked again; one that keeps failing ends in quarantine.
            faulty = any(outcome.fault for outcome in called.outcomes)
            self._asked = identity is not None or not faulty

    async def rejected(self, key: Key) -> None:
        """Learn that the server refused a key (401); the next request asks anew."""
        if self._identity is not None and key == self._identity:
            self._asked = False
            self._identity = self._datasets = None
        else:
            await self._chain.rejected(key)


async def _led(datasets: SharedDatasets, name: str, deadline: Deadline, *, write: bool) -> Attempt:
    """Ask a plugin's object where a name leads to; what it raises is a value."""
    called = attempt(lambda: datasets.lead(name, deadline, write=write))
    if called.error is not None:
        return called
    try:
        async with asyncio.timeout(deadline.remaining()):
            return await attempt_await(called.result)
    except TimeoutError as error:
        return Attempt(error=error)

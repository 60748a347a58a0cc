"""Who says which key a request carries."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping
from typing import Protocol

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.keys import Key

_LOG = logging.getLogger("cognee_hooks.client")


class KeySource(Protocol):
    """Says which key to use."""

    async def key(self, deadline: Deadline) -> Key | None:
        """Return the key to use, or None where there is none."""
        ...

    async def rejected(self, key: Key) -> None:
        """Learn that the server refused a key with 401."""
        ...


class SharingKeySource(KeySource, Protocol):
    """Says also which datasets the account of its key means by their names."""

    @property
    def shared_names(self) -> Mapping[str, str]:
        """See `ServerApi.shared_names`."""
        ...

    @property
    def shared_ids(self) -> Collection[str]:
        """See `ServerApi.shared_ids`."""
        ...

    async def address(self, name: str, deadline: Deadline, *, write: bool) -> str:
        """Return the UUID that a name leads to, or ""; see `asking.Address`."""
        ...


class FixedKey:
    """Speaks with one key, whatever the server thinks of it.

    Args:
        key: The key.
    """

    def __init__(self, key: Key) -> None:
        self._key = key

    async def key(self, deadline: Deadline) -> Key:  # noqa: ARG002 - nobody has to be asked
        """Return the key."""
        return self._key

    async def rejected(self, key: Key) -> None:
        """Do nothing: who chose the key decides what its refusal means."""


async def key_of(keys: KeySource, deadline: Deadline) -> Key | None:
    """Return the key for a request, or None where there is none.

    Raises:
        ServerFailure: No time is left for the request, or the key cannot be sent.
    """
    key = None
    try:
        async with asyncio.timeout(deadline.remaining()):
            key = await keys.key(deadline)
    except TimeoutError:
        _LOG.debug("no key in time")
    if deadline.expired:
        detail = "no time was left after looking for an API key"
        raise ServerFailure(FailureKind.TIMED_OUT, detail, sent=False)
    if key is not None and not key.sendable:
        detail = f"the API key ({key.source}) holds characters that no key can have"
        raise ServerFailure(FailureKind.AUTH, detail, sent=False)
    return key

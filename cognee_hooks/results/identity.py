"""Who we are at the server, and what names of datasets mean there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from cognee_hooks.typed import require

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline


@runtime_checkable
class SharedDatasets(Protocol):
    """What names of datasets mean for an account that shares the datasets of another one.

    By the cognee 1.6 HTTP contract a name leads to an account's own datasets only; written to, it
    makes another one. So every name is turned into a UUID first, whatever is done with it.
    """

    @property
    def known(self) -> Mapping[str, str]:
        """UUIDs by name, as far as they are known."""
        ...

    @property
    def shared(self) -> Collection[str]:
        """UUIDs of all datasets that the account may write to as a guest."""
        ...

    async def lead(self, name: str, deadline: Deadline, *, write: bool) -> str:
        """Return the UUID that a name leads to.

        Args:
            name: The name.
            deadline: When to give up.
            write: Whether the dataset is made where it is not there.

        Returns:
            The UUID; "" where there is none, which can only be without ``write``.

        Raises:
            ServerFailure: It cannot be found out now.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who we are at the server.

    Attributes:
        api_key: Sent as ``X-Api-Key``; never shown.
        source: Where the key comes from, for people.
        datasets: Where the account shares another one's datasets: what their names mean. None
            where names mean the account's own.
    """

    api_key: str = field(repr=False)
    source: str
    datasets: SharedDatasets | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, str, "api_key", "source")
        if self.datasets is not None:
            require(self, SharedDatasets, "datasets")

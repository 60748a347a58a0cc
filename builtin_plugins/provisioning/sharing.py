"""What names of datasets mean for the agent's account while it shares its owner's."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from builtin_plugins.provisioning.grants import choose_dataset, share
from builtin_plugins.provisioning.marker import Marker
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.answers import Dataset
from cognee_hooks.services.names import canonical_uuid

if TYPE_CHECKING:
    from builtin_plugins.provisioning.marker import MarkerFile
    from cognee_hooks.deadline import Clock, Deadline
    from cognee_hooks.services.identities import IdentityRoutes

ABSENT_SECONDS = 60.0
"""How long a name that leads nowhere is not looked up again for reading."""


class Sharing:
    """Leads names to the owner's datasets; a `cognee_hooks.results.SharedDatasets`.

    Args:
        owner: The routes, as the owner: datasets are made and shared by nobody else.
        file: Where the sharing stands.
        clock: Monotonic seconds.
    """

    def __init__(self, owner: IdentityRoutes, file: MarkerFile, clock: Clock) -> None:
        self._owner = owner
        self._file = file
        self._clock = clock
        self._marker = Marker()
        self._absent: dict[str, float] = {}
        self._lock = asyncio.Lock()

    def use(self, marker: Marker) -> None:
        """Take up what an earlier session has found out, unless this one knows better."""
        if self._marker.role_id != marker.role_id:
            self._marker = marker

    @property
    def known(self) -> Mapping[str, str]:
        """UUIDs by name, as far as they are known."""
        return self._marker.canonical

    @property
    def shared(self) -> Collection[str]:
        """UUIDs of all datasets that the role was given."""
        return [each for each, denied in self._marker.granted.items() if denied is None]

    async def lead(self, name: str, deadline: Deadline, *, write: bool) -> str:
        """Return the UUID that a name leads to; see `cognee_hooks.results.SharedDatasets`.

        Raises:
            ServerFailure: It cannot be found out now.
        """
        found = self.known.get(name, "")
        if found or (not write and self._clock() < self._absent.get(name, 0.0)):
            return found
        async with self._lock:
            if name in self.known:
                return self.known[name]
            rows = await self._owner.datasets(deadline)
            return await self._settle(name, rows, deadline, write=write)

    async def begin(
        self, marker: Marker, rows: Sequence[Dataset], name: str, deadline: Deadline
    ) -> str:
        """Share all datasets, forget those that are gone, and return what a name leads to.

        Args:
            marker: Where the sharing stands; kept from now on.
            rows: All datasets that the owner can read.
            name: The session's dataset, made where it is not there; a UUID leads to itself.
            deadline: When to give up.

        Raises:
            ServerFailure: The dataset cannot be made or shared.
        """
        async with self._lock:
            there = {row.id for row in rows}
            canonical = {key: each for key, each in marker.canonical.items() if each in there}
            # What a name leads to is looked at anew.
            canonical.pop(name, None)
            self._marker = replace(marker, canonical=canonical)
            if canonical_uuid(name):
                await self._share(rows, deadline)
                self._save()
                return canonical_uuid(name)
            return await self._settle(name, rows, deadline, write=True)

    # -- inside ----------------------------------------------------------------------------------

    async def _settle(
        self, name: str, rows: Sequence[Dataset], deadline: Deadline, *, write: bool
    ) -> str:
        await self._share(rows, deadline)
        parent = self._marker.parent_id
        found = choose_dataset(name, rows, parent, self._marker.granted)
        if not found and not write:
            self._absent[name] = self._clock() + ABSENT_SECONDS
            self._save()
            return ""
        if not found:
            found = await self._owner.create_dataset(name, deadline)
            made = Dataset(found, name, parent)
            await self._share([*rows, made], deadline)
        if self._marker.granted.get(found, 0.0) is not None:
            self._save()
            raise ServerFailure(
                FailureKind.UNAVAILABLE,
                "the dataset cannot be shared with the agent's account at the moment",
                sent=False,
            )
        names = {**self._marker.canonical, name: found}
        self._marker = replace(self._marker, canonical=names)
        self._save()
        return found

    async def _share(self, rows: Sequence[Dataset], deadline: Deadline) -> None:
        memo = await share(
            self._owner,
            self._marker.role_id,
            rows,
            self._marker.granted,
            now=self._file.now(),
            deadline=deadline,
        )
        self._marker = replace(self._marker, granted=memo)

    def _save(self) -> None:
        # Without the file the next session finds the same out once more.
        with suppress(OSError):
            self._file.save(self._marker)

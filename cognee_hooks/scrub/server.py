"""Takes a leaked value out of what a server keeps for the account, by the routes that there are.

Documents are written anew without it. Sessions can only be emptied together with all others of
their dataset, so what they hold is read, kept on disk, and stored again without the value; the
dataset's graph goes with them and is built anew from its documents. What another account owns, and
what no route deletes, is named.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cognee_hooks.errors import ServerFailure
from cognee_hooks.results import Scrubbed, ScrubState
from cognee_hooks.scrub import texts
from cognee_hooks.scrub.finding import Finder, ServerFindings
from cognee_hooks.scrub.pending import Batch, PendingFile
from cognee_hooks.services.answers import DatasetRef
from cognee_hooks.services.crypto import Unreadable

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.leak import Leak
    from cognee_hooks.services.answers import Account, Dataset
    from cognee_hooks.services.api import ServerApi
    from cognee_hooks.services.documents import Document

ASIDE = "cognee-hooks-scrub"
"""Dataset of sessions that belong to none: only sessions of a dataset can be emptied."""


class ServerSide:
    """One account at one server.

    Args:
        client: The server.
        url: Its address, for people.
        account: The account in use.
        leak: The value.
        pending: Keeps what has to go back.

    Attributes:
        url: The server's address.
    """

    def __init__(
        self, client: ServerApi, url: str, account: Account, leak: Leak, pending: PendingFile
    ) -> None:
        self.url = url
        self._client = client
        self._account = account
        self._leak = leak
        self._pending = pending
        self._finder = Finder(client, url, account, leak)
        self._looked = ServerFindings()

    async def look(self, deadline: Deadline) -> list[Scrubbed]:
        """Return what holds the value, and what would be touched to take it out.

        Raises:
            ServerFailure: The server does not answer.
        """
        found = self._looked = await self._finder.find(deadline)
        rows = [*found.rows, *await self._finder.history(deadline), *self._damaged()]
        rows += [self._announced(found, each) for each in found.to_empty]
        if self._left_behind() is not None:
            rows.append(self._finder.row("sessions", ScrubState.FOUND, detail=texts.STOPPED))
        return rows

    async def clean(self, deadline: Deadline) -> list[Scrubbed]:
        """Take the value out after `look`, and return what was done and what stays.

        Raises:
            ServerFailure: The server does not do it; run again, it goes on.
            OSError: What has to go back cannot be kept; nothing was emptied.
        """
        rows = self._damaged()
        await self._resume(deadline)
        # Recall was asked by the look a moment ago; sessions may have got more entries since.
        found = await self._finder.find(deadline, set())
        found.graphs = self._looked.graphs & found.datasets.keys()
        rows += [*found.left, *(row for row in self._looked.left if texts.GRAPH in row.place)]
        for dataset, document in found.documents:
            rows.append(await self._rewrite(found, dataset, document, deadline))
        for dataset_id in found.to_empty:
            rows += await self._empty(found, dataset_id, deadline)
        touched = {dataset.id for dataset, _ in found.documents} | {*found.to_empty}
        left = await self._verify(touched, deadline)
        known = {row.place for row in rows if row.state is ScrubState.LEFT}
        return [*rows, *(row for row in left if row.place not in known)]

    async def forget_dataset(self, dataset_id: str, deadline: Deadline) -> str:
        """Delete a dataset whose name holds the value; returns why not, or "".

        Raises:
            ServerFailure: The server does not do it.
        """
        for row in await self._client.datasets(deadline):
            if row.id == dataset_id and row.owner_id in {"", self._account.id}:
                if not self._leak.count_in(row.name):
                    return "the name of that dataset does not hold the value"
                await self._client.documents.forget(dataset_id, deadline)
                return ""
        return "you own no dataset of that id"

    async def _verify(self, touched: set[str], deadline: Deadline) -> list[Scrubbed]:
        """Return what still holds the value, asked by every route that could show it."""
        found = await self._finder.find(deadline, touched)
        left = []
        for row in found.rows:
            detail = row.detail or texts.STILL
            left.append(Scrubbed(place=row.place, state=ScrubState.LEFT, detail=detail))
        return [*left, *await self._finder.history(deadline)]

    # -- taking out ------------------------------------------------------------------------------

    async def _rewrite(
        self, found: ServerFindings, dataset: Dataset, document: Document, deadline: Deadline
    ) -> Scrubbed:
        place = self._finder.named(dataset, document)
        name = self._leak.cleaned_text(document.file_name or f"{document.name}.txt")
        ids = dataset.id, document.id
        try:
            content = await self._client.documents.content(*ids, deadline)
            cleaned = self._leak.cleaned_bytes(content)
            await self._client.upkeep.rewrite_document(*ids, cleaned, name, deadline)
        except ServerFailure as failure:
            if failure.outage:
                raise
            detail = texts.NOT_REWRITTEN.format(reason=failure.detail or failure.kind.value)
            return self._finder.row(place, ScrubState.LEFT, detail=self._leak.cleaned_text(detail))
        return self._cleaned(found, place)

    async def _empty(
        self, found: ServerFindings, dataset_id: str, deadline: Deadline
    ) -> list[Scrubbed]:
        """Have the sessions of a dataset emptied and stored again."""
        holding = found.sessions.get(dataset_id, [])
        rows = await self._client.upkeep.sessions(deadline)
        if dataset_id:
            dataset, rebuild = found.datasets[dataset_id], True
            ids = [each.id for each in rows if each.dataset_id == dataset_id]
        else:
            dataset, rebuild = await self._client.ensure_dataset(ASIDE, deadline), False
            ids = [each.id for each in holding]
        batch = Batch(dataset.id, dataset.name, rebuild)
        for session_id in ids:
            content = await self._finder.read(session_id, deadline)
            batch.sessions[session_id] = self._leak.cleaned(content.entries)
        self._pending.save(batch)
        if not dataset_id:
            await self._attribute(ids, DatasetRef(dataset.name, dataset.id), deadline)
        await self._client.upkeep.drop_memory(dataset.id, deadline)
        await self._store_again(batch, deadline)
        places = [f"session {each.id}" for each in holding]
        if dataset_id in found.graphs:
            places.append(f"dataset {dataset.name}: {texts.GRAPH}")
        return [self._cleaned(found, each) for each in places]

    def _cleaned(self, found: ServerFindings, place: str) -> Scrubbed:
        row = self._finder.row(place, ScrubState.CLEANED)
        count = sum(each.count for each in found.rows if each.place == row.place)
        return replace(row, count=count)

    async def _attribute(self, ids: list[str], dataset: DatasetRef, deadline: Deadline) -> None:
        """Have sessions without a dataset belong to one, which takes one more entry."""
        mark = {"type": "trace", "origin_function": "scrub", "status": "success"}
        for session_id in ids:
            await self._client.upkeep.store_again(mark, session_id, dataset, deadline)

    async def _store_again(self, batch: Batch, deadline: Deadline) -> None:
        dataset = DatasetRef(batch.dataset_name, batch.dataset_id)
        for session_id in list(batch.sessions):
            content = await self._finder.read(session_id, deadline)
            there = Counter(_identity(self._leak.cleaned(each)) for each in content.entries)
            for entry in batch.sessions[session_id]:
                if there[_identity(entry)]:  # stored before a kill, or never let go of
                    there[_identity(entry)] -= 1
                    continue
                await self._client.upkeep.store_again(entry, session_id, dataset, deadline)
            del batch.sessions[session_id]
            self._pending.save(batch)
        if batch.rebuild and await self._client.documents.documents(batch.dataset_id, deadline):
            await self._client.upkeep.rebuild(batch.dataset_id, deadline)
        self._pending.remove()

    async def _resume(self, deadline: Deadline) -> None:
        """Store again what a scrub took out that was killed."""
        batch = self._left_behind()
        if batch is None:
            return
        await self._store_again(batch, deadline)

    def _damaged(self) -> list[Scrubbed]:
        """Say that what an earlier scrub kept cannot be read."""
        try:
            self._pending.load()
        except Unreadable:
            place = str(self._pending.path)
            return [Scrubbed(place=place, state=ScrubState.LEFT, detail=texts.DAMAGED)]
        return []

    def _left_behind(self) -> Batch | None:
        try:
            return self._pending.load()
        except Unreadable:
            return None

    def _announced(self, found: ServerFindings, dataset_id: str) -> Scrubbed:
        count = len(found.sessions.get(dataset_id, []))
        if not dataset_id:
            detail = texts.EMPTIED_ASIDE.format(count=count)
            return self._finder.row("sessions", ScrubState.FOUND, detail=detail)
        detail = texts.EMPTIED
        if found.missing[dataset_id]:
            detail += texts.LOST.format(count=found.missing[dataset_id])
        name = found.datasets[dataset_id].name
        return self._finder.row(f"dataset {name}", ScrubState.FOUND, detail=detail)


def _identity(entry: Mapping[str, Any]) -> str:
    """Return what makes two stored entries the same."""
    return json.dumps(entry, sort_keys=True)

"""Takes a leaked value out of what a server keeps for the account, by the routes that there are.

Documents are written anew without it. Sessions can only be emptied together with all others of
their dataset, so what they hold is read, kept on disk, and stored again without the value; the
dataset's graph goes with them and is built anew from its documents. What another account owns, and
what no route deletes, is named.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.results import Scrubbed, ScrubState
from cognee_hooks.scrub import texts
from cognee_hooks.scrub.pending import Batch, PendingFile
from cognee_hooks.services.answers import DatasetRef
from cognee_hooks.services.crypto import Unreadable

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.leak import Leak
    from cognee_hooks.services.answers import Account, Dataset
    from cognee_hooks.services.api import ServerApi
    from cognee_hooks.services.documents import Document
    from cognee_hooks.services.upkeep import Content, SessionRow

ASIDE = "cognee-hooks-scrub"
"""Dataset of sessions that belong to none: only sessions of a dataset can be emptied."""

_NEUTRAL = "password secret key token api login credentials value"
"""What recall is asked: never the value, since a server notes down what it is asked."""
_LOOKING = ("CHUNKS", "GRAPH_COMPLETION")
_VERIFYING = (*_LOOKING, "HYBRID_COMPLETION")


@dataclass(slots=True)
class _Found:
    """What holds the value, for `ServerSide.clean`."""

    documents: list[tuple[Dataset, Document]] = field(default_factory=list)
    datasets: dict[str, Dataset] = field(default_factory=dict)
    sessions: dict[str, list[SessionRow]] = field(default_factory=dict)
    graphs: set[str] = field(default_factory=set)
    barred: set[str] = field(default_factory=set)
    all: list[SessionRow] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)
    missing: Counter[str] = field(default_factory=Counter)


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
        self._client = client
        self.url = url
        self._account = account
        self._leak = leak
        self._pending = pending
        self._graphs: set[str] = set()
        self._barred_graphs: list[Scrubbed] = []

    async def look(self, deadline: Deadline) -> list[Scrubbed]:
        """Return what holds the value, and what would be touched to take it out.

        Raises:
            ServerFailure: The server does not answer.
        """
        found, rows = await self._find(deadline)
        self._graphs = found.graphs
        self._barred_graphs = [row for row in rows if row.place in found.barred]
        rows += [self._announced(found, each) for each in self._to_empty(found)]
        rows += self._damaged()
        if self._left_behind() is not None:
            detail = "an earlier scrub was stopped; what it took out is stored again first"
            rows.append(self._row("sessions", ScrubState.FOUND, detail=detail))
        return rows

    async def clean(self, deadline: Deadline) -> list[Scrubbed]:
        """Take the value out, and return what was done and what stays.

        Raises:
            ServerFailure: The server does not do it; run again, it goes on.
            OSError: What has to go back cannot be kept; nothing was emptied.
        """
        problems = self._damaged()
        await self._resume(deadline)
        # Recall was asked by the look a moment ago; sessions may have got more entries since.
        found, rows = await self._find(deadline, set())
        found.graphs = self._graphs
        rows = [
            *problems,
            *self._barred_graphs,
            *(row for row in rows if row.state is ScrubState.LEFT),
        ]
        for dataset, document in found.documents:
            await self._rewrite(dataset, document, deadline)
            rows.append(self._row(self._named(dataset, document), ScrubState.CLEANED, 1))
        for dataset_id in self._to_empty(found):
            rows += await self._empty(found, dataset_id, deadline)
        touched = {dataset.id for dataset, _ in found.documents} | {*self._to_empty(found)}
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
        _, rows = await self._find(deadline, touched)
        left = []
        for row in rows:
            detail = row.detail or "it is still there; run scrub again"
            left.append(Scrubbed(place=row.place, state=ScrubState.LEFT, detail=detail))
        return [*left, *await self._history(deadline)]

    # -- finding ---------------------------------------------------------------------------------

    async def _find(
        self, deadline: Deadline, touched: set[str] | None = None
    ) -> tuple[_Found, list[Scrubbed]]:
        """Look through everything; recall is slow, so in the end only what was touched is asked."""
        found = _Found(all=await self._client.upkeep.sessions(deadline))
        datasets = await self._client.datasets(deadline)
        found.datasets = {each.id: each for each in datasets}
        rows = await self._sessions(found, deadline)
        for dataset in datasets:
            searches: Sequence[str] = _LOOKING
            if touched is not None:
                searches = _VERIFYING if dataset.id in touched else ()
            rows += await self._dataset(found, dataset, searches, deadline)
        return found, rows

    async def _dataset(
        self, found: _Found, dataset: Dataset, searches: Sequence[str], deadline: Deadline
    ) -> list[Scrubbed]:
        own, rows, held = self._owns(dataset), [], False
        state = ScrubState.FOUND if own else ScrubState.LEFT
        detail = "" if own else texts.OF_OTHERS
        if self._leak.count_in(dataset.name):
            named = texts.NAME.format(id=dataset.id)
            rows.append(self._row(f"dataset {dataset.id}", ScrubState.LEFT, 1, named))
        for document in await self._client.documents.documents(dataset.id, deadline):
            count, unread = await self._document(dataset, document, deadline)
            place = self._named(dataset, document)
            if self._leak.count_in([document.name, document.file_name]):
                named = texts.NAMED.format(dataset=dataset.id, document=document.id)
                rows.append(self._row(f"the name of {place}", ScrubState.LEFT, 1, named))
            if unread:
                rows.append(self._row(place, ScrubState.LEFT, detail=unread))
            elif count:
                held = True
                rows.append(self._row(place, state, count, detail))
                if own:
                    found.documents.append((dataset, document))
        if not held and await self._recalls(dataset, searches, deadline):
            place = f"dataset {dataset.name}: its graph"
            detail = detail or self._barred(found, dataset.id)
            state = ScrubState.LEFT if detail else state
            rows.append(self._row(place, state, detail=detail))
            if detail:
                found.barred.add(rows[-1].place)
            else:
                found.graphs.add(dataset.id)
        return rows

    async def _document(
        self, dataset: Dataset, document: Document, deadline: Deadline
    ) -> tuple[int, str]:
        try:
            content = await self._client.documents.content(dataset.id, document.id, deadline)
        except ServerFailure as failure:
            if failure.kind is FailureKind.NOT_FOUND:
                return 0, ""
            return 0, texts.UNREAD.format(reason=failure.kind.value)
        return self._leak.count(content), ""

    async def _recalls(self, dataset: Dataset, searches: Sequence[str], deadline: Deadline) -> bool:
        """Tell whether a recall shows the value."""
        for search_type in searches:
            answer = await self._client.upkeep.recalled(dataset.id, _NEUTRAL, search_type, deadline)
            if self._leak.count_in(answer):
                return True
        return False

    async def _sessions(self, found: _Found, deadline: Deadline) -> list[Scrubbed]:
        counts: dict[SessionRow, int] = {}
        rows: list[Scrubbed] = []
        for row in found.all:
            try:
                content = await self._read(row.id, deadline)
            except ServerFailure as failure:
                found.unread.add(row.dataset_id)
                detail = texts.UNREAD.format(reason=failure.kind.value)
                rows.append(self._row(f"session {row.id}", ScrubState.LEFT, detail=detail))
                continue
            if self._leak.count_in(row.id):
                place = f"the id of session {row.id}"
                rows.append(self._row(place, ScrubState.LEFT, 1, texts.ID))
            counts[row] = self._leak.count_in(content.shown)
            found.missing[row.dataset_id] += content.missing
        return [*rows, *(self._held(found, row, count) for row, count in counts.items() if count)]

    def _held(self, found: _Found, row: SessionRow, count: int) -> Scrubbed:
        place = f"session {row.id}"
        obstacle = self._obstacle(found, row)
        if obstacle:
            return self._row(place, ScrubState.LEFT, count, obstacle)
        found.sessions.setdefault(row.dataset_id, []).append(row)
        return self._row(place, ScrubState.FOUND, count)

    def _obstacle(self, found: _Found, row: SessionRow) -> str:
        """Return why a session cannot be emptied, or ""."""
        if row.user_id not in {"", self._account.id}:
            return texts.OF_OTHERS
        if not row.dataset_id:
            return ""
        dataset = found.datasets.get(row.dataset_id)
        if dataset is None:
            return texts.GONE
        return self._barred(found, dataset.id) if self._owns(dataset) else texts.OF_OTHERS

    def _barred(self, found: _Found, dataset_id: str) -> str:
        """Return why the sessions of a dataset cannot be emptied together, or ""."""
        if dataset_id in found.unread:
            return texts.WITH_UNREAD
        users = {each.user_id for each in found.all if each.dataset_id == dataset_id}
        return "" if users <= {"", self._account.id} else texts.WITH_OTHERS

    async def _read(self, session_id: str, deadline: Deadline) -> Content:
        return await self._client.upkeep.content(session_id, self._leak.cleaned_text, deadline)

    async def _history(self, deadline: Deadline) -> list[Scrubbed]:
        try:
            count = self._leak.count_in(await self._client.upkeep.history(deadline))
        except ServerFailure as failure:
            if failure.kind in {FailureKind.NOT_FOUND, FailureKind.MISCONFIGURED}:
                return []
            reason = texts.UNREAD.format(reason=failure.kind.value)
            return [self._row("the history of recalls", ScrubState.LEFT, detail=reason)]
        place = "the history of recalls"
        return [self._row(place, ScrubState.LEFT, count, texts.HISTORY)] if count else []

    # -- taking out ------------------------------------------------------------------------------

    async def _rewrite(self, dataset: Dataset, document: Document, deadline: Deadline) -> None:
        content = await self._client.documents.content(dataset.id, document.id, deadline)
        name = self._leak.cleaned_text(document.file_name or f"{document.name}.txt")
        cleaned = self._leak.cleaned_bytes(content)
        routes = self._client.upkeep
        await routes.rewrite_document(dataset.id, document.id, cleaned, name, deadline)

    def _to_empty(self, found: _Found) -> list[str]:
        return sorted({*found.sessions, *found.graphs})

    async def _empty(self, found: _Found, dataset_id: str, deadline: Deadline) -> list[Scrubbed]:
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
            content = await self._read(session_id, deadline)
            batch.sessions[session_id] = self._leak.cleaned(content.entries)
        self._pending.save(batch)
        if not dataset_id:
            await self._attribute(ids, DatasetRef(dataset.name, dataset.id), deadline)
        await self._client.upkeep.drop_memory(dataset.id, deadline)
        batch.emptied = True
        self._pending.save(batch)
        await self._store_again(batch, deadline)
        done = [self._row(f"session {each.id}", ScrubState.CLEANED, 1) for each in holding]
        if dataset_id in found.graphs:
            done.append(self._row(f"dataset {dataset.name}: its graph", ScrubState.CLEANED))
        return done

    async def _attribute(self, ids: list[str], dataset: DatasetRef, deadline: Deadline) -> None:
        """Have sessions without a dataset belong to one, which takes one more entry."""
        mark = {"type": "trace", "origin_function": "scrub", "status": "success"}
        for session_id in ids:
            await self._client.upkeep.store_again(mark, session_id, dataset, deadline)

    async def _store_again(self, batch: Batch, deadline: Deadline) -> None:
        dataset = DatasetRef(batch.dataset_name, batch.dataset_id)
        for session_id in list(batch.sessions):
            content = await self._read(session_id, deadline)
            there = Counter(map(_identity, content.entries))
            for entry in batch.sessions[session_id]:
                if there[_identity(entry)]:  # stored before a kill
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
        if not batch.emptied:
            contents = [await self._read(each, deadline) for each in batch.sessions]
            if any(content.entries for content in contents):
                self._pending.remove()  # nothing was emptied yet
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

    # -- words -----------------------------------------------------------------------------------

    def _announced(self, found: _Found, dataset_id: str) -> Scrubbed:
        count = len(found.sessions.get(dataset_id, []))
        if not dataset_id:
            detail = f"{count} sessions of no dataset are emptied and stored again without it"
            return self._row("sessions", ScrubState.FOUND, detail=detail)
        detail = (
            "all its sessions are emptied and stored again without the value, and its graph is "
            "built anew from its documents, which costs calls of the server's model"
        )
        if found.missing[dataset_id]:
            detail += f"; {found.missing[dataset_id]} older entries cannot be read and are lost"
        name = found.datasets[dataset_id].name
        return self._row(f"dataset {name}", ScrubState.FOUND, detail=detail)

    def _row(self, place: str, state: ScrubState, count: int = 0, detail: str = "") -> Scrubbed:
        shown = self._leak.cleaned_text(f"{self.url}: {place}")
        return Scrubbed(place=shown, state=state, count=count, detail=detail)

    def _named(self, dataset: Dataset, document: Document) -> str:
        return f"document {document.shown} ({document.id}) in {dataset.name}"

    def _owns(self, dataset: Dataset) -> bool:
        return dataset.owner_id in {"", self._account.id}


def _identity(entry: Mapping[str, Any]) -> str:
    """Return what makes two stored entries the same."""
    return json.dumps(entry, sort_keys=True)

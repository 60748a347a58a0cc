"""Finds what a server shows of a leaked value, by every route that could.

The value itself is never sent: a server may note down what it is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.results import Scrubbed, ScrubState
from cognee_hooks.scrub import texts

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.leak import Leak
    from cognee_hooks.services.answers import Account, Dataset
    from cognee_hooks.services.api import ServerApi
    from cognee_hooks.services.documents import Document
    from cognee_hooks.services.upkeep import Content, SessionRow

_NEUTRAL = "password secret key token api login credentials value"
"""What recall is asked."""
_LOOKING = ("CHUNKS", "GRAPH_COMPLETION")
_VERIFYING = (*_LOOKING, "HYBRID_COMPLETION")


@dataclass(slots=True)
class ServerFindings:
    """What holds the value at a server.

    Attributes:
        rows: What people are told.
        datasets: All datasets by id.
        documents: Those that hold it and are the account's own.
        sessions: Those that hold it and can be emptied, by the id of their dataset.
        graphs: Datasets whose graph shows it although no document holds it.
        all: All sessions.
        unread: Datasets of sessions that cannot be read.
        missing: How many entries of sessions cannot be read, by the id of their dataset.
    """

    rows: list[Scrubbed] = field(default_factory=list)
    datasets: dict[str, Dataset] = field(default_factory=dict)
    documents: list[tuple[Dataset, Document]] = field(default_factory=list)
    sessions: dict[str, list[SessionRow]] = field(default_factory=dict)
    graphs: set[str] = field(default_factory=set)
    all: list[SessionRow] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)
    missing: Counter[str] = field(default_factory=Counter)

    @property
    def to_empty(self) -> list[str]:
        """Ids of the datasets whose sessions have to be emptied; "" for sessions of none."""
        return sorted({*self.sessions, *self.graphs})

    @property
    def left(self) -> list[Scrubbed]:
        """What stays."""
        return [row for row in self.rows if row.state is ScrubState.LEFT]


class Finder:
    """Looks through one account.

    Args:
        client: The server.
        url: Its address, for people.
        account: The account in use.
        leak: The value.
    """

    def __init__(self, client: ServerApi, url: str, account: Account, leak: Leak) -> None:
        self._client = client
        self._url = url
        self._account = account
        self._leak = leak

    async def find(self, deadline: Deadline, touched: set[str] | None = None) -> ServerFindings:
        """Look through everything.

        Args:
            deadline: When to give up.
            touched: Recall, which is slow, is asked in these datasets only, and in every way; None
                for all.

        Raises:
            ServerFailure: The server does not answer.
        """
        found = ServerFindings(all=await self._client.upkeep.sessions(deadline))
        datasets = await self._client.datasets(deadline)
        found.datasets = {each.id: each for each in datasets}
        await self._sessions(found, deadline)
        for dataset in datasets:
            searches: Sequence[str] = _LOOKING
            if touched is not None:
                searches = _VERIFYING if dataset.id in touched else ()
            await self._dataset(found, dataset, searches, deadline)
        return found

    async def read(self, session_id: str, deadline: Deadline) -> Content:
        """Return what a session holds.

        Raises:
            ServerFailure: It cannot be read.
        """
        return await self._client.upkeep.content(session_id, self._leak.cleaned_text, deadline)

    async def _dataset(
        self, found: ServerFindings, dataset: Dataset, searches: Sequence[str], deadline: Deadline
    ) -> None:
        own, rows, held = self.owns(dataset), found.rows, False
        state = ScrubState.FOUND if own else ScrubState.LEFT
        detail = "" if own else texts.OF_OTHERS
        if self._leak.count_in(dataset.name):
            named = texts.NAME.format(id=dataset.id)
            rows.append(self.row(f"dataset {dataset.id}", ScrubState.LEFT, 1, named))
        for document in await self._client.documents.documents(dataset.id, deadline):
            count, unread = await self._document(dataset, document, deadline)
            place = self.named(dataset, document)
            if self._leak.count_in([document.name, document.file_name]):
                named = texts.NAMED.format(dataset=dataset.id, document=document.id)
                rows.append(self.row(f"the name of {place}", ScrubState.LEFT, 1, named))
            if unread:
                rows.append(self.row(place, ScrubState.LEFT, detail=unread))
            elif count:
                held = True
                rows.append(self.row(place, state, count, detail))
                if own:
                    found.documents.append((dataset, document))
        if not held and await self._recalls(dataset, searches, deadline):
            place = f"dataset {dataset.name}: {texts.GRAPH}"
            detail = detail or self._barred(found, dataset.id)
            state = ScrubState.LEFT if detail else state
            rows.append(self.row(place, state, detail=detail))
            if not detail:
                found.graphs.add(dataset.id)

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

    async def _sessions(self, found: ServerFindings, deadline: Deadline) -> None:
        counts: dict[SessionRow, int] = {}
        rows = found.rows
        for row in found.all:
            try:
                content = await self.read(row.id, deadline)
            except ServerFailure as failure:
                found.unread.add(row.dataset_id)
                detail = texts.UNREAD.format(reason=failure.kind.value)
                rows.append(self.row(f"session {row.id}", ScrubState.LEFT, detail=detail))
                continue
            if self._leak.count_in(row.id):
                place = f"the id of session {row.id}"
                rows.append(self.row(place, ScrubState.LEFT, 1, texts.ID))
            counts[row] = self._leak.count_in(content.shown)
            found.missing[row.dataset_id] += content.missing
        # Only now is it known which sessions cannot be read.
        rows += [self._held(found, row, count) for row, count in counts.items() if count]

    def _held(self, found: ServerFindings, row: SessionRow, count: int) -> Scrubbed:
        place = f"session {row.id}"
        obstacle = self._obstacle(found, row)
        if obstacle:
            return self.row(place, ScrubState.LEFT, count, obstacle)
        found.sessions.setdefault(row.dataset_id, []).append(row)
        return self.row(place, ScrubState.FOUND, count)

    def _obstacle(self, found: ServerFindings, row: SessionRow) -> str:
        """Return why a session cannot be emptied, or ""."""
        if row.user_id not in {"", self._account.id}:
            return texts.OF_OTHERS
        if not row.dataset_id:
            return ""
        dataset = found.datasets.get(row.dataset_id)
        if dataset is None:
            return texts.GONE
        return self._barred(found, dataset.id) if self.owns(dataset) else texts.OF_OTHERS

    def _barred(self, found: ServerFindings, dataset_id: str) -> str:
        """Return why the sessions of a dataset cannot be emptied together, or ""."""
        if dataset_id in found.unread:
            return texts.WITH_UNREAD
        users = {each.user_id for each in found.all if each.dataset_id == dataset_id}
        return "" if users <= {"", self._account.id} else texts.WITH_OTHERS

    async def history(self, deadline: Deadline) -> list[Scrubbed]:
        """Return whether what was asked and answered before holds the value."""
        try:
            count = self._leak.count_in(await self._client.upkeep.history(deadline))
        except ServerFailure as failure:
            if failure.kind in {FailureKind.NOT_FOUND, FailureKind.MISCONFIGURED}:
                return []
            reason = texts.UNREAD.format(reason=failure.kind.value)
            return [self.row("the history of recalls", ScrubState.LEFT, detail=reason)]
        place = "the history of recalls"
        return [self.row(place, ScrubState.LEFT, count, texts.HISTORY)] if count else []

    def row(self, place: str, state: ScrubState, count: int = 0, detail: str = "") -> Scrubbed:
        """Return a row about something at the server, without the value."""
        shown = self._leak.cleaned_text(f"{self._url}: {place}")
        return Scrubbed(place=shown, state=state, count=count, detail=detail)

    def named(self, dataset: Dataset, document: Document) -> str:
        """Return what people call a document."""
        return f"document {document.shown} ({document.id}) in {dataset.name}"

    def owns(self, dataset: Dataset) -> bool:
        """Tell whether a dataset is the account's own."""
        return dataset.owner_id in {"", self._account.id}

"""What it takes to have a server let go of something: read all of it, empty, write back, rebuild.

By the cognee 1.6 HTTP contract no route deletes or changes one session, or one entry. What empties
sessions is to drop a dataset's memory (``memory_only``): all sessions that belong to it are emptied
together, its graph goes, and its documents stay, from which ``cognify`` builds the graph anew. So
that nothing else is lost, entries are read before and stored again after.

What is written here does not pass redaction: it comes from the same server, with less in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.answers import read_items, read_session, text_of
from cognee_hooks.services.asking import Ask, expect, put, required_uuid
from cognee_hooks.services.documents import read_updated
from cognee_hooks.services.entries import send_entry
from cognee_hooks.services.names import canonical_uuid, safe_dataset_name, safe_file_name
from cognee_hooks.services.wire import BODY_LIMIT, SMALL_BODY, Part, ServerCall

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.services.answers import DatasetRef

MAX_WORDS = 400
"""Words by which entries are looked for that a session does not list."""

_PAGE = 500
_MAX_PAGES = 40
_MOST = 1000
_COMMON = (
    "a an and are as at be bash by can do edit error exit file for from has how i if in into is it "
    "line make my new no not of ok on one or out path read run so that the then there this to true "
    "false type up use was we what when which will with write you your success 0 1 2"
)
"""Words that most entries hold one of; two texts without a common word are not found."""
_WORD = re.compile(r"[A-Za-z]{2,}")
_IDS = {"qa": "qa_id", "trace": "trace_id"}
_SENT = {
    "qa": (
        "question",
        "answer",
        "context",
        "feedback_text",
        "feedback_score",
        "used_graph_element_ids",
    ),
    "trace": (
        "origin_function",
        "status",
        "method_params",
        "method_return_value",
        "memory_query",
        "memory_context",
        "error_message",
    ),
}


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session in the server's list.

    Attributes:
        id: Its id.
        user_id: The account that it belongs to.
        dataset_id: The dataset that it belongs to, or "".
    """

    id: str
    user_id: str
    dataset_id: str


@dataclass(slots=True)
class Content:
    """What a session holds, as far as it can be read.

    Attributes:
        entries: The entries in the form in which they are stored again, oldest first.
        missing: How many there are beside these.
        shown: All that the server said of it.
    """

    entries: list[dict[str, Any]] = field(default_factory=list, repr=False)
    missing: int = 0
    shown: list[Any] = field(default_factory=list, repr=False)


class UpkeepRoutes:
    """See the module.

    Args:
        ask: Sends the requests.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    async def sessions(self, deadline: Deadline) -> list[SessionRow]:
        """Return all sessions that the account can see, up to 20 000.

        Raises:
            ServerFailure: It failed.
        """
        found: list[SessionRow] = []
        for page in range(_MAX_PAGES):
            path = f"/api/v1/sessions?range=all&limit={_PAGE}&offset={page * _PAGE}"
            document = (await self._ask(ServerCall(method="GET", path=path), deadline)).document
            rows = document.get("sessions") if isinstance(document, Mapping) else None
            rows = expect(rows if isinstance(rows, list) else None, "is no list of sessions")
            found += list(_rows(rows))
            if len(rows) < _PAGE:
                break
        return found

    async def content(
        self, session_id: str, without: Callable[[str], str], deadline: Deadline
    ) -> Content:
        """Return what a session holds.

        A session lists its latest 20 entries of each kind. Older ones are looked for by words, of
        those entries and common ones, and never by what somebody is after: a server may note down
        what it is asked.

        Args:
            session_id: The session.
            without: Takes out of a text what no server may be asked.
            deadline: When to give up.

        Raises:
            ServerFailure: It failed; ``SERVER_ERROR`` can mean that the session is damaged.
        """
        path = f"/api/v1/sessions/{quote(session_id, safe='')}"
        try:
            document = (await self._ask(ServerCall(method="GET", path=path), deadline)).document
        except ServerFailure as failure:
            if failure.kind is FailureKind.NOT_FOUND:
                return Content()
            raise
        detail = expect(read_session(document), "is no session")
        # Its id is not what it holds.
        shown = dict(document) if isinstance(document, Mapping) else {}
        shown.pop("session_id", None)
        content = Content(shown=[shown])
        words = _words(without(json.dumps([*detail.qas, *detail.traces])))
        totals = (
            ("qa", detail.qas, detail.msg_count, "session"),
            ("trace", detail.traces, detail.tool_calls, "trace"),
        )
        for kind, listed, total, scope in totals:
            rows = list(listed)
            if total > len(rows):
                older = await self._older(session_id, scope, words, deadline)
                content.shown += older
                rows = [*_not_in(older, rows, kind), *rows]
            if kind == "qa":
                rows.sort(key=lambda row: text_of(row, "time"))
            content.entries += [_entry(kind, row) for row in rows]
            content.missing += max(0, total - len(rows))
        return content

    async def _older(
        self, session_id: str, scope: str, words: str, deadline: Deadline
    ) -> list[Mapping[str, Any]]:
        body: dict[str, Any] = {"query": words, "scope": [scope]}
        put(body, "session_id", "sessionId", session_id)
        put(body, "top_k", "topK", _MOST)
        put(body, "only_context", "onlyContext", True)
        call = ServerCall(method="POST", path="/api/v1/recall", json=body, empty_is_404=True)
        document = (await self._ask(call, deadline)).document
        return [item.raw for item in expect(read_items(document), "is no list of entries")]

    async def recalled(
        self, dataset_id: str, query: str, search_type: str, deadline: Deadline
    ) -> object:
        """Return all that a recall answers, to be looked through.

        Args:
            dataset_id: Where to look.
            query: Words that may be noted down.
            search_type: How.
            deadline: When to give up.

        Raises:
            ServerFailure: It failed.
        """
        body: dict[str, Any] = {"query": query, "scope": ["graph"]}
        put(body, "search_type", "searchType", search_type)
        put(body, "dataset_ids", "datasetIds", [required_uuid(dataset_id)])
        put(body, "top_k", "topK", _MOST)
        put(body, "only_context", "onlyContext", True)
        call = ServerCall(method="POST", path="/api/v1/recall", json=body, empty_is_404=True)
        try:
            return (await self._ask(call, deadline)).document
        except ServerFailure as failure:
            if failure.kind is FailureKind.NO_MEMORY:
                return []
            raise

    async def history(self, deadline: Deadline) -> object:
        """Return what the account asked and was answered, as the server notes it down.

        Raises:
            ServerFailure: It failed; ``NOT_FOUND`` where the server notes down nothing.
        """
        call = ServerCall(method="GET", path="/api/v1/recall", limit=8 * BODY_LIMIT)
        return (await self._ask(call, deadline)).document

    async def rewrite_document(
        self, dataset_id: str, data_id: str, content: bytes, file_name: str, deadline: Deadline
    ) -> None:
        """Put other content in the place of a document's, and have all of it built anew.

        Not just what changed: chunks, entities and facts that were made of the old content go.

        Raises:
            ServerFailure: It failed or may have.
        """
        part = Part(name="data", content=content, filename=safe_file_name(file_name))
        call = ServerCall(
            method="PATCH",
            path=f"/api/v1/update?data_id={required_uuid(data_id)}"
            f"&dataset_id={required_uuid(dataset_id)}&chunk_level_diff=false",
            parts=[part],
            repeatable=False,
            limit=SMALL_BODY,
        )
        answer = await self._ask(call, deadline)
        expect(read_updated(answer.document), "does not say what became of the update")

    async def drop_memory(self, dataset_id: str, deadline: Deadline) -> None:
        """Empty all sessions that belong to a dataset, and drop its graph; documents stay.

        Raises:
            ServerFailure: It failed or may have.
        """
        body: dict[str, Any] = {}
        put(body, "dataset_id", "datasetId", required_uuid(dataset_id))
        put(body, "memory_only", "memoryOnly", True)
        call = ServerCall(
            method="POST", path="/api/v1/forget", json=body, repeatable=False, limit=SMALL_BODY
        )
        await self._ask(call, deadline)

    async def rebuild(self, dataset_id: str, deadline: Deadline) -> None:
        """Have a dataset's graph built from its documents, and wait for it.

        Raises:
            ServerFailure: It failed or may have; the server may go on nevertheless.
        """
        body: dict[str, Any] = {}
        put(body, "dataset_ids", "datasetIds", [required_uuid(dataset_id)])
        put(body, "run_in_background", "runInBackground", False)
        call = ServerCall(method="POST", path="/api/v1/cognify", json=body, repeatable=False)
        await self._ask(call, deadline)

    async def store_again(
        self, entry: Mapping[str, Any], session_id: str, dataset: DatasetRef, deadline: Deadline
    ) -> None:
        """Store an entry that `content` returned.

        Raises:
            ServerFailure: It was not stored, or may not have been.
        """
        body: dict[str, Any] = {"entry": dict(entry), "session_id": session_id}
        # By name where that leads to it, since servers before 1.6.5 refuse ids here.
        if safe_dataset_name(dataset.name) == dataset.name:
            body["dataset_name"] = dataset.name
        else:
            body["dataset_id"] = required_uuid(dataset.id)
        await send_entry(self._ask, body, deadline)


def _rows(rows: list[Any]) -> Iterator[SessionRow]:
    for row in rows:
        if isinstance(row, Mapping) and text_of(row, "session_id"):
            dataset = canonical_uuid(text_of(row, "dataset_id"))
            yield SessionRow(text_of(row, "session_id"), text_of(row, "user_id"), dataset)


def _not_in(
    found: list[Mapping[str, Any]], listed: list[Mapping[str, Any]], kind: str
) -> list[Mapping[str, Any]]:
    known = {text_of(row, _IDS[kind]) for row in listed}
    return [row for row in found if text_of(row, _IDS[kind]) not in known]


def _entry(kind: str, row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: row[name] for name in _SENT[kind] if row.get(name) is not None}
    return {"type": kind, **kept}


def _words(text: str) -> str:
    """Return words that entries may hold, each once."""
    return " ".join(list(dict.fromkeys([*_COMMON.split(), *_WORD.findall(text)]))[:MAX_WORDS])

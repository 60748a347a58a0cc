"""Recall over remembered text and sessions.

Two deliberate gains over a cognee server: graph recall also finds session entries that no improve
has promoted yet, and a query that matches nothing answers ``[]`` instead of the nearest passages.
Like a cognee server it answers 404 ``[NoDataError]`` where a dataset holds nothing at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cognee_hooks.embedded import prompt
from cognee_hooks.embedded.datasets import DatasetRow, Datasets
from cognee_hooks.embedded.errors import ApiError, detail, no_data, plain, validation
from cognee_hooks.embedded.fields import Fields
from cognee_hooks.embedded.passages import PassageHit, Passages
from cognee_hooks.embedded.sessions import Sessions
from cognee_hooks.embedded.words import overlap, query_words

_SCOPES = (
    "all",
    "auto",
    "code",
    "graph",
    "graph_context",
    "session",
    "session_context",
    "session_first",
    "tools",
    "trace",
)
_SEARCH_TYPES = (
    "AGENTIC_COMPLETION",
    "BROAD",
    "CHUNKS",
    "CHUNKS_LEXICAL",
    "CODE",
    "CODING_RULES",
    "CYPHER",
    "FEELING_LUCKY",
    "GRAPH_COMPLETION",
    "GRAPH_COMPLETION_CONTEXT_EXTENSION",
    "GRAPH_COMPLETION_COT",
    "GRAPH_COMPLETION_DECOMPOSITION",
    "GRAPH_REPORT",
    "GRAPH_SUMMARY_COMPLETION",
    "HYBRID_COMPLETION",
    "NATURAL_LANGUAGE",
    "RAG_COMPLETION",
    "SKILLS",
    "SUMMARIES",
    "TEMPORAL",
    "TRIPLET_COMPLETION",
)
_CHUNK_KINDS = {"CHUNKS": "chunk", "CHUNKS_LEXICAL": "chunk", "SUMMARIES": "summary"}
_HISTORY = 10
_LESSONS = 10
_MAX_TOP_K = 1000


@dataclass(frozen=True, slots=True)
class RecallQuestion:
    """A recall request that passed validation.

    Attributes:
        query: What is asked.
        scopes: Where to look, in order.
        search_type: ``HYBRID_COMPLETION`` or one of the passage listings.
        names: Datasets by name; ignored where ids are given.
        dataset_ids: Datasets by id. Neither means every dataset.
        only_context: Without an answer. This server has no model to answer with, so an answer is
            the passages alone.
        top_k: Most passages, or most entries of a session.
        session_id: The session to search or to show turns of.
        node_names: Only passages of these node sets.
        profile: Who session guidance is for.
    """

    query: str
    scopes: tuple[str, ...]
    search_type: str
    names: tuple[str, ...]
    dataset_ids: tuple[str, ...]
    only_context: bool
    top_k: int
    session_id: str
    node_names: tuple[str, ...]
    profile: str


def parse(body: Mapping[str, Any]) -> RecallQuestion:
    """The question in a recall request.

    Raises:
        ApiError: 400 for malformed fields, 422 for values that cannot be used.
    """
    fields = Fields(body, "body", camel=True)
    scope = fields.anything("scope")
    scopes = [scope or "auto"] if scope is None or isinstance(scope, str) else fields.texts("scope")
    search_type = fields.optional_text("search_type") or "HYBRID_COMPLETION"
    question = RecallQuestion(
        query=fields.text("query"),
        scopes=tuple(scopes),
        search_type=search_type if search_type in _CHUNK_KINDS else "HYBRID_COMPLETION",
        names=tuple(fields.texts("datasets")),
        dataset_ids=tuple(fields.identifiers("dataset_ids")),
        only_context=fields.flag("only_context", default=False),
        top_k=_or(fields.integer("top_k", 15), 15),
        session_id=fields.optional_text("session_id") or "",
        node_names=tuple(fields.texts("node_name")),
        profile=fields.optional_text("context_profile") or "",
    )
    fields.check(dict(body))
    if search_type not in _SEARCH_TYPES:
        listed = ", ".join(_SEARCH_TYPES)
        issue = {
            "type": "enum",
            "loc": ["body", "search_type"],
            "msg": f"Input should be one of {listed}",
            "input": search_type,
        }
        raise validation([issue], dict(body))
    _check_values(question, body.get("code_query", body.get("codeQuery")))
    return question


def _check_values(question: RecallQuestion, code_query: Any) -> None:
    if not set(question.scopes) <= set(_SCOPES):
        raise plain(
            422,
            f"Invalid recall request. If a scope was given, valid values are: {sorted(_SCOPES)}.",
        )
    if code_query is not None and "code" not in question.scopes:
        raise detail(
            422,
            "code_query requires the 'code' scope: pass scope=['code'] or scope=['graph', 'code'] "
            "('code' is never implied by 'auto' or 'all').",
            "InvalidCodeQueryError",
        )
    if question.top_k < 1:
        raise _bad_query("top_k must be a positive integer.")
    if not question.query and not set(question.scopes) <= {"code"}:
        raise _bad_query("The query must be a non-empty string.")


def _bad_query(text: str) -> ApiError:
    return detail(422, text, "QueryValidationError")


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


class Recall:
    """Answers questions from the stores."""

    def __init__(self, datasets: Datasets, passages: Passages, sessions: Sessions) -> None:
        self._datasets = datasets
        self._passages = passages
        self._sessions = sessions

    def answer(self, question: RecallQuestion) -> list[dict[str, Any]]:
        """All items for a question, scope by scope.

        Raises:
            ApiError: 404 or 403 for a dataset that is not there, 404 for one that holds nothing.
        """
        items: list[dict[str, Any]] = []
        for scope in question.scopes:
            items.extend(self._scope(scope)(question))
        return items

    def _scope(self, scope: str) -> Callable[[RecallQuestion], list[dict[str, Any]]]:
        lanes = {
            "all": self._all,
            "auto": self._auto,
            "code": self._nothing,
            "graph": self._graph,
            "graph_context": self._graph,
            "session": self._session,
            "session_context": self._guidance,
            "session_first": self._session_first,
            "tools": self._nothing,
            "trace": self._trace,
        }
        return lanes[scope]

    def _session_first(self, question: RecallQuestion) -> list[dict[str, Any]]:
        return self._session(question) or self._graph(question)

    def _auto(self, question: RecallQuestion) -> list[dict[str, Any]]:
        named = question.names or question.dataset_ids
        found = [] if named else self._session(question)
        return found or self._graph(question)

    def _all(self, question: RecallQuestion) -> list[dict[str, Any]]:
        return [
            *self._graph(question),
            *self._session(question),
            *self._trace(question),
            *self._guidance(question),
        ]

    def _nothing(self, question: RecallQuestion) -> list[dict[str, Any]]:
        """Code graphs and tools are not kept here; a dataset must exist all the same."""
        self._targets(question)
        return []

    def _session(self, question: RecallQuestion) -> list[dict[str, Any]]:
        return self._by_words(question, "qa", "session", ("question", "context", "answer"))

    def _trace(self, question: RecallQuestion) -> list[dict[str, Any]]:
        return self._by_words(
            question,
            "trace",
            "trace",
            ("origin_function", "method_params", "method_return_value", "error_message"),
        )

    def _by_words(
        self, question: RecallQuestion, kind: str, source: str, searched: Sequence[str]
    ) -> list[dict[str, Any]]:
        """Entries of the session that share words with the query, most shared words first."""
        words = query_words(question.query)
        scored = [
            (overlap(words, " ".join(str(entry[name]) for name in searched)), entry)
            for entry in self._sessions.entries(question.session_id, kind)
        ]
        hits = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
        return [{**entry, "source": source} for _, entry in hits[: question.top_k]]

    def _guidance(self, question: RecallQuestion) -> list[dict[str, Any]]:
        """What failed in the session, as lessons for an agent."""
        if question.profile != "agent":
            return []
        lessons = [
            f"- [{time[11:19]}] {trace['origin_function']} failed: {trace['error_message']}"
            for time, trace in self._sessions.failures(question.session_id, _LESSONS)
        ]
        if not lessons:
            return []
        content = (
            "## Active session guidance\nItems are listed oldest to newest within each section. "
            "When guidance conflicts, prefer the later item.\n### Failure lessons\n"
        ) + "\n".join(lessons)
        return [
            {"source": "session_context", "content": content, "context_profile": question.profile}
        ]

    def _targets(self, question: RecallQuestion) -> list[DatasetRow]:
        if question.dataset_ids:
            return [self._datasets.get(each, "read") for each in question.dataset_ids]
        if question.names:
            return self._datasets.named(question.names)
        return self._datasets.all()

    def _graph(self, question: RecallQuestion) -> list[dict[str, Any]]:
        targets = self._targets(question)
        filled = [dataset for dataset in targets if self._passages.any_in(dataset.id)]
        if targets and not filled:
            if question.only_context:
                raise no_data(targets[0].name, targets[0].id)
            return [_warming_up()]
        items: list[dict[str, Any]] = []
        for dataset in filled:
            limit = min(question.top_k, _MAX_TOP_K)
            hits = self._passages.search(question.query, dataset.id, limit, question.node_names)
            if hits:
                items.extend(self._items(question, dataset, hits))
        return items

    def _items(
        self, question: RecallQuestion, dataset: DatasetRow, hits: Sequence[PassageHit]
    ) -> list[dict[str, Any]]:
        kind = _CHUNK_KINDS.get(question.search_type)
        if kind and not question.only_context:
            return [_chunk(question, dataset, hit, kind) for hit in hits]
        texts = [hit.text for hit in hits]
        if kind:
            text, system_prompt = "\n".join(texts), None
        elif question.only_context:
            turns = self._sessions.entries(question.session_id, "qa", _HISTORY)
            text, system_prompt = prompt.hybrid(question.query, texts, turns), prompt.SYSTEM_PROMPT
        else:
            text, system_prompt = prompt.context(texts), None
        return [_item(question, dataset, kind or "graph_completion", text, system_prompt)]


def _item(
    question: RecallQuestion, dataset: DatasetRow, kind: str, text: str, system_prompt: str | None
) -> dict[str, Any]:
    return {
        "kind": kind,
        "search_type": question.search_type,
        "text": text,
        "system_prompt": system_prompt,
        "score": None,
        "dataset_id": dataset.id,
        "dataset_name": dataset.name,
        "metadata": {},
        "raw": {"value": text},
        "structured": None,
        "source": "graph",
    }


def _chunk(
    question: RecallQuestion, dataset: DatasetRow, hit: PassageHit, kind: str
) -> dict[str, Any]:
    metadata = {
        "data_id": hit.source_id,
        "chunk_id": hit.id,
        "chunk_index": hit.position,
        "document_name": hit.source_name,
    }
    raw = {
        "id": hit.id,
        "text": hit.text,
        "document_id": hit.source_id,
        "document_name": hit.source_name,
        "chunk_index": hit.position,
        "score": hit.distance,
    }
    item = _item(question, dataset, kind, hit.text, None)
    return {**item, "score": hit.distance, "metadata": metadata, "raw": raw}


def _warming_up() -> dict[str, Any]:
    return {
        "source": "system",
        "status": "memory_warming_up",
        "text": "Memory is still warming up: no data exists yet for the requested datasets.",
        "datapoint_count": 0,
        "threshold": 1,
        "error_class": None,
        "error_message": None,
    }

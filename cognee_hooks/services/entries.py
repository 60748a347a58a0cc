"""Entries of sessions: which a server accepts, checked before any is sent, and sending one.

A cognee 1.6 server answers some bad entries with 503, the status of a busy store, so a client that
sent one would try it again for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.answers import read_stored
from cognee_hooks.services.asking import expect
from cognee_hooks.services.failures import error_text
from cognee_hooks.services.wire import SMALL_BODY, ServerCall

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.services.answers import StoredEntry
    from cognee_hooks.services.asking import Ask

_Entry = Mapping[str, Any]

_TRACE_TEXTS = ("memory_query", "memory_context", "error_message")
_GRAPH_KEYS = frozenset({"node_ids", "edge_ids"})
_SCORES = range(1, 6)


def entry_problem(entry: object) -> str:
    """Say why a server would refuse an entry.

    Returns:
        What is wrong, without any value of the entry; "" where nothing is.
    """
    if not isinstance(entry, Mapping):
        return "an entry must be an object"
    kind = entry.get("type")
    check = _CHECKS.get(kind) if isinstance(kind, str) else None
    return "the entry's type is not one that servers know" if check is None else check(entry)


async def send_entry(ask: Ask, body: Mapping[str, Any], deadline: Deadline) -> StoredEntry:
    """Send an entry to a session.

    Args:
        ask: Sends a call.
        body: The entry with its session and dataset, as the cognee 1.6 HTTP contract has it.
        deadline: When to give up.

    Raises:
        ServerFailure: It was not stored, or may not have been.
    """
    path = "/api/v1/remember/entry"
    call = ServerCall(method="POST", path=path, json=body, repeatable=False, limit=SMALL_BODY)
    answer = await ask(call, deadline)
    if isinstance(answer.document, Mapping) and answer.document.get("status") == "errored":
        error = error_text(answer.document)
        raise ServerFailure(FailureKind.REJECTED, error.text, status=answer.status)
    return expect(read_stored(answer.document), "does not say that it was stored")


def _qa(entry: _Entry) -> str:
    for name in ("question", "answer"):
        if not isinstance(entry.get(name), str):
            return f"{name} must be text"
    if not isinstance(entry.get("context", ""), str):
        return "context must be text"
    elements = entry.get("used_graph_element_ids")
    if elements is not None and not (
        isinstance(elements, Mapping) and elements.keys() <= _GRAPH_KEYS
    ):
        return "used_graph_element_ids may hold node_ids and edge_ids only"
    return _feedback_score(entry)


def _trace(entry: _Entry) -> str:
    origin = entry.get("origin_function")
    if not isinstance(origin, str) or not origin.strip():
        return "origin_function must not be blank"
    if entry.get("status", "success") not in {"success", "error"}:
        return "status must be success or error"
    if not isinstance(entry.get("method_params"), (Mapping, type(None))):
        return "method_params must be an object"
    for name in _TRACE_TEXTS:
        if not isinstance(entry.get(name, ""), str):
            return f"{name} must be text"
    return ""


def _feedback(entry: _Entry) -> str:
    identifier = entry.get("qa_id")
    if not isinstance(identifier, str) or not identifier:
        return "qa_id must name a stored entry"
    return _feedback_score(entry)


def _skill_run(entry: _Entry) -> str:
    skill = entry.get("selected_skill_id")
    if not isinstance(skill, str) or not skill:
        return "selected_skill_id must name a skill"
    if not _within(entry.get("success_score"), 0, 1):
        return "success_score must lie between 0 and 1"
    if not _within(entry.get("feedback"), -1, 1):
        return "feedback must lie between -1 and 1"
    return ""


def _feedback_score(entry: _Entry) -> str:
    score = entry.get("feedback_score")
    if score is None or (type(score) is int and score in _SCORES):
        return ""
    return "feedback_score must be a whole number from 1 to 5"


def _within(value: object, low: float, high: float) -> bool:
    if value is None:
        return True
    return isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high


_CHECKS = {"qa": _qa, "trace": _trace, "feedback": _feedback, "skill_run": _skill_run}

"""Session entries: what a request may hold, and the form in which it is stored.

The rules are those of the cognee 1.6 HTTP contract, among them the odd ones: texts of a question
and answer are kept verbatim, values of a trace are cut; some impossible values are refused by
validation (400), others only by the session store (503).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cognee_hooks.embedded.errors import rejected_by_cache, rejected_feedback, validation
from cognee_hooks.embedded.fields import Fields

MAX_TEXT = 1000
MAX_ITEMS = 20
_SCORES = range(1, 6)
_TYPES = ("qa", "trace", "feedback", "skill_run")
_GRAPH_KEYS = frozenset({"node_ids", "edge_ids"})


@dataclass(frozen=True, slots=True)
class AcceptedEntry:
    """One accepted entry.

    Attributes:
        kind: ``qa``, ``trace`` or ``feedback``.
        body: What is stored, without the id and time that storing adds. For feedback: ``qa_id``,
            ``feedback_text`` and ``feedback_score``.
        node_set: Node sets that the entry asks for, sorted; empty if none.
    """

    kind: str
    body: dict[str, Any]
    node_set: tuple[str, ...] = ()


def parse(request: Mapping[str, Any]) -> AcceptedEntry:
    """The entry of a ``remember/entry`` request.

    Args:
        request: The whole JSON body.

    Raises:
        ApiError: 400 for a malformed entry, 503 or 422 for impossible values in a well-formed one.
    """
    raw = request.get("entry")
    if not isinstance(raw, dict):
        kind = "missing" if "entry" not in request else "model_attributes_type"
        message = "Field required" if kind == "missing" else "Input should be a valid dictionary"
        issue = {"type": kind, "loc": ["body", "entry"], "msg": message, "input": raw}
        raise validation([issue], dict(request))
    tag = raw.get("type")
    match tag:
        case "qa":
            return _question(raw, request)
        case "trace":
            return _trace(raw, request)
        case "feedback":
            return _feedback(raw, request)
        case "skill_run":
            # This server has no skills, so every run is one of an unknown skill.
            raise validation([_tag_issue(raw, "skill_run")], dict(request))
        case _:
            raise validation([_tag_issue(raw, tag)], dict(request))


def _tag_issue(raw: dict[str, Any], kind: Any) -> dict[str, Any]:
    expected = ", ".join(repr(known) for known in _TYPES)
    return {
        "type": "union_tag_invalid",
        "loc": ["body", "entry"],
        "msg": f"Input tag '{kind}' found using 'type' does not match any of the expected tags: "
        f"{expected}",
        "input": raw,
    }


def _question(raw: dict[str, Any], request: Mapping[str, Any]) -> AcceptedEntry:
    fields = Fields(raw, "body", "entry", "qa")
    body = {
        "question": fields.text("question"),
        "context": fields.text("context", ""),
        "answer": fields.text("answer"),
        "feedback_text": fields.optional_text("feedback_text"),
        "feedback_score": fields.integer("feedback_score", None),
        "used_graph_element_ids": fields.mapping("used_graph_element_ids"),
        "memify_metadata": None,
        "used_session_context_ids": None,
    }
    nodes = fields.texts("node_set")
    fields.check(dict(request))
    adding = ("adding Q&A", "SessionQAEntry")
    if body["feedback_score"] is not None and body["feedback_score"] not in _SCORES:
        reason = "feedback_score must be between 1 and 5"
        raise rejected_by_cache(*adding, "feedback_score", reason, body["feedback_score"])
    used = body["used_graph_element_ids"]
    if isinstance(used, dict) and not set(used) <= _GRAPH_KEYS:
        reason = "only the keys node_ids and edge_ids are allowed"
        raise rejected_by_cache(*adding, "used_graph_element_ids", reason, used)
    return AcceptedEntry("qa", body, tuple(sorted(set(nodes))))


def _trace(raw: dict[str, Any], request: Mapping[str, Any]) -> AcceptedEntry:
    fields = Fields(raw, "body", "entry", "trace")
    given = {
        "origin_function": fields.text("origin_function"),
        "status": fields.choice("status", ("success", "error"), "success"),
        "memory_query": fields.text("memory_query", ""),
        "memory_context": fields.text("memory_context", ""),
        "method_params": fields.mapping("method_params"),
        "method_return_value": fields.anything("method_return_value"),
        "error_message": fields.text("error_message", ""),
    }
    fields.flag("generate_feedback_with_llm", default=False)
    nodes = fields.texts("node_set")
    fields.check(dict(request))
    if not given["origin_function"].strip():
        raise rejected_by_cache(
            "appending agent trace step",
            "SessionAgentTraceEntry",
            "origin_function",
            "value must be a non-empty string",
            given["origin_function"],
        )
    return AcceptedEntry("trace", stored_trace(given), tuple(sorted(set(nodes))))


def _feedback(raw: dict[str, Any], request: Mapping[str, Any]) -> AcceptedEntry:
    fields = Fields(raw, "body", "entry", "feedback")
    body = {
        "qa_id": fields.text("qa_id"),
        "feedback_text": fields.optional_text("feedback_text"),
        "feedback_score": fields.integer("feedback_score", None),
    }
    fields.check(dict(request))
    score = body["feedback_score"]
    if score is not None and score not in _SCORES:
        raise rejected_feedback("feedback_score", "feedback_score must be between 1 and 5", score)
    return AcceptedEntry("feedback", body)


def stored_trace(given: Mapping[str, Any]) -> dict[str, Any]:
    """A trace as the server stores it: texts stripped, everything cut to its limits.

    Args:
        given: The fields of the entry, all present.

    Returns:
        The stored fields, with the one-line ``session_feedback`` that the server adds.
    """
    stored: dict[str, Any] = {"origin_function": _text(given["origin_function"])}
    stored["status"] = given["status"]
    for name in ("memory_query", "memory_context"):
        stored[name] = _text(given[name])
    stored["method_params"] = _value(given["method_params"] or {})
    stored["method_return_value"] = _value(given["method_return_value"])
    stored["error_message"] = _text(given["error_message"])
    stored["session_feedback"] = _outcome(stored)
    return stored


def _outcome(trace: Mapping[str, Any]) -> str:
    name = trace["origin_function"]
    if trace["status"] == "success":
        return f"{name} succeeded."
    reason = trace["error_message"]
    return f"{name} failed. Reason: {reason}." if reason else f"{name} failed."


def _text(value: str) -> str:
    return _cut(value.strip())


def _cut(value: str) -> str:
    return value if len(value) <= MAX_TEXT else value[: MAX_TEXT - 3] + "..."


def _value(value: Any) -> Any:
    match value:
        case str():
            return _cut(value)
        case list():
            return [_value(item) for item in value[:MAX_ITEMS]]
        case dict():
            return {key: _value(item) for key, item in list(value.items())[:MAX_ITEMS]}
        case _:
            return value

"""Recall: what is found, the frame around it, and what each kind of nothing answers."""

from __future__ import annotations

import uuid
from typing import Any

import httpx
import pytest

from tests.support.api import GRAPH, error_name, post_entry, question, recall, trace
from tests.support.servers import Server

HEAD = (
    "The question is: `{query}`\nAnswer using this sectioned context. Keep the answer brief and do "
    "not use information outside the context.\n\nContext:\n`"
)
PASSAGES = "## Relevant passages\n"


def memory(text: str, query: str) -> str:
    """What stands inside the prompt frame."""
    _, head, body = text.partition(HEAD.format(query=query))
    assert head
    assert body.endswith("`")
    return body[:-1]


def test_a_remembered_fact_is_found_inside_the_frame(api: httpx.Client, library: Any):
    query = "where does AlphaService keep its books?"
    answer = recall(api, query, library.name)
    assert answer.status_code == 200
    (item,) = answer.json()
    assert item["source"] == "graph"
    assert item["kind"] == "graph_completion"
    assert item["search_type"] == "HYBRID_COMPLETION"
    assert item["dataset_name"] == library.name
    assert item["dataset_id"] == library.id
    assert item["score"] is None
    assert item["raw"]["value"] == item["text"]
    found = memory(item["text"], query)
    assert found.startswith(PASSAGES)
    assert library.texts[0] in passages(found)


def passages(found: str) -> list[str]:
    """The stored texts, without the sections that a graph adds after them."""
    section = found.removeprefix(PASSAGES).split("\n\n## ")[0]
    return section.split("\n---\n")


@pytest.mark.parametrize("top_k", [1, 2])
def test_top_k_bounds_the_passages(api: httpx.Client, library: Any, top_k: int):
    query = "AlphaService HarborPipeline CharlieCache"
    (item,) = recall(api, query, library.name, top_k=top_k).json()
    assert len(passages(memory(item["text"], query))) == top_k


def test_a_dataset_is_found_by_id_and_ids_win_over_names(api: httpx.Client, library: Any):
    query = "who rolls out the BravoGateway?"
    for fields in ({"datasets": None}, {"datasets": ["no_such_dataset"]}):
        answer = recall(api, query, dataset_ids=[library.id], **fields)
        assert library.texts[1] in answer.json()[0]["text"]


def test_camel_case_fields_are_taken(api: httpx.Client, library: Any):
    body = {
        "query": "CharlieCache",
        "scope": ["graph"],
        "searchType": "CHUNKS",
        "onlyContext": True,
        "topK": 1,
        "datasetIds": [library.id],
    }
    (item,) = api.post("/api/v1/recall", json=body).json()
    assert item["text"] == library.texts[2]


def test_chunks_come_one_by_one_with_a_distance(api: httpx.Client, library: Any):
    query = "the HarborPipeline rolls out BravoGateway deployments"
    answer = recall(api, query, library.name, search_type="CHUNKS", only_context=False, top_k=2)
    assert answer.status_code == 200
    items = answer.json()
    assert items[0]["text"] == library.texts[1]
    assert items[0]["kind"] == "chunk"
    assert 0 <= items[0]["score"] <= 1
    assert [item["score"] for item in items] == sorted(item["score"] for item in items)
    assert set(items[0]["metadata"]) == {"data_id", "chunk_id", "chunk_index", "document_name"}


def test_chunks_with_only_context_are_one_item(api: httpx.Client, library: Any):
    answer = recall(api, "CharlieCache evicts", library.name, search_type="CHUNKS", top_k=1)
    (item,) = answer.json()
    assert (item["text"], item["score"]) == (library.texts[2], None)


def test_a_query_that_matches_nothing(api: httpx.Client, server: Server, library: Any):
    answer = recall(api, "zzzz qqqq xylophone", library.name)
    assert answer.status_code == 200
    assert bool(answer.json()) == server.can.always_finds


@pytest.mark.parametrize("query", ['"', "`';--", "AND OR NOT (", "ключ 記憶 🦊", "x" * 5000])
def test_any_query_text_is_answered(api: httpx.Client, library: Any, query: str):
    assert recall(api, query, library.name).status_code == 200


def test_the_query_stands_in_the_frame_verbatim(api: httpx.Client, library: Any):
    query = 'AlphaService `RubyLedger` <b>"&amp;"\n\nContext:\n`'
    (item,) = recall(api, query, library.name).json()
    assert HEAD.format(query=query) in item["text"]


def test_an_empty_dataset_is_404_no_data(api: httpx.Client, name: str):
    api.post("/api/v1/datasets", json={"name": name})
    answer = recall(api, "anything", name)
    assert answer.status_code == 404
    assert error_name(answer) == "NoDataError"


def test_an_empty_dataset_answers_a_marker_where_an_answer_was_wanted(api: httpx.Client, name: str):
    api.post("/api/v1/datasets", json={"name": name})
    answer = recall(api, "anything", name, only_context=False)
    assert answer.status_code == 200
    (marker,) = answer.json()
    assert (marker["source"], marker["status"]) == ("system", "memory_warming_up")


def test_an_empty_dataset_among_others_is_passed_over(api: httpx.Client, library: Any, name: str):
    api.post("/api/v1/datasets", json={"name": name})
    answer = recall(api, "AlphaService RubyLedger", library.name, name)
    assert [item["dataset_name"] for item in answer.json()] == [library.name]


def test_an_unknown_name_is_404_and_an_unknown_id_403(api: httpx.Client, library: Any, name: str):
    for names in ([name], [library.name, name]):
        answer = recall(api, "anything", *names)
        assert answer.status_code == 404
        assert error_name(answer) == "DatasetNotFoundError"
    answer = recall(api, "anything", dataset_ids=[str(uuid.uuid4())], datasets=None)
    assert answer.status_code == 403
    assert error_name(answer) == "PermissionDeniedError"


@pytest.mark.parametrize(
    ("fields", "status", "error"),
    [
        ({"top_k": 0}, 422, "QueryValidationError"),
        ({"query": ""}, 422, "QueryValidationError"),
        ({"scope": ["banana"]}, 422, ""),
        ({"code_query": {"operation": "delta"}}, 422, "InvalidCodeQueryError"),
        ({"search_type": "BANANA"}, 400, ""),
        ({"dataset_ids": ["xyz"]}, 400, ""),
        ({"query": 5}, 400, ""),
    ],
)
def test_a_bad_request_is_refused(
    api: httpx.Client, library: Any, fields: dict, status: int, error: str
):
    body = {"query": "x", **GRAPH, "datasets": [library.name], **fields}
    answer = api.post("/api/v1/recall", json=body)
    assert answer.status_code == status
    assert error_name(answer) == error


def test_a_bad_scope_lists_the_good_ones(api: httpx.Client, library: Any):
    text = recall(api, "x", library.name, scope=["banana"]).json()["error"]
    assert "'graph'" in text
    assert "'session_context'" in text


def test_an_empty_scope_answers_nothing(api: httpx.Client, library: Any):
    answer = recall(api, "AlphaService", library.name, scope=[])
    assert (answer.status_code, answer.json()) == (200, [])


def test_a_node_name_restricts_and_an_unknown_one_finds_nothing(api: httpx.Client, library: Any):
    answer = recall(api, "AlphaService", library.name, node_name=["no_such_node"])
    assert (answer.status_code, answer.json()) == (200, [])


def test_session_scope_finds_entries_by_shared_words(api: httpx.Client, name: str):
    post_entry(api, question("Where is the TopazQueue?", "In queue.py"), name, name)
    post_entry(api, question("Who is on call?", "Nobody"), name, name)
    asked = {"scope": ["session"], "session_id": name}
    (item,) = recall(api, "TopazQueue", "ignored_name", **asked).json()
    assert item["source"] == "session"
    assert item["question"] == "Where is the TopazQueue?"
    assert recall(api, "zzz", **asked).json() == []
    assert recall(api, "TopazQueue", scope=["session"]).json() == []


def test_trace_scope_finds_traces(api: httpx.Client, name: str):
    failed = {"status": "error", "error_message": "TopazError: failed"}
    post_entry(api, trace(method_params={"command": "pytest topaz"}, **failed), name, name)
    (item,) = recall(api, "pytest topaz", scope=["trace"], session_id=name).json()
    assert item["source"] == "trace"
    assert item["error_message"] == "TopazError: failed"


def test_session_context_tells_an_agent_what_failed(api: httpx.Client, name: str):
    failed = {"status": "error", "error_message": "TopazError: failed"}
    post_entry(api, trace(**failed), name, name)
    asked = {"scope": ["session_context"], "session_id": name, "context_profile": "agent"}
    (item,) = recall(api, "topaz", **asked).json()
    assert item["source"] == "session_context"
    assert item["content"].startswith("## Active session guidance\n")
    assert "bash failed: TopazError: failed" in item["content"]


def test_a_session_adds_its_conversation_before_the_frame(
    api: httpx.Client, library: Any, name: str
):
    post_entry(api, question("What now?", "Nothing."), name, name)
    query = "AlphaService RubyLedger"
    (item,) = recall(api, query, library.name, session_id=name).json()
    before, _, _ = item["text"].partition(HEAD.format(query=query))
    assert before.startswith("Previous conversation:\n\n[")
    assert before.endswith("QUESTION: What now?\nANSWER: Nothing.\n\n\n\n")


def test_a_session_hit_comes_first_or_instead(api: httpx.Client, library: Any, name: str):
    post_entry(api, question("AlphaService?", "Known."), name, name)
    asked = {"session_id": name, "only_context": True}
    for scope in ("session_first", ["session", "graph"]):
        items = recall(api, "AlphaService", library.name, scope=scope, **asked).json()
        assert items[0]["source"] == "session"
        assert len(items) == (1 if scope == "session_first" else 2)
    automatic = {"query": "AlphaService", "session_id": name, "only_context": True}
    assert api.post("/api/v1/recall", json=automatic).json()[0]["source"] == "session"
    missed = recall(api, "RubyLedger", library.name, scope=["session_first"], **asked).json()
    assert [item["source"] for item in missed] == ["graph"]


def test_all_scopes_at_once(api: httpx.Client, library: Any, name: str):
    post_entry(api, question("AlphaService?", "Known."), name, name)
    post_entry(api, trace(method_return_value="AlphaService"), name, name)
    items = recall(api, "AlphaService", library.name, scope="all", session_id=name).json()
    assert {"graph", "session", "trace"} <= {item["source"] for item in items}


def test_code_scope_of_a_dataset_without_code_finds_nothing(api: httpx.Client, library: Any):
    body = {
        "query": "x",
        "scope": ["code"],
        "datasets": [library.name],
        "code_query": {"operation": "explore", "name": "nothing_of_that_name"},
    }
    answer = api.post("/api/v1/recall", json=body)
    assert (answer.status_code, answer.json()) == (200, [])
    unknown = api.post("/api/v1/recall", json={**body, "datasets": ["no_such_dataset"]})
    assert unknown.status_code == 404

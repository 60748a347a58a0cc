"""Session entries: what is accepted, what is refused, and how a session belongs to a dataset."""

from __future__ import annotations

import uuid

import httpx
import pytest

from tests.support.api import error_name, post_entry, question, trace
from tests.support.servers import Server

INVALID = {"error": "Invalid remember request."}


def test_a_question_and_a_trace_are_stored(api: httpx.Client, server: Server, name: str):
    for entry in (question(), trace(method_params={"command": "ls"})):
        answer = post_entry(api, entry, name, name)
        assert answer.status_code == 200
        body = answer.json()
        assert body["status"] == "session_stored"
        assert body["entry_type"] == entry["type"]
        assert body["session_ids"] == [name]
        assert body["dataset_name"] == name
        assert uuid.UUID(body["entry_id"])
        assert (body["dataset_id"] is not None) == server.can.binds_sessions


@pytest.mark.parametrize("body", [{}, {"entry": "text"}, {"entry": None}])
def test_a_request_without_an_entry_is_400(api: httpx.Client, name: str, body: dict):
    answer = api.post("/api/v1/remember/entry", json={**body, "session_id": name})
    assert answer.status_code == 400
    assert answer.json()["detail"][0]["loc"] == ["body", "entry"]


def test_the_same_entry_twice_is_two_entries(api: httpx.Client, name: str):
    ids = {post_entry(api, question(), name, name).json()["entry_id"] for _ in range(2)}
    assert len(ids) == 2
    assert api.get(f"/api/v1/sessions/{name}").json()["msg_count"] == 2


def test_question_texts_are_kept_to_the_character(api: httpx.Client, name: str):
    text = "  tabs\tand\r\nlines \x00 and 🦊 and `ticks`  " + "x" * 3000
    post_entry(api, {**question(text, text), "context": text}, name, name)
    (stored,) = api.get(f"/api/v1/sessions/{name}").json()["qas"]
    assert (stored["question"], stored["answer"], stored["context"]) == (text, text, text)


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "nope"},
        {"type": "qa", "question": "x"},
        {"type": "qa", "question": 5, "answer": "x"},
        {**question(), "context": None},
        trace(status="ok"),
        {"type": "trace"},
        {"type": "feedback"},
    ],
)
def test_a_malformed_entry_is_400_with_problems(api: httpx.Client, name: str, entry: dict):
    answer = post_entry(api, entry, name, name)
    assert answer.status_code == 400
    assert isinstance(answer.json()["detail"], list)


@pytest.mark.parametrize(
    "entry",
    [
        trace(origin="  "),
        {**question(), "feedback_score": 0},
        {**question(), "feedback_score": 9},
        {**question(), "used_graph_element_ids": {"banana": []}},
    ],
)
def test_an_impossible_value_is_a_503_that_never_goes_away(
    api: httpx.Client, name: str, entry: dict
):
    answer = post_entry(api, entry, name, name)
    assert answer.status_code == 503
    assert error_name(answer) == "CacheConnectionError"
    assert "validation error for Session" in answer.json()["detail"]


@pytest.mark.parametrize("session", [None, ""])
def test_an_entry_needs_a_session(api: httpx.Client, name: str, session: str | None):
    answer = post_entry(api, question(), session, name)
    assert (answer.status_code, answer.json()) == (400, INVALID)


def test_a_session_belongs_to_the_dataset_of_its_first_entry(
    api: httpx.Client, server: Server, name: str
):
    post_entry(api, question(), name, name)
    other = post_entry(api, question(), name, f"{name}_other")
    if server.can.binds_sessions:
        assert (other.status_code, other.json()) == (400, INVALID)
    else:
        assert other.status_code == 200
    assert post_entry(api, question(), name, name).status_code == 200
    assert post_entry(api, question(), name, "main_dataset").status_code == 200


def test_an_entry_may_name_its_dataset_by_id(api: httpx.Client, server: Server, name: str):
    dataset = api.post("/api/v1/datasets", json={"name": name}).json()["id"]
    body = {"entry": question(), "session_id": name, "dataset_id": dataset}
    answer = api.post("/api/v1/remember/entry", json=body)
    if server.can.binds_sessions:
        assert answer.status_code == 200
        assert answer.json()["dataset_id"] == dataset
    else:
        assert (answer.status_code, answer.json()) == (400, INVALID)


def test_an_unknown_dataset_id_is_refused(api: httpx.Client, server: Server, name: str):
    body = {"entry": question(), "session_id": name, "dataset_id": str(uuid.uuid4())}
    answer = api.post("/api/v1/remember/entry", json=body)
    assert answer.status_code == server.can.unknown_entry_dataset_id
    malformed = api.post("/api/v1/remember/entry", json={**body, "dataset_id": "nope"})
    assert malformed.status_code == 400
    assert malformed.json()["detail"][0]["type"] == "uuid_parsing"


def test_a_new_dataset_name_with_a_dot_or_a_space(api: httpx.Client, server: Server, name: str):
    answer = post_entry(api, question(), name, f"{name}.repo of mine")
    assert answer.status_code == server.can.entry_dataset_with_dot


def test_a_session_keeps_its_node_set(api: httpx.Client, server: Server, name: str):
    first = post_entry(api, {**question(), "node_set": ["b", "a"]}, name, name)
    same = post_entry(api, {**question(), "node_set": ["a", "b"]}, name, name)
    other = post_entry(api, {**question(), "node_set": ["c"]}, name, name)
    assert (first.status_code, same.status_code) == (200, 200)
    if server.can.pins_node_sets:
        assert other.status_code == 409
        assert error_name(other) == "SessionNodeSetConflictError"
    else:
        assert other.status_code == 200


def test_feedback_is_added_to_its_question(api: httpx.Client, name: str):
    qa_id = post_entry(api, question(), name, name).json()["entry_id"]
    feedback = {"type": "feedback", "qa_id": qa_id, "feedback_text": "useful", "feedback_score": 5}
    answer = post_entry(api, feedback, name, name)
    assert answer.status_code == 200
    assert answer.json()["entry_id"] == qa_id
    (stored,) = api.get(f"/api/v1/sessions/{name}").json()["qas"]
    assert (stored["feedback_text"], stored["feedback_score"]) == ("useful", 5)


def test_feedback_for_an_unknown_question_fails_inside_a_200(api: httpx.Client, name: str):
    post_entry(api, question(), name, name)
    missing = str(uuid.uuid4())
    feedback = {"type": "feedback", "qa_id": missing, "feedback_text": "useful"}
    answer = post_entry(api, feedback, name, name)
    assert answer.status_code == 200
    assert answer.json()["status"] == "errored"
    assert missing in answer.json()["error"]


def test_a_feedback_score_outside_its_range_is_422(api: httpx.Client, name: str):
    qa_id = post_entry(api, question(), name, name).json()["entry_id"]
    feedback = {"type": "feedback", "qa_id": qa_id, "feedback_score": 9}
    answer = post_entry(api, feedback, name, name)
    assert answer.status_code == 422
    assert error_name(answer) == "SessionQAEntryValidationError"

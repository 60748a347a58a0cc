"""Improve: session entries become memory of a dataset."""

from __future__ import annotations

import uuid

import httpx
import pytest

from tests.support.api import error_name, post_entry, question, recall, trace
from tests.support.servers import Server

PERSIST = ("persist_session_qa", "persist_agent_traces")


def improve(api: httpx.Client, **body: object) -> httpx.Response:
    return api.post("/api/v1/improve", json=body)


def stages(answer: httpx.Response) -> dict[str, tuple[str, str | None]]:
    return {stage["stage"]: (stage["status"], stage["reason"]) for stage in answer.json()["stages"]}


def test_entries_are_promoted_once_and_then_recalled(api: httpx.Client, server: Server, name: str):
    post_entry(api, question("Where is the KiloTable?", "KiloTable is in kilo.sql"), name, name)
    post_entry(api, trace(method_return_value="LimaWorker started"), name, name)
    api.post("/api/v1/datasets", json={"name": name})
    before = recall(api, "KiloTable", name)
    assert before.status_code == (200 if server.can.finds_unimproved else 404)

    first = improve(api, dataset_name=name, session_ids=[name])
    assert first.status_code == 200
    result = first.json()
    assert (result["status"], result["finished"], result["error"]) == ("completed", True, None)
    assert result["session_ids"] == [name]
    assert len(result["stages"]) == 9
    assert result["stages"][7]["stage"] == server.can.eighth_stage
    assert [stages(first)[stage][0] for stage in PERSIST] == ["completed", "completed"]
    (item,) = recall(api, "where is the KiloTable?", name).json()
    assert f"Session ID: {name}\n\nQuestion: Where is the KiloTable?" in item["text"]
    assert "Answer: KiloTable is in kilo.sql" in item["text"]

    again = improve(api, dataset_name=name, session_ids=[name])
    assert again.json()["status"] == "completed"
    assert stages(again)[PERSIST[0]] == ("already_completed", "no_new_entries")
    assert stages(again)[PERSIST[1]] == ("already_completed", "no_new_trace_steps")


def test_an_unknown_session_looks_like_nothing_new(api: httpx.Client, name: str):
    dataset = api.post("/api/v1/datasets", json={"name": name}).json()["id"]
    answer = improve(api, datasetId=dataset, sessionIds=[f"{name}_unknown"])
    assert (answer.status_code, answer.json()["status"]) == (200, "completed")
    assert stages(answer)[PERSIST[0]] == ("already_completed", "no_new_entries")


def test_no_session_is_skipped(api: httpx.Client, name: str):
    for body in ({}, {"session_ids": []}):
        answer = improve(api, dataset_name=name, **body)
        assert (answer.status_code, answer.json()["status"]) == (200, "skipped")
        assert stages(answer)[PERSIST[0]] == ("skipped", "no_session_ids")


def test_a_background_improve_answers_at_once(api: httpx.Client, name: str):
    answer = improve(api, dataset_name=name, session_ids=[name], run_in_background=True)
    body = answer.json()
    assert answer.status_code == 200
    assert (body["status"], body["stages"], body["background"], body["finished"]) == (
        "running",
        [],
        True,
        False,
    )


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"session_ids": ["s"]}, 400),
        ({"dataset_name": "x", "session_ids": "s"}, 400),
        ({"dataset_name": "a b.c", "session_ids": ["s"]}, 409),
    ],
)
def test_a_bad_improve_is_refused(api: httpx.Client, body: dict, status: int):
    assert improve(api, **body).status_code == status


def test_an_unknown_dataset_id_is_403(api: httpx.Client):
    answer = improve(api, dataset_id=str(uuid.uuid4()), session_ids=["s"])
    assert answer.status_code == 403
    assert error_name(answer) == "PermissionDeniedError"


def test_the_log_of_runs_says_how_an_improve_of_a_session_ended(api: httpx.Client, name: str):
    post_entry(api, question("Where is the MikeTable?", "In mike.sql"), name, name)
    dataset = improve(api, dataset_name=name, session_ids=[name]).json()["dataset_id"]
    path = "/api/v1/activity/pipeline-runs"
    rows = api.get(path, params={"dataset_id": dataset, "limit": 50}).json()
    (row,) = (row for row in rows if row["operation_name"] == "improve")
    assert (row["session_id"], row["outcome"], row["dataset_id"]) == (name, "succeeded", dataset)
    assert row["started_at"] <= row["ended_at"]
    assert len(api.get(path, params={"limit": 1}).json()) == 1
    assert api.get(path, params={"limit": 0}).status_code == 400
    assert api.get(path, params={"dataset_id": str(uuid.uuid4())}).status_code == 403


def test_the_log_of_runs_knows_an_improve_that_did_nothing(api: httpx.Client, name: str):
    dataset = improve(api, dataset_name=name, session_ids=[]).json()["dataset_id"]
    rows = api.get("/api/v1/activity/pipeline-runs", params={"dataset_id": dataset}).json()
    assert {row["outcome"] for row in rows if row["operation_name"] == "improve"} == {"noop"}

"""Remembering, listing, updating and forgetting documents and datasets."""

from __future__ import annotations

import time
import uuid
from typing import Any

import httpx
import pytest

from tests.support.api import error_name, post_entry, question, recall, remember, upload
from tests.support.servers import Server

COMPLETED = "DATASET_PROCESSING_COMPLETED"


def documents(api: httpx.Client, dataset: str) -> list[dict[str, Any]]:
    answer: list[dict[str, Any]] = api.get(f"/api/v1/datasets/{dataset}/data").json()
    return answer


def test_a_document_through_its_life(api: httpx.Client, server: Server, name: str):
    """One dataset for all of it: building one takes a real server seconds."""
    text = b"# Notes\n\nOscarService uses the PapaStore.\n"
    first = upload(api, name, {"notes.v2.md": text}).json()
    assert first["status"] == "completed"
    assert first["dataset_name"] == name
    dataset, data = first["dataset_id"], first["items"][0]["id"]

    status = api.get("/api/v1/datasets/status", params={"dataset": dataset}).json()
    assert status == {dataset: COMPLETED}
    (listed,) = documents(api, dataset)
    assert (listed["id"], listed["name"], listed["extension"]) == (data, "notes.v2", "txt")
    assert listed["externalMetadata"]["_cognee"]["source_uri"].endswith("/notes.v2.md")
    assert ("dataSize" in listed) == server.can.pages_documents
    assert api.get(f"/api/v1/datasets/{dataset}/data/{data}/raw").content == text

    again = upload(api, name, {"other.txt": text}).json()
    assert [item["id"] for item in again["items"]] == [data]

    target = {"data_id": data, "dataset_id": dataset}
    same = patch(api, target, "notes.v2.md", text)
    assert (same.status_code, same.json()["status"]) == (200, "unchanged")
    assert same.json()["pipeline_run_id"] is None
    changed = patch(api, target, "renamed.md", b"# Notes\n\nOscarService uses the QuebecStore.\n")
    assert (changed.status_code, changed.json()["status"]) == (200, "incremental")
    assert changed.json()["data_id"] == data
    assert changed.json()["error"] is None
    assert ("redated_chunks" in changed.json()) == server.can.update_counts_redated
    (item,) = recall(api, "which store does OscarService use?", name).json()
    assert "QuebecStore" in item["text"]
    assert "PapaStore" not in item["text"]
    (listed,) = documents(api, dataset)
    assert listed["name"] == "renamed"
    assert listed["externalMetadata"]["_cognee"]["source_uri"].endswith("/notes.v2.md")

    rebuild = {**target, "chunk_level_diff": "false"}
    rebuilt = patch(api, rebuild, "renamed.md", b"# Notes\n\nSierraService replaces everything.\n")
    assert (rebuilt.status_code, rebuilt.json()["status"]) == (200, "full_rebuild")
    assert rebuilt.json()["fallback"]["reason"] == "disabled"
    assert rebuilt.json()["total_chunks"] is None

    for _ in range(2):
        gone = api.post("/api/v1/forget", json={"dataset": name, "data_id": data})
        assert (gone.status_code, gone.json()["status"]) == (200, "success")
    assert documents(api, dataset) == []
    answer = api.post("/api/v1/forget", json={"dataset": name})
    assert answer.json() == {"dataset_id": dataset, "status": "success"}
    assert recall(api, "OscarService", name).status_code == 404
    assert api.get(f"/api/v1/datasets/{dataset}/data").status_code == 403


def patch(
    api: httpx.Client, target: dict[str, str], filename: str, content: bytes
) -> httpx.Response:
    files = {"data": (filename, content, "text/plain")}
    return api.patch("/api/v1/update", params=target, files=files)


def test_a_background_remember_is_followed_by_its_status(api: httpx.Client, name: str):
    text = {"delta.txt": b"DeltaService archives logs in the OnyxBucket."}
    answer = upload(api, name, text, run_in_background="true")
    assert answer.status_code == 200
    assert answer.json()["status"] == "running"
    assert answer.json()["pipeline_run_id"] is None
    dataset = answer.json()["dataset_id"]
    asked = {"dataset": dataset, "pipeline": ["cognify_pipeline"]}
    end = time.monotonic() + 60
    while (status := api.get("/api/v1/datasets/status", params=asked).json()) != {
        dataset: COMPLETED
    }:
        assert time.monotonic() < end, status
        time.sleep(0.2)
    assert "OnyxBucket" in recall(api, "Where are logs archived?", name).json()[0]["text"]
    both = {"dataset": dataset, "pipeline": ["cognify_pipeline", "add_pipeline"]}
    nested = api.get("/api/v1/datasets/status", params=both).json()
    assert nested[dataset]["cognify_pipeline"] == COMPLETED
    none = {"dataset": dataset, "pipeline": "no_such_pipeline"}
    assert api.get("/api/v1/datasets/status", params=none).json() == {}


def test_the_status_of_a_dataset_where_nothing_happened_is_missing(api: httpx.Client, name: str):
    dataset = api.post("/api/v1/datasets", json={"name": name}).json()["id"]
    assert api.get("/api/v1/datasets/status", params={"dataset": dataset}).json() == {}


def test_datasets_are_created_once_and_listed(api: httpx.Client, name: str):
    first = api.post("/api/v1/datasets", json={"name": name}).json()
    again = api.post("/api/v1/datasets", json={"name": name}).json()
    assert set(first) == {"id", "name", "createdAt", "updatedAt", "ownerId"}
    assert first["id"] == again["id"]
    assert [row["id"] for row in api.get("/api/v1/datasets").json() if row["name"] == name] == [
        first["id"]
    ]


def test_a_dataset_made_again_has_its_old_id(api: httpx.Client, name: str):
    first = api.post("/api/v1/datasets", json={"name": name}).json()["id"]
    deleted = api.delete(f"/api/v1/datasets/{first}")
    assert (deleted.status_code, deleted.json()) == (200, None)
    assert api.delete(f"/api/v1/datasets/{first}").status_code == 403
    assert api.post("/api/v1/datasets", json={"name": name}).json()["id"] == first


@pytest.mark.parametrize(
    ("form", "files", "status", "reason"),
    [
        ({}, ["a.txt"], 400, "Either datasetId or datasetName must be provided."),
        (
            {"dataset_name": "x"},
            ["a.txt"],
            400,
            "Either datasetId or datasetName must be provided.",
        ),
        ({"datasetName": "NAME"}, [], 400, "Provide at least one file"),
        ({"datasetName": "NAME", "data": "plain"}, [], 400, "'data' accepts file uploads only"),
        ({"datasetName": "NAME", "content_type": "banana"}, ["a.txt"], 400, "Unsupported"),
        ({"datasetName": "NAME .x"}, ["a.txt"], 409, "cannot contain spaces or dots"),
        ({"datasetId": "UNKNOWN"}, ["a.txt"], 403, "[PermissionDeniedError]"),
    ],
)
def test_a_bad_remember_is_refused(
    api: httpx.Client, name: str, form: dict, files: list, status: int, reason: str
):
    unknown = str(uuid.uuid4())
    filled = {k: v.replace("NAME", name).replace("UNKNOWN", unknown) for k, v in form.items()}
    # Multipart in every case, also where there is no file to send.
    parts = [(key, (None, value)) for key, value in filled.items()]
    parts += [("data", (filename, b"x", "text/plain")) for filename in files]
    answer = api.post("/api/v1/remember", files=parts or [("unused", (None, "x"))])
    assert answer.status_code == status
    body = answer.json()
    assert reason in str(body.get("detail", body.get("error")))


def test_a_binary_file_is_refused(api: httpx.Client, server: Server, name: str):
    answer = upload(api, name, {"b.bin": bytes(range(256)) * 4})
    assert answer.status_code == server.can.binary_upload


def test_an_update_of_something_unknown_is_404(api: httpx.Client, name: str):
    dataset = api.post("/api/v1/datasets", json={"name": name}).json()["id"]
    for target in (dataset, str(uuid.uuid4())):
        asked = {"data_id": str(uuid.uuid4()), "dataset_id": target}
        answer = patch(api, asked, "x.md", b"hello")
        assert answer.status_code == 404
        assert error_name(answer) == "UpdateTargetNotFoundError"


def test_an_update_needs_one_file_and_real_ids(api: httpx.Client):
    asked = {"data_id": str(uuid.uuid4()), "dataset_id": str(uuid.uuid4())}
    empty = api.patch("/api/v1/update", params=asked, files={"node_set": (None, "x")})
    assert empty.status_code == 400
    assert empty.json()["detail"][0]["loc"] == ["body", "data"]
    two = [("data", (f"{number}.md", b"x", "text/plain")) for number in range(2)]
    assert api.patch("/api/v1/update", params=asked, files=two).status_code == 415
    malformed = patch(api, {**asked, "data_id": "nope"}, "x.md", b"hello")
    assert malformed.status_code == 400


def test_unknown_ids_are_403_for_datasets_and_404_for_documents(api: httpx.Client, name: str):
    unknown = str(uuid.uuid4())
    assert api.get(f"/api/v1/datasets/{unknown}/data").status_code == 403
    status = api.get("/api/v1/datasets/status", params={"dataset": unknown})
    assert status.status_code == 403
    dataset = api.post("/api/v1/datasets", json={"name": name}).json()["id"]
    raw = api.get(f"/api/v1/datasets/{dataset}/data/{unknown}/raw")
    assert raw.status_code == 404
    assert error_name(raw) == "DataNotFoundError"


def test_the_count_of_documents_tells_versions_apart(api: httpx.Client, server: Server):
    answer = api.get(f"/api/v1/datasets/{uuid.uuid4()}/data/count")
    assert answer.status_code == (403 if server.can.pages_documents else 405)


def test_documents_are_listed_in_pages_newest_first(
    api: httpx.Client, server: Server, library: Any
):
    url = f"/api/v1/datasets/{library.id}/data"
    everything = api.get(url).json()
    assert len(everything) == 3
    page = api.get(url, params={"limit": 1, "offset": 1}).json()
    if server.can.pages_documents:
        assert [item["id"] for item in page] == [everything[1]["id"]]
        assert api.get(f"{url}/count").json() == {"count": 3}
    else:
        assert len(page) == 3


def test_forget_names_exactly_one_target(api: httpx.Client, name: str):
    unknown = str(uuid.uuid4())
    for body in ({}, {"data_id": unknown}, {"dataset": name, "dataset_id": unknown}):
        answer = api.post("/api/v1/forget", json=body)
        assert answer.status_code == 422
        assert answer.json()["error"].startswith("Invalid request parameters.")
    by_name = api.post("/api/v1/forget", json={"dataset": name})
    assert (by_name.status_code, error_name(by_name)) == (404, "DatasetNotFoundError")
    by_id = api.post("/api/v1/forget", json={"datasetId": unknown})
    assert (by_id.status_code, error_name(by_id)) == (403, "PermissionDeniedError")


def test_forgetting_a_dataset_and_the_sessions_bound_to_it(
    api: httpx.Client, server: Server, name: str
):
    """A session is emptied when its row knows the dataset, whether it made it or found it."""
    early = f"{name}_early"
    post_entry(api, question(), early, name)
    api.post("/api/v1/datasets", json={"name": name})
    post_entry(api, question(), name, name)
    api.post("/api/v1/forget", json={"dataset": name})
    assert api.get(f"/api/v1/sessions/{name}").json()["msg_count"] == 0
    left = api.get(f"/api/v1/sessions/{early}").json()["msg_count"]
    assert left == (0 if server.can.binds_sessions else 1)
    later = post_entry(api, question(), name, name)
    assert later.status_code == (403 if server.can.binds_sessions else 200)
    api.post("/api/v1/datasets", json={"name": name})
    assert post_entry(api, question(), name, name).status_code == 200


def test_a_document_is_deleted_by_its_address(api: httpx.Client, name: str):
    result = upload(api, name, {"a.txt": b"GolfService"}).json()
    dataset, data = result["dataset_id"], result["items"][0]["id"]
    gone = api.delete(f"/api/v1/datasets/{dataset}/data/{data}")
    assert (gone.status_code, gone.json()) == (200, None)
    assert documents(api, dataset) == []


def test_memory_only_empties_the_sessions_and_cognify_builds_the_rest_again(
    api: httpx.Client, name: str
):
    dataset = remember(api, name, "GolfService writes to the HotelLog.")["dataset_id"]
    post_entry(api, question(), name, name)
    api.post("/api/v1/forget", json={"dataset_id": dataset, "memory_only": True})
    assert api.get(f"/api/v1/sessions/{name}").json()["msg_count"] == 0
    built = api.post("/api/v1/cognify", json={"dataset_ids": [dataset]}, timeout=120)
    assert (built.status_code, [*built.json()]) == (200, [dataset])
    assert "HotelLog" in recall(api, "HotelLog", name).text
    assert post_entry(api, question(), name, name).status_code == 200


def test_memory_only_keeps_the_files(api: httpx.Client, name: str):
    result = remember(api, name, "GolfService writes to the HotelLog.")
    answer = api.post("/api/v1/forget", json={"dataset": name, "memory_only": True})
    assert (answer.status_code, answer.json()["data_records_reset"]) == (200, 1)
    assert len(documents(api, result["dataset_id"])) == 1
    assert recall(api, "HotelLog", name).status_code == 404

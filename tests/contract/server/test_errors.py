"""The shapes of refusals that hold for every route."""

from __future__ import annotations

import httpx

ENTRY = "/api/v1/remember/entry"
JSON = {"Content-Type": "application/json"}


def test_validation_answers_400_with_problems_and_the_echoed_body(api: httpx.Client, name: str):
    body = {"entry": {"type": "qa", "question": "x"}, "dataset_name": name, "session_id": name}
    answer = api.post(ENTRY, json=body)
    assert answer.status_code == 400
    assert answer.json()["body"] == body
    (problem,) = answer.json()["detail"]
    assert problem["type"] == "missing"
    assert problem["loc"] == ["body", "entry", "qa", "answer"]
    assert problem["msg"] == "Field required"


def test_json_without_its_content_type_is_400(api: httpx.Client):
    answer = api.post("/api/v1/recall", content=b'{"query": "x"}')
    assert answer.status_code == 400
    assert answer.json()["detail"][0]["type"] == "model_attributes_type"


def test_malformed_json_is_400(api: httpx.Client):
    answer = api.post(ENTRY, content=b'{"entry": ', headers=JSON)
    assert answer.status_code == 400
    assert answer.json()["detail"][0]["type"] == "json_invalid"


def test_invalid_utf8_is_400(api: httpx.Client):
    answer = api.post(ENTRY, content=b'{"entry": "\xff\xfe"}', headers=JSON)
    assert answer.status_code == 400
    assert answer.json() == {"detail": "There was an error parsing the body"}


def test_an_absent_body_is_400(api: httpx.Client):
    answer = api.post("/api/v1/auth/api-keys")
    assert answer.status_code == 400
    assert answer.json()["detail"][0]["loc"] == ["body"]


def test_unknown_fields_are_ignored(api: httpx.Client, name: str):
    assert api.post("/api/v1/datasets", json={"name": name, "banana": 1}).status_code == 200


def test_an_unknown_route_is_a_plain_404(api: httpx.Client):
    answer = api.get("/api/v1/nothing")
    assert (answer.status_code, answer.json()) == (404, {"detail": "Not Found"})


def test_a_trailing_slash_is_redirected(api: httpx.Client):
    answer = api.post("/api/v1/recall/", json={"query": "x"})
    assert answer.status_code == 307
    assert answer.headers["location"].endswith("/api/v1/recall")


def test_the_api_description_lists_the_routes(anonymous: httpx.Client):
    paths = anonymous.get("/openapi.json").json()["paths"]
    assert {"/health", "/api/v1/recall", "/api/v1/remember", "/api/v1/improve"} <= set(paths)

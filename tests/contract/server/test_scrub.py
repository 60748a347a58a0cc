"""`cognee-hooks scrub` at every server: no route shows the value, and all else is still there."""

from __future__ import annotations

import io
import json
import sys
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from cognee_hooks.cli import main
from cognee_hooks.embedded import EmbeddedServer
from tests.support.api import post_entry, question, recall, remember, trace, upload
from tests.support.servers import Server, mint_key

VALUE = "hunter2-" + "Zq81" + '"slash\\é-' + "kappa"
CORE = "Zq81"
"""A part of the value that every spelling of it holds."""
SEARCHES = ("CHUNKS", "GRAPH_COMPLETION", "HYBRID_COMPLETION", "SUMMARIES")


@pytest.fixture
def account(server: Server, tmp_path: Path) -> Iterator[Server]:
    """An account that holds nothing yet: scrub looks through all that an account has."""
    if server.name == "embedded":
        with EmbeddedServer(tmp_path / "own.db") as own:
            yield replace(server, url=own.url, key=mint_key(own.url))
        return
    login = {"email": f"{uuid.uuid4().hex}@example.com", "password": uuid.uuid4().hex}
    with httpx.Client(base_url=server.url, timeout=60) as client:
        client.post("/api/v1/auth/register", json=login).raise_for_status()
        form = {"username": login["email"], "password": login["password"]}
        token = client.post("/api/v1/auth/login", data=form).raise_for_status().json()
        bearer = {"Authorization": f"Bearer {token['access_token']}"}
        made = client.post("/api/v1/auth/api-keys", json={"name": "scrub"}, headers=bearer)
    yield replace(server, key=made.raise_for_status().json()["key"])


@pytest.fixture
def own(account: Server) -> Iterator[httpx.Client]:
    headers = {"X-Api-Key": account.key}
    with httpx.Client(base_url=account.url, headers=headers, timeout=120) as client:
        yield client


@pytest.fixture
def scrub(account: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setenv("COGNEE_BASE_URL", account.url)
    monkeypatch.setenv("COGNEE_API_KEY", account.key)

    def run(*words: str) -> tuple[int, dict[str, object]]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(VALUE.encode() + b"\n")))
        code = main(["scrub", "--json", *words])
        out = capsys.readouterr().out
        assert CORE not in out
        return code, json.loads(out)

    return run


def everything(api: httpx.Client, datasets: list[str], sessions: list[str]) -> dict[str, str]:
    """What each route answers that could show the value; the history of recalls apart."""
    answers = {"sessions": api.get("/api/v1/sessions?range=all&limit=500").text}
    for session in sessions:
        answers[session] = api.get(f"/api/v1/sessions/{session}").text
        for scope in ("session", "trace", "session_context"):
            found = recall(
                api, "what is the key for deploy", scope=[scope], session_id=session, top_k=1000
            )
            answers[f"{session} {scope}"] = found.text
    for dataset in datasets:
        rows = api.get(f"/api/v1/datasets/{dataset}/data?limit=1000")
        answers[f"{dataset} list"] = rows.text
        for row in rows.json():
            raw = api.get(f"/api/v1/datasets/{dataset}/data/{row['id']}/raw")
            answers[f"{dataset} {row['id']}"] = raw.text
        for search in SEARCHES:
            body = {"datasets": None, "dataset_ids": [dataset], "search_type": search, "top_k": 100}
            answers[f"{dataset} {search}"] = recall(api, "deploy key harbour teal", **body).text
    return answers


def holding(answers: dict[str, str]) -> set[str]:
    return {name for name, text in answers.items() if CORE in text}


def test_no_answer_holds_the_value_and_all_else_is_there(own, scrub, name: str):
    first, second, other = f"{name}_a", f"{name}_b", f"{name}_other"
    harbour = remember(own, name, "Maria owns the harbour project in Lisbon.")["dataset_id"]
    upload(own, name, {"notes.md": f"The deploy key is {VALUE}. Ask Maria.".encode()})
    quiet = remember(own, other, "The teal lighthouse is painted in May.")["dataset_id"]
    for number in range(23):
        post_entry(own, question(f"what is question {number}", "an answer"), first, name)
    post_entry(own, question(f"deploy with {VALUE} please", "done"), first, name)
    for number in range(22):
        secret = VALUE if number == 0 else "none"
        shown = trace(method_params={"command": f"deploy {secret}"}, method_return_value="ok")
        post_entry(own, shown, first, name)
    post_entry(own, question("which colour", "it is teal"), second, name)
    post_entry(own, question("which month", "it is May"), f"{name}_c", other)
    improve = {"session_ids": [first], "dataset_id": harbour, "run_in_background": False}
    own.post("/api/v1/improve", json=improve).raise_for_status()
    sessions = [first, second, f"{name}_c"]
    assert len(holding(everything(own, [harbour, quiet], sessions))) > 3

    code, told = scrub("--dry-run")
    assert (code, told["changed"]) == (0, False), told
    assert len(holding(everything(own, [harbour, quiet], sessions))) > 3
    code, told = scrub("--yes")

    places = {row["place"].partition(": ")[2]: row["state"] for row in told["places"]}
    assert places[f"session {first}"] == "cleaned"
    assert {place for place, state in places.items() if state == "left"} <= {
        "the history of recalls"
    }, told
    after = everything(own, [harbour, quiet], sessions)
    assert holding(after) == set()
    detail = own.get(f"/api/v1/sessions/{first}").json()
    assert (detail["msg_count"], detail["tool_calls"]) == (24, 22)
    assert detail["qas"][-1]["question"] == "deploy with [redacted:scrubbed] please"
    assert own.get(f"/api/v1/sessions/{second}").json()["qas"][0]["answer"] == "it is teal"
    assert own.get(f"/api/v1/sessions/{name}_c").json()["qas"][0]["answer"] == "it is May"
    assert "harbour" in after[f"{harbour} CHUNKS"]
    assert "lighthouse" in after[f"{quiet} CHUNKS"]
    assert scrub("--dry-run")[1]["places"] == [] or code == 1  # the history of recalls is told
    later = post_entry(own, question("and now", "still works"), first, name)
    assert later.status_code == 200


def test_sessions_of_no_dataset_are_cleaned_as_well(own, scrub, name: str):
    post_entry(own, question(f"use {VALUE}", "yes"), name, "main_dataset")
    post_entry(own, question("another one", "kept"), name, "main_dataset")

    scrub("--yes")

    detail = own.get(f"/api/v1/sessions/{name}")
    assert CORE not in detail.text
    found = [row["question"] for row in detail.json()["qas"]]
    assert found == ["use [redacted:scrubbed]", "another one"]


def test_a_dataset_whose_name_holds_the_value_is_deleted_when_its_id_is_given(own, scrub):
    made = own.post("/api/v1/datasets", json={"name": f"for_{VALUE}"}).json()["id"]
    kept = own.post("/api/v1/datasets", json={"name": "kept"}).json()["id"]

    code, told = scrub("--yes")
    assert code == 1
    assert any(f"--forget-dataset {made}" in row["detail"] for row in told["places"])
    code, told = scrub("--yes", "--forget-dataset", made)
    assert (code, told["deleted"]) == (0, made)

    assert [row["id"] for row in own.get("/api/v1/datasets").json()] == [kept]

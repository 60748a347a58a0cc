"""Reading sessions back."""

from __future__ import annotations

import httpx
import pytest

from tests.support.api import post_entry, question, trace
from tests.support.servers import Server


def test_the_detail_holds_entries_and_totals(api: httpx.Client, server: Server, name: str):
    post_entry(api, question("How?", "So."), name, name)
    post_entry(api, trace(method_return_value="a.py"), name, name)
    detail = api.get(f"/api/v1/sessions/{name}").json()
    assert detail["session_id"] == name
    assert (detail["msg_count"], detail["tool_calls"]) == (1, 1)
    assert detail["label"] == "How?"
    assert ("embedding_tokens" in detail) == server.can.embedding_totals
    (asked,) = detail["qas"]
    assert (asked["question"], asked["answer"], asked["context"]) == ("How?", "So.", "")
    assert asked["time"].endswith("+00:00")
    assert asked["feedback_score"] is None
    (called,) = detail["traces"]
    assert called["origin_function"] == "bash"
    assert called["method_params"] == {}
    assert called["method_return_value"] == "a.py"
    assert "time" not in called


def test_the_detail_shows_the_last_20_of_each_kind_with_true_totals(api: httpx.Client, name: str):
    for number in range(23):
        post_entry(api, trace(f"tool{number}"), name, name)
    detail = api.get(f"/api/v1/sessions/{name}").json()
    assert detail["tool_calls"] == 23
    assert [entry["origin_function"] for entry in detail["traces"]] == [
        f"tool{number}" for number in range(3, 23)
    ]


def test_an_unknown_session_is_404(api: httpx.Client, name: str):
    answer = api.get(f"/api/v1/sessions/{name}")
    assert (answer.status_code, answer.json()) == (404, {"detail": "session not found"})


def test_sessions_are_listed_latest_first(api: httpx.Client, name: str):
    for suffix in ("a", "b"):
        post_entry(api, trace(), f"{name}_{suffix}", name)
    page = api.get("/api/v1/sessions", params={"range": "24h", "limit": 2}).json()
    assert [row["session_id"] for row in page["sessions"]] == [f"{name}_b", f"{name}_a"]
    assert page["limit"] == 2
    assert page["total"] >= 2
    assert page["sessions"][0]["effective_status"] == "running"


@pytest.mark.parametrize("bad", [{"limit": 0}, {"limit": 501}, {"range": "year"}])
def test_bad_paging_is_400(api: httpx.Client, bad: dict):
    assert api.get("/api/v1/sessions", params=bad).status_code == 400

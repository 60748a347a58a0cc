"""The form in which traces are stored, which verification before a replay depends on."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import httpx

from tests.support.api import post_entry, trace

ALPHABET = "ab Z9\t\n\r\x00\x1f\x7f`'\"\\{}[]<>é中文🦊\u2028\ufeff"


def cut(text: str) -> str:
    return text if len(text) <= 1000 else text[:997] + "..."


def expected_value(value: Any) -> Any:
    if isinstance(value, str):
        return cut(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [expected_value(item) for item in value[:20]]
    if isinstance(value, dict):
        return {key: expected_value(item) for key, item in list(value.items())[:20]}
    return value


def expected_trace(entry: dict[str, Any]) -> dict[str, Any]:
    texts = ("origin_function", "memory_query", "memory_context", "error_message")
    stored = {name: cut(entry.get(name, "").strip()) for name in texts}
    stored["status"] = entry.get("status", "success")
    stored["method_params"] = expected_value(entry.get("method_params") or {})
    stored["method_return_value"] = expected_value(entry.get("method_return_value"))
    return stored


def some_text(dice: random.Random) -> str:
    length = dice.choice([0, 1, 5, 40, 998, 1000, 1001, 1500])
    return "".join(dice.choice(ALPHABET) for _ in range(length))


def some_value(dice: random.Random, depth: int = 0) -> Any:
    kind = dice.randrange(8 if depth < 3 else 6)
    match kind:
        case 0 | 1:
            return some_text(dice)
        case 2:
            return dice.choice([0, -1, 2**63, 10**30, True, False])
        case 3:
            return dice.choice([0.1, -1e300, 1e-300])
        case 4:
            return dice.choice([math.nan, math.inf, -math.inf])
        case 5:
            return None
        case 6:
            return [some_value(dice, depth + 1) for _ in range(dice.choice([0, 2, 19, 21]))]
        case _:
            count = dice.choice([0, 2, 19, 21])
            return {f"k{key}": some_value(dice, depth + 1) for key in range(count)}


def some_trace(dice: random.Random, number: int) -> dict[str, Any]:
    fields: dict[str, Any] = {"status": dice.choice(["success", "error"])}
    for name in ("memory_query", "memory_context", "error_message"):
        if dice.random() < 0.7:
            fields[name] = some_text(dice)
    if dice.random() < 0.8:
        fields["method_params"] = {"command": some_text(dice), "more": some_value(dice)}
    if dice.random() < 0.8:
        fields["method_return_value"] = some_value(dice)
    return trace(f" tool_{number} {some_text(dice)}", **fields)


def test_traces_are_stored_as_predicted(api: httpx.Client, name: str):
    dice = random.Random(20261130)
    entries = [some_trace(dice, number) for number in range(30)]
    for half in (entries[:15], entries[15:]):
        session = f"{name}_{entries.index(half[0])}"
        for entry in half:
            assert post_lenient(api, entry, session, name).status_code == 200
        stored = api.get(f"/api/v1/sessions/{session}").json()["traces"]
        assert len(stored) == len(half)
        for got, entry in zip(stored, half, strict=True):
            wanted = expected_trace(entry)
            assert {key: got[key] for key in wanted} == wanted


def post_lenient(
    api: httpx.Client, entry: dict[str, Any], session: str, dataset: str
) -> httpx.Response:
    """Like :func:`post_entry`, but with NaN and infinities as Python's ``json`` writes them."""
    body = {"entry": entry, "session_id": session, "dataset_name": dataset}
    headers = {"Content-Type": "application/json"}
    return api.post("/api/v1/remember/entry", content=json.dumps(body), headers=headers)


def test_the_server_adds_one_line_about_the_outcome(api: httpx.Client, name: str):
    post_entry(api, trace(), name, name)
    post_entry(api, trace(status="error", error_message="boom"), name, name)
    told = [
        entry["session_feedback"] for entry in api.get(f"/api/v1/sessions/{name}").json()["traces"]
    ]
    assert told == ["bash succeeded.", "bash failed. Reason: boom."]

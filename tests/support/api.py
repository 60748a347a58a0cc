"""Requests that many tests send to a cognee server, in their shortest form."""

from __future__ import annotations

from typing import Any

import httpx

GRAPH = {"scope": ["graph"], "search_type": "HYBRID_COMPLETION", "only_context": True, "top_k": 5}


def question(text: str = "How do refunds work?", answer: str = "By hand.") -> dict[str, Any]:
    """A question and answer entry."""
    return {"type": "qa", "question": text, "answer": answer, "context": ""}


def trace(origin: str = "bash", **fields: Any) -> dict[str, Any]:
    """A tool trace entry."""
    return {"type": "trace", "origin_function": origin, **fields}


def post_entry(
    api: httpx.Client, entry: dict[str, Any], session: str | None, dataset: str, **fields: Any
) -> httpx.Response:
    """Send one entry for a session, to a dataset by name."""
    body = {"entry": entry, "session_id": session, "dataset_name": dataset, **fields}
    return api.post("/api/v1/remember/entry", json=body)


def recall(api: httpx.Client, query: str, *datasets: str, **fields: Any) -> httpx.Response:
    """Ask for the context of a query, in the form an agent's hook uses."""
    body = {"query": query, **GRAPH, "datasets": list(datasets), **fields}
    return api.post("/api/v1/recall", json={k: v for k, v in body.items() if v is not None})


def upload(
    api: httpx.Client, dataset: str, files: dict[str, bytes], **fields: Any
) -> httpx.Response:
    """Remember files in the foreground, without the improve that would follow."""
    return api.post(
        "/api/v1/remember",
        data={"datasetName": dataset, "self_improvement": "false", **fields},
        files=[("data", (name, content, "text/plain")) for name, content in files.items()],
    )


def remember(api: httpx.Client, dataset: str, *texts: str) -> dict[str, Any]:
    """Remember texts, each as a file of its own, and return the result."""
    files = {f"note{number}.txt": text.encode() for number, text in enumerate(texts)}
    answer: dict[str, Any] = upload(api, dataset, files).raise_for_status().json()
    return answer


def error_name(answer: httpx.Response) -> str:
    """The name in brackets at the end of an error's ``detail``, or ""."""
    text = answer.json().get("detail")
    named = isinstance(text, str) and text.endswith("]")
    return text.rpartition(" [")[2].removesuffix("]") if named else ""

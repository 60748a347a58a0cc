"""Session entries, sessions and improve."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from cognee_hooks.embedded.call import RouteCall
from cognee_hooks.embedded.clock import utc_now
from cognee_hooks.embedded.datasets import DatasetRow, storable_name
from cognee_hooks.embedded.entries import parse
from cognee_hooks.embedded.errors import detail, no_dataset_given, plain, validation
from cognee_hooks.embedded.fields import Fields
from cognee_hooks.embedded.improve import improve, turned_away
from cognee_hooks.embedded.memory import EmbeddedMemory
from cognee_hooks.embedded.sessions import DEFAULT_DATASET

_RANGES = {
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
    "all": None,
}
_MAX_OFFSET = 10_000_000


def remember_entry(memory: EmbeddedMemory, call: RouteCall) -> dict[str, Any]:
    """``POST /api/v1/remember/entry``: snake_case only, and every call stores anew."""
    entry = parse(call.body)
    fields = Fields(call.body, "body")
    name = fields.text("dataset_name", DEFAULT_DATASET)
    dataset_id = fields.identifier("dataset_id")
    session_id = fields.optional_text("session_id") or ""
    fields.check(call.body)
    return memory.sessions.store(session_id, dataset_id, name, entry)


def list_sessions(memory: EmbeddedMemory, call: RouteCall) -> dict[str, Any]:
    """``GET /api/v1/sessions``."""
    span = call.query.get("range", "30d")
    if span not in _RANGES:
        message = "Input should be '24h', '7d', '30d' or 'all'"
        issue = {"type": "enum", "loc": ["query", "range"], "msg": message, "input": span}
        raise validation([issue], None)
    limit = call.query_number("limit", 50, 1, 500)
    offset = call.query_number("offset", 0, 0, _MAX_OFFSET)
    return memory.sessions.page(limit, offset, _RANGES[span])


def session_detail(memory: EmbeddedMemory, call: RouteCall) -> dict[str, Any]:
    """``GET /api/v1/sessions/{id}``: totals, and the last 20 entries of each kind."""
    found = memory.sessions.detail(call.path["session_id"])
    if found is None:
        raise detail(404, "session not found")
    return found


def run_improve(memory: EmbeddedMemory, call: RouteCall) -> dict[str, Any]:
    """``POST /api/v1/improve``: the session's new entries become lasting memory."""
    fields = Fields(call.body, "body", camel=True)
    dataset_id = fields.identifier("dataset_id")
    name = fields.optional_text("dataset_name")
    session_ids = fields.texts("session_ids")
    background = fields.flag("run_in_background", default=False)
    fields.check(call.body)
    dataset = _target(memory, dataset_id, name)
    started_at = utc_now()
    done = _improved(memory, dataset, session_ids, background=background)
    memory.runs.add(
        dataset,
        session_ids,
        started_at=started_at,
        outcome="noop" if done["status"] == "skipped" else "succeeded",
        background=background,
    )
    return done


def _improved(
    memory: EmbeddedMemory, dataset: DatasetRow, session_ids: list[str], *, background: bool
) -> dict[str, Any]:
    """Improve under a claim, once more for each session that was turned away meanwhile."""
    if not memory.claims.claim(dataset.id, session_ids):
        return turned_away(
            dataset, session_ids, rerun_requested=memory.claims.ask_again(session_ids)
        )
    try:
        with memory.database.transaction():
            done = improve(memory.sessions, dataset, session_ids, background=background)
        while not memory.claims.release(dataset.id, session_ids):
            with memory.database.transaction():
                again = improve(memory.sessions, dataset, session_ids)
            if not background:
                done["rerun_passes"].append(again["stages"])
    except BaseException:
        memory.claims.drop(dataset.id, session_ids)
        raise
    return done


def list_runs(memory: EmbeddedMemory, call: RouteCall) -> list[dict[str, Any]]:
    """``GET /api/v1/activity/pipeline-runs``: improves that have ended, newest first."""
    limit = call.query_number("limit", 50, 1, 500)
    offset = call.query_number("offset", 0, 0, _MAX_OFFSET)
    dataset_id = call.query_id("dataset_id") if "dataset_id" in call.query else None
    if dataset_id:
        memory.datasets.get(dataset_id, "read")
    return memory.runs.page(limit, offset, dataset_id)


def _target(memory: EmbeddedMemory, dataset_id: str | None, name: str | None) -> DatasetRow:
    if dataset_id:
        return memory.datasets.get(dataset_id, "write")
    if not name:
        raise no_dataset_given()
    if not storable_name(name):
        raise plain(409, "An error occurred during graph improvement.")
    return memory.datasets.create(name)

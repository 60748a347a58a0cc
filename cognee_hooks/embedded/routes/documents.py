"""Remember, update and forget."""

from __future__ import annotations

import time
import uuid
from typing import Any

from cognee_hooks.embedded.call import RouteCall
from cognee_hooks.embedded.datasets import DatasetRow, storable_name
from cognee_hooks.embedded.documents import Upload
from cognee_hooks.embedded.entries import AcceptedEntry
from cognee_hooks.embedded.errors import ApiError, detail, no_dataset_given, plain, validation
from cognee_hooks.embedded.fields import Fields
from cognee_hooks.embedded.improve import improve
from cognee_hooks.embedded.memory import EmbeddedMemory

_BAD_NAME = (
    "Invalid request data for remember operation: Dataset name cannot contain spaces or dots."
)
_FORGET_USAGE = (
    "Invalid request parameters. "
    "Specify dataset or dataset_id, data_id+dataset, or everything=True."
)


def remember(memory: EmbeddedMemory, call: RouteCall) -> dict[str, Any]:
    """``POST /api/v1/remember``: documents into a dataset.

    ``raw_data`` is text here and nothing else: a cognee server would read paths and fetch URLs.
    """
    _check_content_type(call.field("content_type") or "")
    uploads = [*call.uploads("data"), *_raw_texts(call)]
    dataset = _remember_target(memory, call)
    if not uploads:
        raise detail(400, "Provide at least one file in 'data' or one entry in 'raw_data'.")
    if session_id := call.field("session_id"):
        return _remember_in_session(memory, call, dataset, session_id)
    began = time.monotonic()
    with memory.database.transaction():
        for upload in uploads:
            memory.documents.add(dataset.id, upload, call.fields("node_set"))
    started = {"dataset_name": dataset.name, "dataset_id": dataset.id}
    if _flag(call, "run_in_background", default=False):
        background = {"pipeline_run_id": None, "items_processed": 0, "elapsed_seconds": None}
        return {"status": "running", **started, **background}
    answer = {
        "status": "completed",
        **started,
        "pipeline_run_id": str(uuid.uuid4()),
        "items_processed": len(uploads),
        "elapsed_seconds": time.monotonic() - began,
        "items": [{"id": data_id} for data_id in memory.documents.ids(dataset.id)],
    }
    if _flag(call, "self_improvement", default=True):
        answer["improve"] = improve(memory.sessions, dataset, [])
    return answer


def _check_content_type(kind: str) -> None:
    if kind == "code":
        raise detail(400, "This server keeps text only: it cannot index code.")
    if kind:
        raise detail(
            400,
            f"Unsupported content_type {kind!r}. Use 'skills', 'code', 'cogx-archive', or leave it "
            "empty for normal ingestion.",
        )


def _raw_texts(call: RouteCall) -> list[Upload]:
    return [Upload("text.txt", text.encode()) for text in call.fields("raw_data")]


def _remember_target(memory: EmbeddedMemory, call: RouteCall) -> DatasetRow:
    if given := call.field("datasetId"):
        fields = Fields({"datasetId": given}, "body")
        dataset_id = fields.identifier("datasetId")
        fields.check({"datasetId": given})
        return memory.datasets.get(dataset_id or "", "write")
    name = call.field("datasetName")
    if not name:
        raise no_dataset_given()
    if not storable_name(name):
        raise plain(409, _BAD_NAME)
    return memory.datasets.create(name)


def _remember_in_session(
    memory: EmbeddedMemory, call: RouteCall, dataset: DatasetRow, session_id: str
) -> dict[str, Any]:
    """Text for a session becomes an answer without a question; files are passed over."""
    for text in call.fields("raw_data"):
        body = {
            "question": "",
            "context": "",
            "answer": text,
            "feedback_text": None,
            "feedback_score": None,
            "used_graph_element_ids": None,
            "memify_metadata": None,
            "used_session_context_ids": None,
        }
        memory.sessions.store(session_id, dataset.id, dataset.name, AcceptedEntry("qa", body))
    return {
        "status": "session_stored",
        "dataset_name": dataset.name,
        "dataset_id": dataset.id,
        "pipeline_run_id": None,
        "items_processed": 0,
        "elapsed_seconds": 0.0,
        "session_ids": [session_id],
    }


def _flag(call: RouteCall, name: str, *, default: bool) -> bool:
    given = call.field(name)
    if given is None:
        return default
    fields = Fields({name: given.lower()}, "body")
    value = fields.flag(name, default=default)
    fields.check({name: given})
    return value


def update(memory: EmbeddedMemory, call: RouteCall) -> dict[str, Any]:
    """``PATCH /api/v1/update``: other content for a document that keeps its id."""
    data_id, dataset_id = call.query_id("data_id"), call.query_id("dataset_id")
    uploads = call.uploads("data")
    if not uploads:
        issue = {"type": "missing", "loc": ["body", "data"], "msg": "Field required", "input": None}
        raise validation([issue], {})
    if len(uploads) > 1:
        raise detail(415, "Update takes exactly one file.", "IngestionError")
    began = time.monotonic()
    counts = memory.documents.update(dataset_id, data_id, uploads[0], call.fields("node_set"))
    rebuild = counts is not None and call.query.get("chunk_level_diff", "true").lower() == "false"
    kept = len(memory.passages.texts_of(data_id))
    return {
        "status": _update_status(counts, rebuild=rebuild),
        **_counters(counts or {"deleted": 0, "added": 0, "kept": kept, "total": kept}, rebuild),
        "data_id": data_id,
        "dataset_id": dataset_id,
        "duration_seconds": round(time.monotonic() - began, 3),
        "pipeline_run_id": None if counts is None else str(uuid.uuid4()),
        "fallback": _disabled() if rebuild else None,
        "error": None,
    }


def _update_status(counts: dict[str, int] | None, *, rebuild: bool) -> str:
    if counts is None:
        return "unchanged"
    return "full_rebuild" if rebuild else "incremental"


def _disabled() -> dict[str, str]:
    return {"reason": "disabled", "detail": "chunk_level_diff=False was requested"}


def _counters(counts: dict[str, int], rebuild: bool) -> dict[str, int | None]:
    changed = bool(counts["deleted"] or counts["added"])
    counters = {
        "regions": int(changed),
        "deleted_chunks": counts["deleted"],
        "added_chunks": counts["added"],
        "reused_chunks": 0,
        "redated_chunks": 0,
        "kept_chunks": counts["kept"],
        "reindexed_chunks": 0,
        "total_chunks": counts["total"],
    }
    return {name: None if rebuild else value for name, value in counters.items()}


def forget(memory: EmbeddedMemory, call: RouteCall) -> dict[str, Any]:
    """``POST /api/v1/forget``: a dataset, one document, or everything."""
    fields = Fields(call.body, "body", camel=True)
    name = fields.optional_text("dataset")
    dataset_id = fields.identifier("dataset_id")
    data_id = fields.identifier("data_id")
    everything = fields.flag("everything", default=False)
    memory_only = fields.flag("memory_only", default=False)
    fields.check(call.body)
    with memory.database.transaction():
        if everything and not (name or dataset_id or data_id):
            return _forget_everything(memory)
        if bool(name) == bool(dataset_id):
            raise plain(422, _FORGET_USAGE)
        dataset = _forget_target(memory, name, dataset_id)
        if memory_only:
            reset = memory.documents.forget_passages(dataset.id, data_id)
            if not data_id:
                memory.sessions.empty(dataset.id)
            answer = {"dataset_id": dataset.id, "data_records_reset": reset, "status": "success"}
            return {"data_id": data_id, **answer} if data_id else answer
        if data_id:
            memory.documents.delete(dataset.id, data_id)
            return {"data_id": data_id, "dataset_id": dataset.id, "status": "success"}
        drop_dataset(memory, dataset.id)
        return {"dataset_id": dataset.id, "status": "success"}


def cognify(memory: EmbeddedMemory, call: RouteCall) -> dict[str, Any]:
    """``POST /api/v1/cognify``: build what recall finds anew from the documents of datasets."""
    fields = Fields(call.body, "body", camel=True)
    identifiers = fields.identifiers("dataset_ids")
    fields.check(call.body)
    answer: dict[str, Any] = {}
    with memory.database.transaction():
        for dataset_id in identifiers:
            dataset = memory.datasets.get(dataset_id, "write")
            memory.documents.build(dataset.id)
            answer[dataset.id] = {"status": "PipelineRunCompleted", "dataset_id": dataset.id}
    return answer


def drop_dataset(memory: EmbeddedMemory, dataset_id: str) -> None:
    """Delete a dataset and, as 1.6.5 does, what its sessions hold."""
    memory.sessions.empty(dataset_id)
    memory.datasets.delete(dataset_id)


def _forget_everything(memory: EmbeddedMemory) -> dict[str, Any]:
    datasets = memory.datasets.all()
    for dataset in datasets:
        memory.datasets.delete(dataset.id)
    memory.sessions.empty(None)
    return {"datasets_removed": len(datasets), "status": "success"}


def _forget_target(memory: EmbeddedMemory, name: str | None, dataset_id: str | None) -> DatasetRow:
    if dataset_id:
        return memory.datasets.get(dataset_id, "delete")
    found = memory.datasets.find(memory.datasets.id_of(name or ""))
    if found is None:
        raise _unknown(name or "")
    return found


def _unknown(name: str) -> ApiError:
    return detail(404, f"Dataset '{name}' not found or not accessible.", "DatasetNotFoundError")

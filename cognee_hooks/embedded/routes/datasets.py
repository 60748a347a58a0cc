"""Datasets, their status, and the documents in them."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from cognee_hooks.embedded.call import RouteCall
from cognee_hooks.embedded.datasets import DatasetRow
from cognee_hooks.embedded.errors import detail
from cognee_hooks.embedded.fields import Fields
from cognee_hooks.embedded.memory import EmbeddedMemory
from cognee_hooks.embedded.routes.documents import drop_dataset

_PIPELINES = ("cognify_pipeline", "add_pipeline")
_COMPLETED = "DATASET_PROCESSING_COMPLETED"
_MAX_OFFSET = 10_000_000


def list_datasets(memory: EmbeddedMemory, _call: RouteCall) -> list[dict[str, Any]]:
    """``GET /api/v1/datasets``."""
    return [_listed(memory, dataset) for dataset in memory.datasets.all()]


def create_dataset(memory: EmbeddedMemory, call: RouteCall) -> dict[str, Any]:
    """``POST /api/v1/datasets``: makes it or returns the one that is there; any name is taken."""
    fields = Fields(call.body, "body", camel=True)
    name = fields.text("name")
    fields.check(call.body)
    return _listed(memory, memory.datasets.create(name))


def _listed(memory: EmbeddedMemory, dataset: DatasetRow) -> dict[str, Any]:
    return {
        "id": dataset.id,
        "name": dataset.name,
        "createdAt": dataset.created_at,
        "updatedAt": dataset.updated_at,
        "ownerId": memory.accounts.owner_id,
    }


def status(memory: EmbeddedMemory, call: RouteCall) -> dict[str, Any]:
    """``GET /api/v1/datasets/status``: nothing about a dataset where nothing was ingested."""
    pipelines = call.query.getlist("pipeline") or [_PIPELINES[0]]
    answer: dict[str, Any] = {}
    for dataset_id in call.query_ids("dataset"):
        dataset = memory.datasets.get(dataset_id, "read")
        done = {name: _COMPLETED for name in pipelines if dataset.built and name in _PIPELINES}
        if done:
            answer[dataset_id] = done if len(pipelines) > 1 else _COMPLETED
    return answer


def list_documents(memory: EmbeddedMemory, call: RouteCall) -> list[dict[str, Any]]:
    """``GET /api/v1/datasets/{id}/data``: newest first, in pages."""
    dataset = memory.datasets.get(call.path_id("dataset_id"), "read")
    limit = call.query_number("limit", 100, 1, 1000)
    offset = call.query_number("offset", 0, 0, _MAX_OFFSET)
    return memory.documents.page(dataset.id, limit, offset)


def count_documents(memory: EmbeddedMemory, call: RouteCall) -> dict[str, int]:
    """``GET /api/v1/datasets/{id}/data/count``."""
    dataset = memory.datasets.get(call.path_id("dataset_id"), "read")
    return {"count": len(memory.documents.ids(dataset.id))}


def raw_document(memory: EmbeddedMemory, call: RouteCall) -> Response:
    """``GET /api/v1/datasets/{id}/data/{data_id}/raw``: the bytes as they were sent."""
    dataset = memory.datasets.get(call.path_id("dataset_id"), "read")
    data_id = call.path_id("data_id")
    content = memory.documents.content(dataset.id, data_id)
    if content is None:
        text = f"Data ({data_id}) not found in dataset ({dataset.id})."
        raise detail(404, text, "DataNotFoundError")
    return Response(content, media_type="text/plain")


def delete_document(memory: EmbeddedMemory, call: RouteCall) -> None:
    """``DELETE /api/v1/datasets/{id}/data/{data_id}``."""
    dataset = memory.datasets.get(call.path_id("dataset_id"), "delete")
    memory.documents.delete(dataset.id, call.path_id("data_id"))


def delete_dataset(memory: EmbeddedMemory, call: RouteCall) -> None:
    """``DELETE /api/v1/datasets/{id}``."""
    dataset = memory.datasets.get(call.path_id("dataset_id"), "delete")
    with memory.database.transaction():
        drop_dataset(memory, dataset.id)

"""What the routes about runs make of what servers answer."""

from __future__ import annotations

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.pipelines import CODE_PIPELINE, PipelineRow, PipelineState
from tests.support import fake_server as fake

STATUS = "/api/v1/datasets/status"
RUNS = "/api/v1/activity/pipeline-runs"
UUID = "42391ba7-2487-5312-8912-589684ac04d2"


def soon(seconds=5.0):
    return Deadline.after(seconds)


async def test_what_is_no_id_is_not_asked_about(server, client):
    for asked in (client.pipelines.status, client.pipelines.rows):
        with pytest.raises(ServerFailure, match="not a UUID") as caught:
            await asked("../datasets", CODE_PIPELINE, soon())
        assert caught.value.kind is FailureKind.REJECTED
    assert server.requests == []


@pytest.mark.parametrize(
    ("document", "word"),
    [
        ({UUID: "dataset_processing_completed"}, "DATASET_PROCESSING_COMPLETED"),
        ({UUID: {"code_graph_pipeline": "X_COMPLETED"}}, "X_COMPLETED"),
        ({"other": "X_STARTED"}, ""),
        ({}, ""),
        ({UUID: 7}, ""),
        ({UUID: ["x"]}, ""),
        ({UUID: {}}, ""),
    ],
)
async def test_vector_64_a_status_is_read_in_either_form(server, client, document, word):
    server.on(STATUS, fake.status(200, document))
    assert await client.pipelines.status(UUID, CODE_PIPELINE, soon()) == word


async def test_a_status_that_is_no_map_is_a_failure(server, client):
    server.on(STATUS, fake.status(200, [1]))
    with pytest.raises(ServerFailure):
        await client.pipelines.status(UUID, CODE_PIPELINE, soon())


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("DATASET_PROCESSING_COMPLETED", PipelineState.COMPLETED),
        ("completed", PipelineState.COMPLETED),
        ("X_ERRORED", PipelineState.ERRORED),
        ("GRAPH_BUILD_FAILED", PipelineState.ERRORED),
        ("DATASET_PROCESSING_STARTED", PipelineState.RUNNING),
        ("", PipelineState.RUNNING),
    ],
)
def test_vector_63_of_a_status_the_ending_counts(word, state):
    assert PipelineState.of(word) is state


async def test_the_log_of_runs_holds_rows_of_many_kinds(server, client):
    row = {"pipeline_name": "code_graph_pipeline", "pipeline_run_id": "r1"}
    document = [
        {**row, "status": "DATASET_PROCESSING_COMPLETED"},
        {**row, "status": None},
        {"pipeline_name": "cognify_pipeline", "status": "DATASET_PROCESSING_COMPLETED"},
        "rubbish",
    ]
    server.on(RUNS, fake.status(200, document))
    assert await client.pipelines.rows(UUID, CODE_PIPELINE, soon()) == [
        PipelineRow("r1", PipelineState.COMPLETED),
        PipelineRow("r1", PipelineState.RUNNING),
    ]
    server.on(RUNS, fake.status(200, {"runs": []}))
    with pytest.raises(ServerFailure):
        await client.pipelines.rows(UUID, CODE_PIPELINE, soon())

"""How far a run of one of the server's pipelines is.

By the cognee 1.6 HTTP contract the status of a dataset survives its runs, so it may be that of an
earlier one; the log of runs, where a server keeps one, names each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from cognee_hooks.services.answers import text_of
from cognee_hooks.services.asking import Ask, expect, required_uuid
from cognee_hooks.services.improve import moment
from cognee_hooks.services.wire import SMALL_BODY, ServerCall

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline

COGNIFY_PIPELINE = "cognify_pipeline"
"""Makes memory of documents."""
CODE_PIPELINE = "code_graph_pipeline"
"""Makes the code graph of a repository."""

_ROWS = 100
"""Rows of the server's log of runs that are looked through; a run has three."""
_MOST_ROWS = 500
_MAX_STATUS = 80


class PipelineState(StrEnum):
    """How far a run of a pipeline is."""

    RUNNING = "running"
    """Or waiting in line, or in a state with a name that we do not know."""
    COMPLETED = "completed"
    ERRORED = "errored"

    @classmethod
    def of(cls, status: str) -> PipelineState:
        """Return the state behind a status of the server, of which only the ending counts."""
        word = status.strip().upper()
        if word.endswith("COMPLETED"):
            return cls.COMPLETED
        return cls.ERRORED if word.endswith(("ERRORED", "FAILED")) else cls.RUNNING


@dataclass(frozen=True, slots=True)
class PipelineRow:
    """One row of the server's log about a run; each run has several.

    Attributes:
        run_id: Which run.
        state: How far it was then.
        at: When the row was made, in epoch seconds of the server; 0.0 where it does not say.
    """

    run_id: str
    state: PipelineState
    at: float = 0.0


class PipelineRoutes:
    """The routes that tell about runs.

    Args:
        ask: Sends the requests.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    async def status(self, dataset_id: str, pipeline: str, deadline: Deadline) -> str:
        """Return the server's word for the newest run of a dataset's pipeline, in upper case.

        Returns:
            Such as ``DATASET_PROCESSING_STARTED``; "" where none has begun yet, or ever will.

        Raises:
            ServerFailure: It failed.
        """
        identifier = required_uuid(dataset_id)
        path = f"/api/v1/datasets/status?dataset={identifier}&pipeline={quote(pipeline, safe='')}"
        answer = await self._ask(ServerCall(method="GET", path=path, limit=SMALL_BODY), deadline)
        return expect(read_status(answer.document, identifier, pipeline), "is no status")

    async def rows(self, dataset_id: str, pipeline: str, deadline: Deadline) -> list[PipelineRow]:
        """Return what the server's log says about the runs of a dataset's pipeline, newest first.

        Raises:
            ServerFailure: It failed; ``NOT_FOUND`` where the server keeps no such log.
        """
        wanted = f"dataset_id={required_uuid(dataset_id)}&pipeline_name={quote(pipeline, safe='')}"
        path = f"/api/v1/activity/pipeline-runs?limit={_ROWS}&{wanted}"
        answer = await self._ask(ServerCall(method="GET", path=path), deadline)
        return expect(read_pipeline_rows(answer.document, pipeline), "is no list of runs")


def read_status(document: object, dataset_id: str, pipeline: str) -> str | None:
    """Read the status of one dataset, in either of the two forms that it comes in.

    Args:
        document: ``{id: status}`` or ``{id: {pipeline: status}}``.
        dataset_id: The dataset.
        pipeline: The pipeline.

    Returns:
        The server's word in upper case; "" where it has none. None where the answer is no such map.
    """
    if not isinstance(document, Mapping):
        return None
    value: Any = document.get(dataset_id)
    if isinstance(value, Mapping):
        value = value.get(pipeline)
    return value.upper()[:_MAX_STATUS] if isinstance(value, str) else ""


def read_pipeline_rows(document: object, pipeline: str) -> list[PipelineRow] | None:
    """Read the rows about one pipeline from a page of the log of runs, newest first.

    Returns:
        The rows; None where the answer is no such page.
    """
    if not isinstance(document, list):
        return None
    return [
        PipelineRow(
            text_of(row, "pipeline_run_id"),
            PipelineState.of(text_of(row, "status")),
            moment(text_of(row, "created_at")),
        )
        for row in document[:_MOST_ROWS]
        if isinstance(row, Mapping) and text_of(row, "pipeline_name") == pipeline
    ]

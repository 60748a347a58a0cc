"""The routes about code: have a repository indexed, and see how that goes.

What the graph answers to comes through recall, with scope ``code``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING
from urllib.parse import quote

from cognee_hooks.services.checks import expect, revealed
from cognee_hooks.services.code import (
    CODE_PIPELINE,
    PipelineRow,
    Submission,
    code_call,
    read_pipeline_rows,
    read_status,
    read_submission,
)
from cognee_hooks.services.names import canonical_uuid
from cognee_hooks.services.wire import SMALL_BODY, Answer, Call

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.redaction import Redacted

_ROWS = 100
"""Rows of the server's log of runs that are looked through; a run has three."""


class CodeRoutes(ABC):
    """The routes; how requests travel is the subclass's part."""

    @abstractmethod
    async def _ask(self, call: Call, deadline: Deadline) -> Answer:
        """Send a request with the key and return the answer if it is a good one."""

    async def index_code(
        self,
        repository: Redacted[str],
        *,
        dataset: str,
        deadline: Deadline,
        vectors: bool = False,
    ) -> Submission:
        """Have the code graph of a repository built, or brought up to date, in the background.

        Args:
            repository: Absolute path on the server's own disk, or a git URL that it clones. A path
                that is not there is taken on as well and comes to nothing.
            dataset: Its dataset, made by the server where it is missing.
            deadline: When to give up. The server goes on nevertheless.
            vectors: Embed the facts too, which needs the server's model.

        Raises:
            ServerFailure: It was not taken on, or may not have been.
            TypeError: The name did not go through redaction.
        """
        call = code_call(revealed(repository), dataset, vectors=vectors)
        answer = await self._ask(call, deadline)
        return expect(read_submission(answer.document), "does not say that it was taken on")

    async def pipeline_status(
        self, dataset_id: str, deadline: Deadline, *, pipeline: str = CODE_PIPELINE
    ) -> str:
        """Return the server's word for the state of a dataset's pipeline, "" where it has none.

        It may be the state of an earlier run.

        Raises:
            ServerFailure: It failed.
        """
        identifier = canonical_uuid(dataset_id)
        path = f"/api/v1/datasets/status?dataset={identifier}&pipeline={quote(pipeline, safe='')}"
        answer = await self._ask(Call(method="GET", path=path, limit=SMALL_BODY), deadline)
        return expect(read_status(answer.document, identifier), "is no map of states")

    async def pipeline_rows(
        self, dataset_id: str, deadline: Deadline, *, pipeline: str = CODE_PIPELINE
    ) -> list[PipelineRow]:
        """Return what the server's log says about the runs of a dataset's pipeline, newest first.

        Raises:
            ServerFailure: It failed; ``NOT_FOUND`` where the server keeps no such log.
        """
        wanted = f"dataset_id={canonical_uuid(dataset_id)}&pipeline_name={quote(pipeline, safe='')}"
        path = f"/api/v1/activity/pipeline-runs?limit={_ROWS}&{wanted}"
        answer = await self._ask(Call(method="GET", path=path), deadline)
        return expect(read_pipeline_rows(answer.document, pipeline), "is no list of runs")

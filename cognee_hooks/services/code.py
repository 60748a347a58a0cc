"""Having a repository indexed, and following that to its end.

By the cognee 1.6 HTTP contract the answer to a submission only says that it was taken on; a
repository that cannot be read fails in silence. The status of a dataset survives its runs, so it
may be that of an earlier one; the log of runs names each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.answers import text_of
from cognee_hooks.services.improve import moment
from cognee_hooks.services.names import safe_dataset_name
from cognee_hooks.services.outcome import error_text, one_line
from cognee_hooks.services.wire import SMALL_BODY, Call

CODE_PIPELINE = "code_graph_pipeline"

_MOST_ROWS = 500


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
class Submission:
    """A repository that the server took on.

    Attributes:
        status: The server's word, ``running`` or ``completed``.
        dataset_id: UUID of its dataset, or "".
        run_id: Id of the run; "" where it goes on in the background.
    """

    status: str
    dataset_id: str
    run_id: str


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


def code_call(repository: str, dataset: str, *, vectors: bool) -> Call:
    """Return the request that has a repository indexed in the background.

    Args:
        repository: Absolute path on the server's machine, or a git URL.
        dataset: Name of its dataset.
        vectors: Whether its facts are embedded as well, which needs the server's model.
    """
    fields = (
        ("datasetName", safe_dataset_name(dataset)),
        ("content_type", "code"),
        ("raw_data", repository),
        ("run_in_background", "true"),
        ("index_vectors", "true" if vectors else "false"),
    )
    path = "/api/v1/remember"
    return Call(method="POST", path=path, fields=fields, repeatable=False, limit=SMALL_BODY)


def read_submission(document: object) -> Submission | None:
    """Read the answer to a submission; None where it is not one.

    Raises:
        ServerFailure: It says, with a good HTTP status, that it failed.
    """
    if not isinstance(document, Mapping) or not text_of(document, "status"):
        return None
    status = text_of(document, "status").lower()
    error = error_text(document).text
    if error or PipelineState.of(status) is PipelineState.ERRORED:
        raise ServerFailure(FailureKind.SERVER_ERROR, error or f"the server says {status[:40]!r}")
    return Submission(
        one_line(status, 40),
        text_of(document, "dataset_id"),
        text_of(document, "pipeline_run_id"),
    )


def read_status(document: object, dataset_id: str) -> str | None:
    """Read the status of one dataset, in either of the two shapes that it comes in.

    Args:
        document: ``{id: status}`` or ``{id: {pipeline: status}}``.
        dataset_id: The dataset; where it is not in there, the first entry counts.

    Returns:
        The server's word; "" where it has none yet. None where the answer is no such map.
    """
    if not isinstance(document, Mapping):
        return None
    found = document.get(dataset_id, next(iter(document.values()), ""))
    if isinstance(found, Mapping):
        found = next(iter(found.values()), "")
    return one_line(found, 80) if isinstance(found, str) else ""


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

"""Having the server build the code graph of a repository.

By the cognee 1.6 HTTP contract the answer to a submission only says that it was taken on; a
repository that cannot be read fails in silence. What the graph answers to comes through recall,
with scope ``code``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.answers import DatasetRef, text_of
from cognee_hooks.services.asking import Address, Ask, expect, revealed
from cognee_hooks.services.failures import error_text, excerpt
from cognee_hooks.services.names import safe_dataset_name
from cognee_hooks.services.pipelines import PipelineState
from cognee_hooks.services.wire import SMALL_BODY, Part, ServerCall

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.redaction import Redacted


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


class CodeRoutes:
    """The route that indexes.

    Args:
        ask: Sends the requests.
        address: Leads to the dataset.
    """

    def __init__(self, ask: Ask, address: Address) -> None:
        self._ask = ask
        self._address = address

    async def index(
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
        led = await self._address(DatasetRef(dataset), deadline, write=True)
        name = safe_dataset_name(dataset)
        fields = {
            **({"datasetId": led.uuid} if led.uuid else {"datasetName": name}),
            "content_type": "code",
            "raw_data": revealed(repository),
            "run_in_background": "true",
            "index_vectors": "true" if vectors else "false",
        }
        call = ServerCall(
            method="POST",
            path="/api/v1/remember",
            parts=[Part.of(name, value) for name, value in fields.items()],
            repeatable=False,
            limit=SMALL_BODY,
        )
        answer = await self._ask(call, deadline)
        return expect(read_submission(answer.document), "does not say that it was taken on")


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
        excerpt(status, 40),
        text_of(document, "dataset_id"),
        text_of(document, "pipeline_run_id"),
    )

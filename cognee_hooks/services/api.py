"""What a cognee server can do for us, one method a route.

The routes, their spelling and what their answers mean are those of cognee 1.6.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services import answers
from cognee_hooks.services.answers import (
    Account,
    Dataset,
    DatasetRef,
    Health,
    RecallItem,
    SessionDetail,
    StoredEntry,
)
from cognee_hooks.services.asking import expect, put, revealed
from cognee_hooks.services.code import CodeRoutes
from cognee_hooks.services.documents import DocumentRoutes
from cognee_hooks.services.entries import entry_problem, send_entry
from cognee_hooks.services.failures import failure_of, stranger
from cognee_hooks.services.identities import IdentityRoutes
from cognee_hooks.services.improve import (
    ImproveResult,
    ImproveRun,
    ImproveState,
    newest_moment,
    read_improve,
    read_runs,
    refusal,
)
from cognee_hooks.services.names import canonical_uuid, safe_dataset_name, safe_session_id
from cognee_hooks.services.pipelines import PipelineRoutes
from cognee_hooks.services.upkeep import UpkeepRoutes
from cognee_hooks.services.wire import BODY_LIMIT, SMALL_BODY, ServerAnswer, ServerCall

if TYPE_CHECKING:
    from cognee_hooks.redaction import Redacted

_FIRST_VERSION_WITH_IDS = (1, 6, 5)
_RUNS = 100
"""Rows of the server's log of runs that are looked through for one of ours."""


class ServerApi(ABC):
    """The routes; how requests travel is the subclass's part.

    Attributes:
        accounts: The routes about accounts and rights, as the account in use.
        code: The route that indexes repositories.
        documents: The routes about remembered text and files.
        pipelines: The routes that tell how far the server is.
        upkeep: The routes that it takes to have the server let go of something.
    """

    def __init__(self) -> None:
        self.accounts = IdentityRoutes(self._ask)
        self.code = CodeRoutes(self._ask, self._addressed)
        self.documents = DocumentRoutes(self._ask, self._addressed)
        self.pipelines = PipelineRoutes(self._ask)
        self.upkeep = UpkeepRoutes(self._ask)
        self._version: tuple[int, ...] = ()
        self._without_improve: tuple[int, ...] | None = None

    @abstractmethod
    async def _ask(self, call: ServerCall, deadline: Deadline) -> ServerAnswer:
        """Send a request with the key and return the answer if it is a good one."""

    @abstractmethod
    async def _exchange(self, call: ServerCall, deadline: Deadline) -> ServerAnswer:
        """Send a request without a key and return whatever is answered."""

    @property
    def shared_names(self) -> Mapping[str, str]:
        """UUIDs that names of datasets lead to, where the account shares another one's datasets."""
        return {}

    @property
    def shared_ids(self) -> Collection[str]:
        """UUIDs of the datasets that the account may write to as a guest of another one."""
        return ()

    async def _addressed(
        self,
        dataset: DatasetRef,
        deadline: Deadline,  # noqa: ARG002 - nobody has to be asked
        *,
        write: bool,  # noqa: ARG002 - same
    ) -> DatasetRef:
        """Return how the server is told which dataset; see `asking.Address`."""
        return dataset

    async def health(self, deadline: Deadline) -> Health:
        """Ask whether the server works; needs no key.

        A 503 that carries the server's own health body is an answer, not a failure. Anything that
        is no such body is a failure whatever its status: a wrong address looks healthy otherwise.

        Raises:
            ServerFailure: It does not answer, or is no cognee server.
        """
        call = ServerCall(method="GET", path="/health", limit=SMALL_BODY)
        answer = await self._exchange(call, deadline)
        found = answers.read_health(answer.document)
        if found is None or not (answer.ok or answer.status == 503):  # noqa: PLR2004
            if answer.ok:
                raise stranger("has no health report")
            raise failure_of(answer.status, answer.document, headers=answer.headers)
        self._version = _version(found.version)
        date = answers.read_date(answer.headers.get("date", ""))
        return replace(found, ready=found.ready and answer.ok, date=date)

    async def recall(
        self,
        query: Redacted[str],
        *,
        dataset: DatasetRef,
        deadline: Deadline,
        top_k: int = 5,
        scope: str = "graph",
        search_type: str = "HYBRID_COMPLETION",
        code_query: Redacted[dict[str, Any]] | None = None,
        session_id: str | None = None,
    ) -> list[RecallItem]:
        """Search memory.

        Everything that the server would otherwise choose by itself is pinned: without a search type
        it guesses one from the words, without a dataset it opens all that the account can read.

        Args:
            query: What to look for.
            dataset: Where to look.
            deadline: When to give up.
            top_k: Passages and entities at most, at least 1.
            scope: ``graph``, ``session``, ``trace``, ``session_context`` or ``code``.
            search_type: How to look in the graph.
            code_query: Operation and arguments for scope ``code``.
            session_id: Session to search, for the session scopes. With scope ``graph`` it would
                only add the conversation that the agent already has.

        Returns:
            The items, as the server ordered them.

        Raises:
            ServerFailure: It failed; ``NO_MEMORY`` where the dataset is empty or not there yet.
            TypeError: The query did not go through redaction.
        """
        body: dict[str, Any] = {"query": revealed(query), "scope": [scope]}
        dataset = await self._addressed(dataset, deadline, write=False)
        put(body, "top_k", "topK", max(top_k, 1))
        # Otherwise the server's own model answers the query, and that is written into a session.
        put(body, "only_context", "onlyContext", True)
        put(body, "search_type", "searchType", search_type)
        if dataset.uuid:
            put(body, "dataset_ids", "datasetIds", [dataset.uuid])
        else:
            body["datasets"] = [safe_dataset_name(dataset.name)]
        if session_id:
            put(body, "session_id", "sessionId", safe_session_id(session_id))
        if code_query is not None:
            put(body, "code_query", "codeQuery", revealed(code_query))
        call = ServerCall(method="POST", path="/api/v1/recall", json=body, empty_is_404=True)
        answer = await self._ask(call, deadline)
        return expect(answers.read_items(answer.document), "holds no list of memories")

    async def store_entry(
        self,
        entry: Redacted[dict[str, Any]],
        *,
        session_id: str,
        dataset: DatasetRef,
        deadline: Deadline,
    ) -> StoredEntry:
        """Store a question with its answer, a tool call, or feedback in a session.

        The server knows no idempotency: sent twice is stored twice. After a failure whose
        `ServerFailure.ambiguous` is true, read the session before sending again.

        Args:
            entry: The entry, in the server's own (snake case) field names.
            session_id: Its session.
            dataset: The session's dataset. By name where there is one, since servers before 1.6.5
                refuse ids here.
            deadline: When to give up.

        Raises:
            ServerFailure: It was not stored, or may not have been; ``REJECTED`` without anything
                sent where the server would refuse it for ever.
            TypeError: The entry did not go through redaction.
        """
        document: dict[str, Any] = revealed(entry)
        session = safe_session_id(session_id)
        problem = entry_problem(document) or ("" if session else "an entry needs a session")
        if problem:
            raise ServerFailure(FailureKind.REJECTED, f"not sent: {problem}", sent=False)
        dataset = await self._addressed(dataset, deadline, write=True)
        body = {"entry": document, "session_id": session} | self._entry_address(dataset)
        return await send_entry(self._ask, body, deadline)

    async def improve(
        self,
        session_ids: Sequence[str],
        *,
        dataset: DatasetRef,
        deadline: Deadline,
        background: bool = True,
    ) -> ImproveResult:
        """Make the new entries of sessions lasting memory of a dataset.

        What was promoted counts as promoted for the session, whatever the dataset: improve a
        session into its own dataset only, or its entries are lost for it. Nothing is lost by asking
        twice. A server that was found to have no improve is not asked again until its version
        changes.

        Args:
            session_ids: The sessions.
            dataset: Their dataset; made by the server where it is only a name that it lacks.
            deadline: When to give up. The server goes on nevertheless.
            background: Have it answered at once (``SUBMITTED``); otherwise when all is done, which
                is seconds to minutes.

        Raises:
            ServerFailure: It failed or may have; ``SERVER_ERROR`` where the server says that the
                promotion failed, which leaves the entries in the session.
        """
        if self._without_improve == self._version:
            return ImproveResult(ImproveState.UNSUPPORTED)
        body: dict[str, Any] = {}
        put(body, "session_ids", "sessionIds", [safe_session_id(each) for each in session_ids])
        put(body, "run_in_background", "runInBackground", background)
        dataset = await self._addressed(dataset, deadline, write=True)
        if dataset.uuid:
            put(body, "dataset_id", "datasetId", dataset.uuid)
        else:
            put(body, "dataset_name", "datasetName", safe_dataset_name(dataset.name))
        call = ServerCall(
            method="POST",
            path="/api/v1/improve",
            json=body,
            repeatable=False,
            limit=SMALL_BODY if background else BODY_LIMIT,
        )
        try:
            answer = await self._ask(call, deadline)
        except ServerFailure as failure:
            refused = refusal(failure)
            if refused is None:
                raise
            if refused.state is ImproveState.UNSUPPORTED:
                self._without_improve = self._version
            return refused
        return expect(read_improve(answer.document), "is a web page")

    async def improve_runs(self, deadline: Deadline, *, dataset_id: str = "") -> list[ImproveRun]:
        """Return the improves that ended lately, newest first; it is how a background one is told.

        Args:
            deadline: When to give up.
            dataset_id: Restrict it to a dataset that the account can read, so that the runs of
                others do not push ours off the page.

        Raises:
            ServerFailure: It failed; ``NOT_FOUND`` where the server keeps no such log.
        """
        wanted = f"&dataset_id={canonical_uuid(dataset_id)}" if canonical_uuid(dataset_id) else ""
        path = f"/api/v1/activity/pipeline-runs?limit={_RUNS}{wanted}"
        answer = await self._ask(ServerCall(method="GET", path=path), deadline)
        return expect(read_runs(answer.document), "is no list of runs")

    async def newest_run(self, deadline: Deadline) -> float:
        """Return when the newest run of any kind was logged, in epoch seconds of the server.

        Raises:
            ServerFailure: It failed; ``NOT_FOUND`` where the server keeps no such log.
        """
        path = "/api/v1/activity/pipeline-runs?limit=1"
        answer = await self._ask(ServerCall(method="GET", path=path, limit=SMALL_BODY), deadline)
        return expect(newest_moment(answer.document), "is no list of runs")

    async def session(self, session_id: str, deadline: Deadline) -> SessionDetail:
        """Read a session: totals, and the last 20 entries of each kind.

        Returns:
            The session; with ``exists`` False where the server has none of that id.

        Raises:
            ServerFailure: It cannot be read. ``SERVER_ERROR`` can mean that the session is damaged
                for good.
        """
        path = f"/api/v1/sessions/{quote(safe_session_id(session_id), safe='')}"
        try:
            answer = await self._ask(ServerCall(method="GET", path=path), deadline)
        except ServerFailure as failure:
            if failure.kind is FailureKind.NOT_FOUND and "session not found" in failure.detail:
                return SessionDetail(exists=False)
            raise
        return expect(answers.read_session(answer.document), "is no session")

    async def datasets(self, deadline: Deadline) -> list[Dataset]:
        """Return all datasets that the account can read; names may repeat.

        Raises:
            ServerFailure: It failed.
        """
        answer = await self._ask(ServerCall(method="GET", path="/api/v1/datasets"), deadline)
        return expect(answers.read_datasets(answer.document), "is no list of datasets")

    async def ensure_dataset(self, name: str, deadline: Deadline) -> Dataset:
        """Make a dataset of our own, or return it where it is there.

        Raises:
            ServerFailure: It failed.
        """
        led = await self._addressed(DatasetRef(name), deadline, write=True)
        if led.id:
            return Dataset(led.id, name, "")
        body = {"name": safe_dataset_name(name)}
        call = ServerCall(method="POST", path="/api/v1/datasets", json=body, limit=SMALL_BODY)
        answer = await self._ask(call, deadline)
        return expect(answers.read_dataset(answer.document), "is no dataset")

    async def whoami(self, deadline: Deadline) -> Account:
        """Return the account that the key belongs to.

        Raises:
            ServerFailure: It failed; ``AUTH`` where the key is not good.
        """
        call = ServerCall(method="GET", path="/api/v1/users/me", limit=SMALL_BODY)
        answer = await self._ask(call, deadline)
        return expect(answers.read_account(answer.document), "is no account")

    async def single_user(self, deadline: Deadline) -> bool:
        """Tell whether the server's access control is off.

        Such a server takes any key, and keeps datasets in one store: a recall in one dataset finds
        what belongs to another.

        Raises:
            ServerFailure: It cannot be told.
        """
        path = "/api/v1/auth/me"
        call = ServerCall(method="GET", path=path, limit=SMALL_BODY)
        answer = await self._exchange(call, deadline)
        if answer.ok:
            return True
        if answer.status in {401, 403}:
            return False
        raise failure_of(answer.status, answer.document, headers=answer.headers)

    def _entry_address(self, dataset: DatasetRef) -> dict[str, str]:
        named = dataset.name and not canonical_uuid(dataset.name)
        if dataset.uuid and (not named or self._version >= _FIRST_VERSION_WITH_IDS):
            return {"dataset_id": dataset.uuid}
        return {"dataset_name": safe_dataset_name(dataset.name)}


def _version(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a version; a suffix ends them."""
    numbers: list[int] = []
    for part in text[:40].split("."):
        if not (part.isascii() and part.isdigit()):
            break
        numbers.append(int(part))
    return tuple(numbers)

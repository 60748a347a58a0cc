"""Hands a repository to the server and keeps the record of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from builtin_plugins.code_lane.follow import Before, Ending, Follower, look_before
from builtin_plugins.code_lane.record import COMPLETED, ERRORED, IndexRecord
from builtin_plugins.code_lane.records import IndexRecords
from builtin_plugins.code_lane.repository import Repository
from builtin_plugins.code_lane.tree import fingerprint
from cognee_hooks import Deadline, PluginContext
from cognee_hooks.errors import ServerFailure
from cognee_hooks.results import Act
from cognee_hooks.services.address import is_loopback
from cognee_hooks.services.git import Git
from cognee_hooks.services.pipelines import CODE_PIPELINE, PipelineState

if TYPE_CHECKING:
    from cognee_hooks.redaction import Redacted

FINGERPRINT_SECONDS = 10.0
LOOK_SECONDS = 10.0
"""Longest that looking at what is there before a submission is waited for."""
UNSEEN_SECONDS = 600.0
"""How long a run may wait in the server's line before it counts as come to nothing."""
FOLLOW_SECONDS = 3600.0
UNSEEN = "the server shows no sign of the run; it may not see this folder"
_CLOCK_SLACK = 1.0
_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Submitted:
    """A repository that the server took on.

    Attributes:
        record: What is kept of it.
        follower: Waits for its end; None where that cannot be told from an earlier run's.
        run_id: The server's id of the run, or "".
    """

    record: IndexRecord
    follower: Follower | None
    run_id: str


class Indexer:
    """Submits repositories to one server.

    Args:
        context: The plugin's.
        records: Where it is kept which repositories were submitted.
        git: Asks git.
        seconds: Longest wait until the server takes a repository on.
    """

    def __init__(
        self, context: PluginContext, records: IndexRecords, git: Git, seconds: float
    ) -> None:
        self._context = context
        self._records = records
        self._git = git
        self._seconds = seconds
        self._submitting = asyncio.Lock()

    @property
    def local(self) -> bool:
        """Whether the server runs on this machine, so that it can read a folder of it (W27)."""
        return is_loopback(self._context.services.mode.url)

    async def fingerprint(self, repository: Repository) -> str:
        """Return what the folder of a repository is like now; "" where that is not known."""
        if repository.remote:
            return ""
        limit = Deadline.after(FINGERPRINT_SECONDS, self._context.clock)
        return await fingerprint(self._git, Path(repository.spec), limit)

    @asynccontextmanager
    async def alone(self, repository: Repository, seconds: float = 0.0) -> AsyncIterator[bool]:
        """Keep other processes and sessions from submitting a repository as well.

        Args:
            repository: Which.
            seconds: Longest wait for another one that does.

        Yields:
            Whether nobody else does.
        """
        # Fingerprint, two looks and the submission; another holder may be as slow.
        longest = self._seconds + FINGERPRINT_SECONDS + 3 * LOOK_SECONDS
        lock, limit = self._records.lock(repository, longest), self._limit(seconds)
        try:
            alone = lock.try_acquire()
            while not alone and limit.remaining() > _POLL_SECONDS:
                await asyncio.sleep(_POLL_SECONDS)
                alone = lock.try_acquire()
        except OSError:
            alone = False
        try:
            yield alone
        finally:
            lock.release()

    async def submit(
        self, repository: Repository, *, dataset: str = "", vectors: bool = False
    ) -> Submitted:
        """Have a repository indexed.

        Args:
            repository: Which.
            dataset: Another dataset than the repository's own.
            vectors: Embed the facts too.

        Raises:
            ServerFailure: It was not taken on. Where there is a record, that says so.
            RedactionFailed: Its name cannot be made safe.
            UsageError: Its name, or the dataset's, holds what looks like a secret.
        """
        spec = await self._context.redact_name(repository.spec, "the name of this repository")
        await self._context.redact_name(dataset, "the dataset's name")
        # First of all: what changes from now on must be seen as a change (W17).
        print_before = await self.fingerprint(repository)
        # Two at a time that both make the dataset get in each other's way at the server.
        async with self._submitting:
            return await self._submit(repository, spec, dataset, vectors, print_before)

    async def _submit(
        self,
        repository: Repository,
        spec: Redacted[str],
        dataset: str,
        vectors: bool,
        print_before: str,
    ) -> Submitted:
        context, client = self._context, self._context.services.client
        name = dataset or repository.dataset
        known = self._records.read(repository)
        before, dataset_id = await self._standing(name, known)
        started = context.now()
        try:
            with context.sending(Act.INDEXED, "url" if repository.remote else "path", spec.value):
                taken = await client.code.index(
                    spec, dataset=name, deadline=self._limit(self._seconds), vectors=vectors
                )
        except ServerFailure as failure:
            if known is not None:
                self._records.write(known.failed(str(failure), context.now()))
            raise
        record = replace(
            self._new_record(repository, name),
            dataset_id=taken.dataset_id,
            index_vectors=vectors,
            fingerprint=print_before,
            last_index_at=started,
            last_status=taken.status,
            last_status_at=started,
            last_seconds=known.last_seconds if known is not None else 0.0,
        )
        await asyncio.to_thread(self._records.write, record)
        follower = None
        if before is not None and taken.dataset_id:
            if taken.dataset_id != dataset_id:  # it was made, or a name led elsewhere before
                before = Before(unseen_at=started)
            follower = Follower(client, taken.dataset_id, before)
        return Submitted(record, follower, taken.run_id)

    async def _standing(self, name: str, known: IndexRecord | None) -> tuple[Before | None, str]:
        """Return how runs of a dataset stand, None where that is not known, and its id or ""."""
        dataset_id = ""
        try:
            dataset_id = await self._dataset_id(name, known)
            client, limit = self._context.services.client, self._limit(LOOK_SECONDS)
            return await look_before(client, dataset_id, limit, self._context.now()), dataset_id
        except ServerFailure:
            return None, dataset_id

    async def finish(self, submitted: Submitted, seconds: float) -> Ending:
        """Wait for the end of a run and keep it in the record.

        Args:
            submitted: The run.
            seconds: Longest wait.
        """
        if submitted.follower is None:
            return Ending.UNSEEN
        ending = await submitted.follower.until(self._limit(seconds))
        if ending in {Ending.COMPLETED, Ending.ERRORED}:
            self._note(submitted.record, ending is Ending.COMPLETED)
        return ending

    async def follow(self, submitted: Submitted) -> None:
        """Wait in the background for the end of a run, and keep what became of it.

        A folder that the server cannot see, for instance from inside a container, is taken on and
        then never heard of again; that counts as a failure, or it would be waited for in vain each
        time.
        """
        ending = await self.finish(submitted, UNSEEN_SECONDS)
        if ending is Ending.RUNNING:
            await self.finish(submitted, FOLLOW_SECONDS)
        elif ending is Ending.UNSEEN and submitted.follower is not None:
            current = self._current(submitted.record)
            if current is not None:
                self._records.write(current.failed(UNSEEN, self._context.now()))

    async def settle(self, record: IndexRecord) -> IndexRecord:
        """Find out how a run ended that another process submitted and did not see the end of."""
        try:
            rows = await self._context.services.client.pipelines.rows(
                record.dataset_id, CODE_PIPELINE, self._limit(LOOK_SECONDS)
            )
        except ServerFailure:
            return record
        since = record.last_index_at - _CLOCK_SLACK
        own = [row.state for row in rows if row.at >= since]
        if not own or own[0] is PipelineState.RUNNING:
            return record
        return self._note(record, own[0] is PipelineState.COMPLETED)

    def _note(self, record: IndexRecord, well: bool) -> IndexRecord:
        current = self._current(record)
        if current is None:
            return record
        ended = current.ended(COMPLETED if well else ERRORED, self._context.now())
        self._records.write(ended)
        return ended

    def _current(self, record: IndexRecord) -> IndexRecord | None:
        """Return a record as it is kept now; None where it was submitted again meanwhile."""
        current = self._records.read(record.repository)
        if current is None or current.last_index_at > record.last_index_at + _CLOCK_SLACK:
            return None
        return current

    def failed(self, repository: Repository, why: str) -> None:
        """Keep that a repository could not be submitted, so that it is not tried all the time."""
        known = self._records.read(repository) or self._new_record(repository, repository.dataset)
        self._records.write(known.failed(why, self._context.now()))

    def _new_record(self, repository: Repository, dataset: str) -> IndexRecord:
        url = self._context.services.mode.url
        return IndexRecord(base_url=url, repository=repository, dataset=dataset)

    async def _dataset_id(self, name: str, known: IndexRecord | None) -> str:
        if known is not None and known.dataset == name and known.dataset_id:
            return known.dataset_id
        datasets = await self._context.services.client.datasets(self._limit(LOOK_SECONDS))
        return next((each.id for each in datasets if each.name == name), "")

    def _limit(self, seconds: float) -> Deadline:
        return Deadline.after(seconds, self._context.clock)

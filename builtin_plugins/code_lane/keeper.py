"""Indexes without being asked: a small repository when a session starts, and again after edits.

Nothing here may surprise anybody: a folder is read by the server only where the server runs on this
machine, never the home folder or one that holds it, never a large tree, never while capture is off.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from builtin_plugins.code_lane.indexer import Indexer, Submitted
from builtin_plugins.code_lane.record import IndexRecord
from builtin_plugins.code_lane.records import IndexRecords
from builtin_plugins.code_lane.repository import Repository, canonical
from builtin_plugins.code_lane.settings import AutoIndex, CodeLaneSettings
from builtin_plugins.code_lane.tree import HARD_LIMIT, measure, why_not
from cognee_hooks import Deadline, PluginContext
from cognee_hooks.denied import DeniedPaths
from cognee_hooks.errors import RedactionFailed, ServerFailure, UsageError
from cognee_hooks.faults import NoticeLevel
from cognee_hooks.services.git import Git

GIT_SECONDS = 5.0


class IndexKeeper:
    """Decides what is indexed unasked.

    Attributes:
        skipped: Why the session's repository was not indexed, for people; "" where it was, or
            nothing was decided yet.
    """

    def __init__(
        self,
        context: PluginContext,
        settings: CodeLaneSettings,
        indexer: Indexer,
        records: IndexRecords,
        git: Git,
    ) -> None:
        self._context = context
        self._settings = settings
        self._indexer = indexer
        self._records = records
        self._git = git
        self._at_work = asyncio.Lock()
        self._denied = DeniedPaths()
        self.skipped = ""

    async def start(self, cwd: str) -> None:
        """A session begins: index its repository if that is due and allowed."""
        if self._followed(cwd) is not None:
            await self.refresh(cwd)
            return
        if not self._can_read_folders:
            return
        if self._settings.autoindex is AutoIndex.OFF:
            self.skipped = "COGNEE_CODE_AUTOINDEX is off"
            return
        limit = Deadline.after(GIT_SECONDS, self._context.clock)
        root = await self._git.repository_root(Path(cwd), limit)
        if root is None:
            self.skipped = "this folder is in no git repository"
            return
        self.skipped = await self._reason_against(root)
        if not self.skipped:
            repository = Repository(canonical(str(root)), remote=False)
            await self._submit(repository, None)

    async def refresh(self, cwd: str) -> None:
        """A turn ended: index the recorded repository again if its files changed."""
        record = self._followed(cwd)
        if record is None or not self._can_read_folders or self._at_work.locked():
            return
        if record.pending:
            record = await self._indexer.settle(record)
        if record.wait(self._context.now()) > 0:
            return
        current = await self._indexer.fingerprint(record.repository)
        if current and current != record.fingerprint:
            await self._submit(record.repository, record)

    def never(self, folder: str) -> str:
        """Say why a folder is not for indexing, whoever asks for it, or ""."""
        home = Path(canonical(str(self._context.services.paths.home)))
        if home.is_relative_to(folder):
            return "it is the home folder, or holds it"
        if folder != folder.strip():
            return "its path begins or ends with a blank, and may become another one on the way"
        return "it is where keys are kept" if self._denied.denies_file(Path(folder)) else ""

    def _followed(self, cwd: str) -> IndexRecord | None:
        """Return the record of the repository that is kept fresh; None where none is.

        What only failed so far was begun by automatic indexing and ends with it.
        """
        record = self._records.around(cwd)
        off = self._settings.autoindex is AutoIndex.OFF
        return None if record is None or (off and not record.last_index_at) else record

    @property
    def _can_read_folders(self) -> bool:
        services = self._context.services
        well = services.health.state == "ok" and services.breaker.state != "open"
        return well and self._indexer.local and not services.health.embedded

    async def _reason_against(self, root: Path) -> str:
        if reason := self.never(canonical(str(root))):
            return reason
        always = self._settings.autoindex is AutoIndex.ALWAYS
        most = HARD_LIMIT if always else self._settings.max_files
        return why_not(await asyncio.to_thread(measure, root, most), most)

    async def _submit(self, repository: Repository, known: IndexRecord | None) -> None:
        async with self._at_work, self._indexer.alone(repository) as alone:
            current = self._records.read(repository)
            faster = current is not None and (
                known is None or current.last_index_at > known.last_index_at
            )
            if faster or not alone:  # another process was faster, or is at it
                return
            submitted = await self._try(repository, known)
        if submitted is not None:
            self._context.spawn(self._indexer.follow(submitted), lasting=True)

    async def _try(self, repository: Repository, known: IndexRecord | None) -> Submitted | None:
        dataset = known.dataset if known is not None else repository.dataset
        vectors = known is not None and known.index_vectors
        try:
            submitted = await self._indexer.submit(repository, dataset=dataset, vectors=vectors)
        except (ServerFailure, UsageError, RedactionFailed) as failure:
            self._context.log.info("indexing not taken on: %s", type(failure).__name__)
            if known is None or not isinstance(failure, ServerFailure):
                self._indexer.failed(repository, str(failure))
            return None
        if known is None or not known.last_index_at:
            self._context.say(
                f'Cognee code graph: indexing "{repository.name}" in the background (dataset '
                f"{dataset})",
                NoticeLevel.INFO,
            )
        return submitted

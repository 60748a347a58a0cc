"""Remembers text and files, and says how that ended."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from builtin_plugins.memory import texts
from builtin_plugins.memory.files import MAX_BYTES, TextFile, read_file
from builtin_plugins.memory.follow import ENDED, Fate, Listed, follow_document
from builtin_plugins.memory.origins import Origins
from builtin_plugins.memory.targets import LIST_SECONDS, DatasetTarget, catalogue_of
from cognee_hooks import Deadline, PluginContext
from cognee_hooks.denied import DeniedPaths
from cognee_hooks.errors import FailureKind, ServerFailure, UsageError
from cognee_hooks.printable import brief
from cognee_hooks.results import Act
from cognee_hooks.services.answers import DatasetRef
from cognee_hooks.services.pipelines import COGNIFY_PIPELINE

if TYPE_CHECKING:
    from builtin_plugins.memory.settings import MemorySettings
    from cognee_hooks.redaction import Redacted
    from cognee_hooks.services.documents import Document

NOT_REMEMBERED = ("credentials",)
"""Files that are denied here only: on a command line it is a common word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Upload:
    """What is on its way.

    Attributes:
        content: What it holds.
        name: File name.
        target: Where to.
        node_set: Tag.
    """

    content: Redacted[str]
    name: Redacted[str]
    target: DatasetTarget
    node_set: str

    @property
    def where(self) -> str:
        """For people."""
        return f"dataset '{self.target.shown}' (node_set: {self.node_set})"


class Remembering:
    """Sends what is to be remembered.

    Args:
        context: The plugin's context.
        settings: The plugin's options.
    """

    def __init__(self, context: PluginContext, settings: MemorySettings) -> None:
        self._context = context
        self._settings = settings
        self._routes = context.services.client.documents
        self._pipelines = context.services.client.pipelines
        self._denied = DeniedPaths((*settings.deny_paths, *NOT_REMEMBERED))
        services = context.services
        self._origins = Origins(
            services.paths.state_dir / "remembered-files.json", services.mode.url
        )

    async def text(self, content: str, target: DatasetTarget, node_set: str) -> str:
        """Remember a text and say so.

        Raises:
            UsageError: It is too long.
            RedactionFailed: Nothing was sent.
            ServerFailure: It was not taken on, or may not have been.
        """
        size = len(content.encode(errors="replace"))
        if size > MAX_BYTES:
            raise UsageError(
                f"text too long ({size} bytes; limit {MAX_BYTES}): remember a summary instead"
            )
        redacted = await self._context.redact(content)
        # By its name the server tells whether it has the text, and so can we.
        digest = hashlib.sha256(redacted.value.encode()).hexdigest()[:16]
        name = await self._context.redact(f"{self._context.session.agent}-memory-{digest}.txt")
        upload = _Upload(content=redacted, name=name, target=target, node_set=node_set)
        reached = await self._add(upload, known=())
        done, into = texts.stored(reached)
        return f"{done} {into} {upload.where}.{texts.fate(reached)}"

    async def file(self, given: str, target: DatasetTarget, node_set: str) -> str:
        """Remember a file, or what changed in it since, and say so.

        Raises:
            UsageError: The file is not remembered.
            RedactionFailed: Nothing was sent.
            ServerFailure: The server did not do it, or may not have.
        """
        context = self._context
        cwd, home = context.session.cwd, context.services.paths.home
        file = read_file(given, cwd, home, self._denied)
        content = await context.redact(file.text)
        name = await context.redact(file.name)
        upload = _Upload(content=content, name=name, target=target, node_set=node_set)
        note = ""
        alike: list[Document] = []
        try:
            upload, alike = await self._looked_up(upload)
        except ServerFailure as failure:
            note = (
                f" Whether an older copy is there could not be found out ({failure.kind.value}); "
                "if so, both are."
            )
        stored = self._origins.choose(alike, upload.target.id, file.path)
        if stored is not None:
            told = await self._bring_up_to_date(upload, stored, file)
            if told:
                return told
        reached = await self._add(upload, known=[each.id for each in alike], file=file)
        done, into = texts.stored(reached)
        size, shown = len(content.value.encode()), brief(name.value)
        return (
            f"{done} file '{shown}' ({size} bytes) {into} {upload.where}."
            f"{texts.fate(reached)}{note}"
        )

    # -- files that are there --------------------------------------------------------------------

    async def _looked_up(self, upload: _Upload) -> tuple[_Upload, list[Document]]:
        """Return the upload with its dataset's id, and the documents of the file's name there."""
        target = upload.target
        if not target.id:
            row = (await catalogue_of(self._context)).led_to_by(target.ref.name)
            if row is None:
                return upload, []
            upload = replace(upload, target=replace(target, id=row.id))
        rows = await self._routes.documents(upload.target.id, self._soon())
        return upload, [row for row in rows if row.is_called(upload.name.value)]

    async def _bring_up_to_date(self, upload: _Upload, stored: Document, file: TextFile) -> str:
        """Replace what is stored if it differs; "" where it has vanished meanwhile."""
        name, dataset_id = brief(upload.name.value), upload.target.id
        if await self._holds(dataset_id, stored.id, upload.content):
            await self._note(stored.id, dataset_id, file)
            return (
                f"File '{name}' unchanged (identical to the stored copy, data_id {stored.id}) — "
                "nothing sent."
            )
        # It may have been remembered on another machine, or by another plugin.
        doubt = "" if self._origins.knows(stored.id) else texts.UNKNOWN_ORIGIN
        try:
            with self._context.sending(Act.REMEMBERED, "update", upload.content.value):
                done = await self._routes.update(
                    upload.content,
                    file_name=upload.name,
                    data_id=stored.id,
                    dataset_id=dataset_id,
                    deadline=self._building(),
                )
        except ServerFailure as failure:
            if failure.kind is FailureKind.NOT_FOUND:
                return ""
            return await self._update_failed(upload, stored, failure)
        await self._note(stored.id, dataset_id, file)
        return (
            f"Updated file '{name}' in {upload.where} — {done.status}: {texts.changes(done)}. It "
            f"is the same document as before (data_id {stored.id}), so nothing is there twice."
            f"{doubt}"
        )

    async def _update_failed(
        self, upload: _Upload, stored: Document, failure: ServerFailure
    ) -> str:
        name = brief(upload.name.value)
        # The server goes on with what nobody waits for any more.
        if failure.ambiguous and await self._holds(upload.target.id, stored.id, upload.content):
            return (
                f"Updated file '{name}' in {upload.where}; the server has the new content and is "
                "still processing in background."
            )
        told = texts.failed(f"update of '{name}' failed server-side", failure)
        return (
            f"{told}. The document that was there still exists (data_id {stored.id}), and nothing "
            "was added; remember the file again later."
        )

    async def _holds(self, dataset_id: str, data_id: str, content: Redacted[str]) -> bool:
        """Tell whether a document is stored with just that content; unreadable counts as no."""
        try:
            there = await self._routes.content(dataset_id, data_id, self._soon())
        except ServerFailure:
            return False
        return there == content.value.encode()

    # -- adding ----------------------------------------------------------------------------------

    async def _add(
        self, upload: _Upload, *, known: Sequence[str], file: TextFile | None = None
    ) -> Fate | None:
        """Send a new document and wait for it; None where there is nothing to wait for."""
        target = upload.target
        before = await self._status(target)
        what = "text" if file is None else "file"
        with self._context.sending(Act.REMEMBERED, what, upload.content.value):
            done = await self._routes.remember(
                upload.content,
                file_name=upload.name,
                dataset=DatasetRef(target.ref.name, target.id or target.ref.id),
                deadline=self._submitting(),
                node_set=upload.node_set,
                background=self._settings.background,
            )
        dataset_id = done.dataset_id or target.id
        if not dataset_id:
            return None
        listed = self._listing(upload, dataset_id, known, file)
        reached = Fate.READY
        if done.status != "completed":
            limit = Deadline.after(self._settings.wait_seconds, self._context.clock)
            reached = await follow_document(
                self._pipelines, dataset_id, listed, before=before, deadline=limit
            )
        if file is not None and reached is not Fate.UNSEEN:
            # Once it is known under which id, the file has its place.
            with suppress(ServerFailure):
                await listed()
        return reached

    def _listing(
        self, upload: _Upload, dataset_id: str, known: Sequence[str], file: TextFile | None
    ) -> Listed:
        async def listed() -> bool:
            rows = await self._routes.documents(dataset_id, self._soon())
            new = [
                row.id for row in rows if row.is_called(upload.name.value) and row.id not in known
            ]
            if new and file is not None:
                await self._note(await self._one_of(new, dataset_id, upload), dataset_id, file)
            return bool(new)

        return listed

    async def _one_of(self, new: Sequence[str], dataset_id: str, upload: _Upload) -> str:
        """Return which of new documents is ours; another session may remember its own meanwhile."""
        if len(new) > 1:
            for data_id in new:
                if await self._holds(dataset_id, data_id, upload.content):
                    return data_id
        return new[0]

    async def _status(self, target: DatasetTarget) -> str | None:
        """Return how the newest run stands, "" where there was none; None if that is not known.

        Of a dataset that is not there an earlier one may have left something.
        """
        dataset_id = target.id
        try:
            if not dataset_id:
                row = (await catalogue_of(self._context)).led_to_by(target.ref.name)
                dataset_id = row.id if row is not None else ""
            if not dataset_id:
                return ENDED
            return await self._pipelines.status(dataset_id, COGNIFY_PIPELINE, self._soon())
        except ServerFailure:
            return None

    async def _note(self, data_id: str, dataset_id: str, file: TextFile) -> None:
        try:
            await asyncio.to_thread(self._origins.note, data_id, dataset_id, file.path)
        except OSError as error:
            self._context.log.warning("origin not noted down: %s", type(error).__name__)

    # -- how long --------------------------------------------------------------------------------

    def _soon(self) -> Deadline:
        return Deadline.after(LIST_SECONDS, self._context.clock)

    def _building(self) -> Deadline:
        return Deadline.after(self._settings.build_timeout_ms / 1000, self._context.clock)

    def _submitting(self) -> Deadline:
        if not self._settings.background:
            return self._building()
        return Deadline.after(self._context.core.request_timeout_ms / 1000, self._context.clock)

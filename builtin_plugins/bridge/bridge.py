"""The bridge of one session: captured entries are on disk first, and sent after.

An entry that the hook has taken is in two files before the agent goes on. One task of the session
sends what waits, oldest first, and forgets an entry only when the server has it.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from builtin_plugins.bridge.buffer import Buffer
from builtin_plugins.bridge.checks import DOCTOR, broken, rows, sent_text, unreadable_text
from builtin_plugins.bridge.drain import Drain, Pacing
from builtin_plugins.bridge.folder import BufferFolder
from builtin_plugins.bridge.fresh import Fresh
from builtin_plugins.bridge.items import Enqueued, Payload
from builtin_plugins.bridge.late import Late, passes
from builtin_plugins.bridge.limits import BufferLimits
from builtin_plugins.bridge.log import Untrusted
from builtin_plugins.bridge.sender import Sender, Settling
from builtin_plugins.bridge.settings import BridgeSettings
from cognee_hooks.deadline import Deadline
from cognee_hooks.faults import DropReason
from cognee_hooks.results import (
    Act,
    CheckResult,
    Failure,
    StoreReceipt,
    StoreRequest,
    StoreState,
)
from cognee_hooks.services.crypto import KEY_BYTES, Sealer
from cognee_hooks.services.paths import QUARANTINE

if TYPE_CHECKING:
    from cognee_hooks import PluginContext

PROBE_SECONDS = 1.0
"""Longest that a session's end waits for news of a server that did not work."""
FINISH_SECONDS = 4.0
"""Longest that a session's end goes on sending."""
SEND_SECONDS = 240.0
"""Longest that somebody who asks for what waits to be sent waits for that."""
FLUSH_AFTER = 0.5
"""Seconds after which what was written is brought to the disk, for power cuts."""


class Bridge:
    """See the module.

    Args:
        context: The plugin's context.
        settings: The plugin's options.
        pacing: How often to try.
        settling: How long a server may still be storing what it did not confirm.
    """

    def __init__(
        self,
        context: PluginContext,
        settings: BridgeSettings,
        *,
        pacing: Pacing | None = None,
        settling: Settling | None = None,
    ) -> None:
        self._context = context
        self._settings = settings
        self._pacing = pacing or Pacing(round=settings.drain_budget_ms / 1000)
        self._settling = settling or Settling.of(settings.settle_ms / 1000)
        self._folder: BufferFolder | None = None
        self._drain: Drain | None = None
        self._own: dict[str, Buffer] = {}
        self._fresh = Fresh(context)
        self._late = Late(self._write, self._dropped, context.core.buffer_limit)
        self._unflushed: set[str] = set()

    # -- hooks -----------------------------------------------------------------------------------

    def keep(self, request: StoreRequest) -> StoreReceipt | None:
        """Write an entry to disk; None where it never can be, and whoever asks next has to keep it.

        What cannot be written for a moment is kept in memory, and comes after what is on disk.
        """
        if not self._late.write():
            return self._keep_late(request)
        try:
            kept = self._write(request)
        except (OSError, ValueError, TypeError, RecursionError) as error:
            if passes(error):
                self._cannot("entries cannot be written at the moment", error)
                return self._keep_late(request)
            self._cannot("an entry is kept in memory only", error)
            return None
        reason = "waiting to be sent" if kept.seq else "taken before"
        return StoreReceipt(state=StoreState.BUFFERED, reason=reason)

    async def take_up(self) -> None:
        """Take over what lies there, say what will never be sent, and begin to send."""
        try:
            folder = self._opened()
            self._own_buffer(self._context.session.session_id)
            swept = folder.sweep(self._settings.keep_days)
        except OSError as error:
            self._cannot("what earlier sessions captured cannot be sent", error)
            return
        if swept.entries:
            self._context.say(
                f"Cognee memory: {swept.entries} captured entries of {swept.sessions} sessions "
                f"could not be sent for {self._settings.keep_days} days and were put aside in "
                f"{folder.path / QUARANTINE}."
            )
        unreadable = 0
        for buffer in folder.waiting():
            await asyncio.sleep(0)
            try:
                buffer.adopt()
                unreadable += buffer.by_server().get(None, 0)
            except OSError as error:
                self._cannot(f"{buffer.path.name} is left alone", error)
        if unreadable:
            self._context.say(f"Cognee memory: {unreadable_text(self._context, unreadable)}")
        self._report()
        self._wake()

    def server_works(self) -> None:
        """Try again, since the server is back."""
        if self._drain is not None:
            self._drain.server_works()

    async def finish(self, deadline: Deadline) -> None:
        """Send this session's entries while there is time, and bring the rest to the disk."""
        self._late.write()
        if self._drain is not None and self._report() and await self._works(deadline):
            await self._drain.finish(deadline.within(FINISH_SECONDS))
        for stem in self._own:
            self._fresh.spill(stem)
        self._report()
        await self._flush()

    async def send(self) -> str:
        """Send what waits for the server, of whatever session, and tell what came of it."""
        limit = Deadline.after(SEND_SECONDS, self._context.clock)
        self._late.write()
        try:
            before = self._to_send()
            if before and await self._works(limit):
                await self._wake().finish(limit, only_own=False)
            left = self._to_send()
        except OSError as error:
            self._cannot("what waits cannot be sent", error)
            return Failure(f"Nothing was sent: {error.strerror or error}. See `{DOCTOR}`.")
        self._report()
        return sent_text(self._context, before, left)

    def checks(self) -> list[CheckResult]:
        """Return the rows for ``cognee-hooks doctor``; nothing is made for that."""
        try:
            return rows(self._context, self._folder or self._looked_at())
        except OSError as error:
            return [broken(self._context, error)]

    # -- inside ----------------------------------------------------------------------------------

    async def _works(self, deadline: Deadline) -> bool:
        """Tell whether the server works; one that did not is asked again."""
        health = self._context.services.health
        if health.state != "ok":
            await health.probe(deadline.within(PROBE_SECONDS))
        return health.state == "ok"

    def _to_send(self) -> int:
        """Return how many entries wait for this server, in all sessions.

        Raises:
            OSError: The folder or the key cannot be used.
        """
        count = 0
        for buffer in self._opened().waiting():
            try:
                waiting = buffer.by_server()
            except OSError as error:
                self._cannot(f"{buffer.path.name} is left alone", error)
            else:
                count += waiting.get(self._context.services.mode.url, 0) + waiting.get("", 0)
        return count

    def _opened(self) -> BufferFolder:
        """Return the folder, ready for use.

        Raises:
            OSError: The folder or the key cannot be used.
        """
        if self._folder is None:
            folder = self._folder_with(Sealer.of(self._context.services.paths.key_file))
            folder.prepare()
            self._folder = folder
        return self._folder

    def _looked_at(self) -> BufferFolder:
        """Return the folder as it lies there, to be looked at only.

        Raises:
            OSError: The folder or the key cannot be used.
        """
        key_file = self._context.services.paths.key_file
        # Without the key nothing that lies there can be opened, as with any other one.
        sealer = Sealer.of(key_file) if key_file.exists() else Sealer(os.urandom(KEY_BYTES))
        folder = self._folder_with(sealer)
        folder.check()
        return folder

    def _folder_with(self, sealer: Sealer) -> BufferFolder:
        return BufferFolder(
            self._context.services.paths.bridge_dir,
            sealer,
            BufferLimits(self._context.core.buffer_limit, backoff_ms=self._settings.backoff_ms),
            now=self._context.now,
        )

    def _write(self, request: StoreRequest) -> Enqueued:
        """Write an entry to disk, and have it sent.

        Raises:
            OSError: It cannot be written.
            ValueError, TypeError, RecursionError: It is nothing that can be written.
        """
        buffer = self._own_buffer(request.session_id)
        kept = buffer.enqueue(
            Payload(
                entry=request.entry.value,
                session_id=request.session_id,
                dataset=request.dataset,
                url=self._context.services.mode.url,
                captured_at=int(self._context.now() * 1000),
                key=request.key,
            )
        )
        if not kept.seq:
            return kept
        self._dropped(kept.dropped)
        if self._context.services.health.state in {"ok", "unknown"}:
            self._fresh.add(buffer.stem, kept.seq, request.session_id)
        else:
            self._context.record(Act.BUFFERED, session_id=request.session_id)
        self._report()
        self._flush_soon(buffer)
        self._wake()
        return kept

    def _keep_late(self, request: StoreRequest) -> StoreReceipt:
        if not self._late:
            self._context.spawn(self._write_late(), lasting=True)
        self._late.add(request)
        self._report()
        return StoreReceipt(state=StoreState.BUFFERED, reason="waiting to be written")

    async def _write_late(self) -> None:
        await self._late.until_written()
        self._report()

    def _own_buffer(self, session_id: str) -> Buffer:
        buffer = self._opened().of(session_id)
        return self._own.setdefault(buffer.stem, buffer)

    def _wake(self) -> Drain:
        if self._drain is None:
            sender = Sender(self._context, self._settling, fresh=self._fresh)
            self._drain = Drain(
                self._context,
                self._opened(),
                sender,
                own=self._own.values,
                pacing=self._pacing,
                changed=self._report,
            )
        if not self._drain.running:
            self._drain.running = True
            self._context.spawn(self._drain.run(), lasting=True)
        self._drain.captured()
        return self._drain

    def _report(self) -> int:
        """Tell the host how many entries of this session wait."""
        late = count = len(self._late)
        for buffer in self._own.values():
            try:
                count += buffer.count
            except OSError as error:
                self._cannot(f"{buffer.path.name} is left alone", error)
        self._context.report_waiting(count, volatile=late)
        return count

    def _dropped(self, count: int) -> None:
        for _ in range(count):
            self._context.drop(DropReason.QUEUE_OVERFLOW)
        if count:
            self._context.say(
                "Cognee memory: more captured entries wait for the server than are kept "
                f"(COGNEE_BUFFER_LIMIT is {self._context.core.buffer_limit}), so the oldest are "
                "dropped; `cognee-hooks doctor` says why nothing is sent."
            )

    def _cannot(self, what: str, error: Exception) -> None:
        self._context.log.warning("%s: %s", what, type(error).__name__)
        if isinstance(error, Untrusted):
            self._context.say(
                f"Cognee memory: {error}, so captured entries in it are neither sent nor added to. "
                "If it is yours, take the rights of others away (chmod go-rwx)."
            )

    # -- power cuts ------------------------------------------------------------------------------

    def _flush_soon(self, buffer: Buffer) -> None:
        if not self._unflushed:
            self._context.spawn(self._flush_later(), lasting=True)
        self._unflushed.add(buffer.stem)

    async def _flush_later(self) -> None:
        await asyncio.sleep(FLUSH_AFTER)
        await self._flush()

    async def _flush(self) -> None:
        stems, self._unflushed = self._unflushed, set()
        for stem in stems:
            await asyncio.to_thread(self._own[stem].flush)

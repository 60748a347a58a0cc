"""Hook implementations of updates."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from builtin_plugins.updates.record import FoundRelease, RecordFile
from builtin_plugins.updates.release import MEDIA_TYPE, PACKAGE, is_update, newest
from builtin_plugins.updates.settings import UpdatesSettings
from cognee_hooks import PluginContext, __version__, hookimpl
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import ServerFailure
from cognee_hooks.printable import one_line
from cognee_hooks.results import CheckResult, CheckStatus, StatusRow

if TYPE_CHECKING:
    from cognee_hooks.services.wire import ServerAnswer

SECONDS = 15.0
"""How long a look may take; nobody waits for it."""
MAX_BYTES = 4 * 1024 * 1024
NAME = "update"
_UPGRADE = (
    "upgrade with what installed it, such as `uv tool upgrade cognee-hooks` or `pip install "
    "--upgrade cognee-hooks`"
)


class UpdatesPlugin:
    """Looks for a newer release in the background, and says so where people ask how things are.

    Off unless the person chooses an index, since nobody else is to learn who uses what. It never
    speaks up in an agent, and installs nothing.
    """

    def __init__(self, context: PluginContext) -> None:
        self._context = context
        self._index = context.settings(UpdatesSettings).check
        self._record = RecordFile(context.services.paths.daemon_dir.with_name("updates.json"))

    @hookimpl
    def cognee_session_start(self) -> None:
        """Look, if the last look was yesterday."""
        if self._index:
            self._context.spawn(self._look(), lasting=True)

    @hookimpl
    def cognee_status_rows(self) -> StatusRow | None:
        """Name a newer release."""
        release = self._newer()
        if not release:
            return None
        return StatusRow(label="Update", text=f"{release} is there, this is {__version__}")

    @hookimpl
    def cognee_doctor_checks(self) -> CheckResult | None:
        """Name a newer release, or say why none is known."""
        if not self._index:
            return None
        found, release = self._record.read(), self._newer()
        if release:
            detail, remedy = f"{release} is there, this is {__version__}", _UPGRADE
        elif found.problem:
            detail, remedy = f"not looked up: {one_line(found.problem)}", ""
        elif found.at:
            return CheckResult(
                name=NAME, status=CheckStatus.OK, detail=f"{__version__} is the newest release"
            )
        else:
            detail, remedy = "not looked up yet; the next session does it in the background", ""
        return CheckResult(name=NAME, status=CheckStatus.INFO, detail=detail, remedy=remedy)

    # -- inside ----------------------------------------------------------------------------------

    def _newer(self) -> str:
        release = self._record.read().release if self._index else ""
        return one_line(release) if is_update(release, __version__) else ""

    async def _look(self) -> None:
        now = self._context.now()
        try:
            if not await asyncio.to_thread(self._record.claim, now):
                return
            found = await self._ask(now)
            await asyncio.to_thread(self._record.write, found)
        except OSError as error:  # which TimeoutError is, too
            self._context.log.info("no look for updates: %s", type(error).__name__)

    async def _ask(self, now: float) -> FoundRelease:
        try:
            answer = await self._page()
        except ServerFailure as failure:
            return FoundRelease(
                at=now, problem=f"the index could not be asked ({failure.kind.value})"
            )
        if not answer.ok:
            return FoundRelease(at=now, problem=f"the index answered with HTTP {answer.status}")
        if not isinstance(answer.document, dict):
            return FoundRelease(at=now, problem="the index does not answer in JSON (PEP 691)")
        return FoundRelease(at=now, release=newest(answer.document))

    async def _page(self) -> ServerAnswer:
        from cognee_hooks.services.client import CogneeClient
        from cognee_hooks.services.keys import Key
        from cognee_hooks.services.keysource import FixedKey

        # What holds for requests to a memory server is right here, too: absolute deadlines, bounded
        # bodies, no redirects, no proxies that nobody named.
        client = CogneeClient(self._index, FixedKey(Key("")))
        try:
            limit = Deadline.after(SECONDS, self._context.clock)
            return await client.look_up(
                f"/{PACKAGE}/", limit, accept=MEDIA_TYPE, max_bytes=MAX_BYTES
            )
        finally:
            await client.aclose()

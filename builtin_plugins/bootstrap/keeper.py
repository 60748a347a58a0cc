"""Sees to it, for as long as a session lives, that there is a local server."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from builtin_plugins.bootstrap.local_server import GET_MODEL_KEY, NO_MODEL_KEY, LocalServer
from builtin_plugins.bootstrap.presence import Verdict
from builtin_plugins.bootstrap.settings import ServerKind
from builtin_plugins.bootstrap.state import Phase, ServerRecord
from cognee_hooks.deadline import Deadline
from cognee_hooks.faults import NoticeLevel
from cognee_hooks.services.retry import jittered

if TYPE_CHECKING:
    from cognee_hooks import PluginContext

LOOK_AGAIN_SECONDS = 60.0
"""Pause where something is there that does not serve."""
_HEALTH_SECONDS = 6.0
_SPARE_SECONDS = 120.0
_FIRST_TIME = " The first time cognee is installed, which takes some minutes."


class ServerKeeper:
    """Acts when the server is away.

    Args:
        context: The plugin's context.
        server: The local server.
    """

    def __init__(self, context: PluginContext, server: LocalServer) -> None:
        self._context = context
        self._server = server
        self._woken = asyncio.Event()
        self._running = False
        self._phase = Phase.NONE
        self._last = ServerRecord()

    @property
    def phase(self) -> Phase:
        """What is being done about the server, `Phase.NONE` where nothing is."""
        return self._phase

    def wake(self) -> None:
        """Look at the server now: the session begins, or the server went away."""
        self._woken.set()
        if not self._running:
            self._running = True
            self._context.spawn(self._keep(), lasting=True)

    async def _keep(self) -> None:
        health = self._context.services.health
        while True:
            await self._woken.wait()
            self._woken.clear()
            # Where it is not known yet how the server is, its being away wakes us once more.
            while health.state == "offline" and await self._try():
                pass

    async def _try(self) -> bool:
        """Do what can be done now; tells whether to look again."""
        if self._is_hopeless():
            return False
        record = self._server.record
        # How an attempt ended stands nowhere else where the disk is full, say.
        newest = record if record.at >= self._last.at else self._last
        wait = 0.0 if record.working else newest.next_try() - self._context.now()
        if wait > 0:
            await self._pause(jittered(wait, self._context.random))
            return True
        if not record.working:
            found = await self._server.probe.look(confirm=False)
            if found.verdict is not Verdict.ABSENT:
                await self._look_later(found.verdict)
                return True
        self._done(await self._bring_up())
        await self._context.services.health.probe(Deadline.after(_HEALTH_SECONDS))
        return True

    def _is_hopeless(self) -> bool:
        """Tell whether nothing is to be done, and let the person know why."""
        if self._server.record.phase is Phase.STOPPED:
            return True
        if not self._server.lacks_model_key:
            return False
        self._context.say(
            f"Cognee memory is off: no server runs, and {NO_MODEL_KEY} {GET_MODEL_KEY}"
        )
        return True

    async def _look_later(self, verdict: Verdict) -> None:
        if verdict is not Verdict.READY:
            self._context.log.debug("no server is started: %s", verdict)
            await self._pause(LOOK_AGAIN_SECONDS)
        await self._context.services.health.probe(Deadline.after(_HEALTH_SECONDS))

    async def _pause(self, seconds: float) -> None:
        """Wait, but not longer than until the server comes and goes away once more."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        self._woken.clear()

    async def _bring_up(self) -> ServerRecord:
        plan = self._server.plan
        first = "" if plan.kind is ServerKind.EMBEDDED else _FIRST_TIME
        self._context.say(
            f"Cognee memory: a local server is being started.{first} Prompts work meanwhile, and "
            "what they bring is kept for it.",
            NoticeLevel.INFO,
        )
        self._phase = Phase.CHECKING
        # Three steps of installing at most, and the start, which may have to wait for another one.
        longest = 3 * plan.install_seconds + 2 * plan.boot_seconds + _SPARE_SECONDS
        try:
            return await self._server.bring_up(self._tell, Deadline.after(longest))
        except OSError as error:
            detail = f"{error.filename or self._server.plan.shared}: {error.strerror}."
            return ServerRecord(phase=Phase.FAILED, detail=detail, at=self._context.now())
        finally:
            self._phase = Phase.NONE

    def _tell(self, phase: Phase) -> None:
        self._phase = phase

    def _done(self, record: ServerRecord) -> None:
        if record.phase is not Phase.FAILED:
            return
        if record != self._server.record:
            record = replace(record, streak=max(record.streak, self._last.streak + 1))
        self._last = record
        self._context.say(
            f"Cognee memory: the local server did not start: {record.detail} It is tried again "
            "later; `cognee-hooks up` tries at once."
        )

"""Runs a drill from beginning to end."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cognee_hooks.deadline import Deadline
from cognee_hooks.drill.faults import DrillFault, all_faults, nothing
from cognee_hooks.drill.quiet import play_quietly
from cognee_hooks.drill.script import AGENT, DrillConversation, planted_secrets
from cognee_hooks.drill.server import DrillServer
from cognee_hooks.drill.verdict import REPORT, DrillRow, Played, captured_kinds, judge
from cognee_hooks.drill.world import World
from cognee_hooks.errors import ServerFailure
from cognee_hooks.host import Host
from cognee_hooks.results import CheckStatus
from cognee_hooks.services.names import safe_session_id

SECONDS = 30.0
"""Longest that a drill takes, its cleaning up left aside."""
MAX_RECALL_MS = 4000
RECOVERY_SECONDS = 10.0
"""Longest that what was captured may take to come to the server in the end."""
REST_SECONDS = 3.0
"""Longest that what is at the server already may still be about to be sent a second time."""
_FIRST_SECONDS = 5.0
_POLL_SECONDS = 0.2
_ASK_SECONDS = 2.0
QUIET = DrillFault("all is well", "memory works from end to end, in time", nothing)


class Drill:
    """One drill.

    Args:
        environ: The person's environment.
        cwd: Where the person's agent would work.
        plugins: Plugins to load, or with ``no:`` to leave out.
        tell: Told what goes wrong next.
        faults: What goes wrong; everything by default.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        cwd: str,
        *,
        plugins: Sequence[str] = (),
        tell: Callable[[str], None] = lambda _: None,
        faults: Sequence[DrillFault] | None = None,
    ) -> None:
        self._environ = environ
        self._cwd = cwd
        self._plugins = list(plugins)
        self._tell = tell
        self._faults = [QUIET, *(all_faults() if faults is None else faults)]
        self._secrets = planted_secrets()
        self._recall_seconds = MAX_RECALL_MS / 1000
        self._capture_off = ""
        self._advice = REPORT

    async def run(self, deadline: Deadline) -> list[DrillRow]:
        """Play everything and judge it.

        Args:
            deadline: When to be done.
        """
        with tempfile.TemporaryDirectory(
            prefix="cognee-hooks-drill-", ignore_cleanup_errors=True
        ) as name:
            folder = Path(name)
            with DrillServer(folder / "memory.db") as server:
                world = World(folder, server, self._environ, self._cwd)
                self._leave_out(world)
                try:
                    return await self._on(world, deadline)
                finally:
                    await world.close()

    async def _on(self, world: World, deadline: Deadline) -> list[DrillRow]:
        plugins = await self._quiet(world, deadline)
        played = await self._play(world, deadline)
        await self._recovered(world, played, deadline)
        waiting = await self._at_rest(world, played, deadline.within(REST_SECONDS))
        kinds = captured_kinds(played[0])
        rows = [judge(each, kinds, waiting, self._recall_seconds, self._advice) for each in played]
        if not kinds and rows[0].status is CheckStatus.OK:
            rows[0] = self._nothing_captured(rows[0])
        rows += [_not_done(fault) for fault in self._faults[len(played) :]]
        return [*rows, *plugins, self._leaks(world)]

    async def _quiet(self, world: World, deadline: Deadline) -> list[DrillRow]:
        """Play inside this process first, which also tells the person's own time limit."""
        self._tell("plugins")
        conversation = DrillConversation("drill-plugins", self._secrets)
        host = Host(
            AGENT,
            environ=world.environ,
            session_id=conversation.session_id,
            cwd=self._cwd,
            arguments={"plugins": self._plugins} if self._plugins else None,
        )
        milliseconds = min(host.core.recall_timeout_ms, MAX_RECALL_MS)
        self._recall_seconds = milliseconds / 1000
        world.environ["COGNEE_RECALL_TIMEOUT_MS"] = str(milliseconds)
        quiet = await play_quietly(host, conversation, deadline)
        self._capture_off, self._advice = quiet.capture_off, quiet.advice
        return quiet.rows

    async def _play(self, world: World, deadline: Deadline) -> list[Played]:
        played: list[Played] = []
        for fault in self._faults:
            if deadline.remaining() < _FIRST_SECONDS and played:
                break
            self._tell(fault.name)
            name = safe_session_id(f"drill-{fault.name}".replace(" ", "-"))
            conversation = DrillConversation(name, self._secrets)
            replies = [await world.hook(conversation.start())]
            replies += await fault.happens(world, conversation)
            played.append(Played(fault.name, fault.proves, conversation, replies))
            if fault is QUIET:
                await self._recovered(world, played, deadline.within(_FIRST_SECONDS))
        return played

    async def _recovered(self, world: World, played: Sequence[Played], deadline: Deadline) -> None:
        """Look what the server holds, until it is everything or no time is left."""
        limit = deadline.within(RECOVERY_SECONDS)
        await world.nudge()
        while True:
            for each in played:
                await _look(world, each)
            kinds = captured_kinds(played[0])
            complete = kinds and not any(each.missing(kinds) for each in played)
            # The first turn tells what is captured here, so all of it is waited for.
            if len(played) == 1:
                complete = not played[0].missing({"qa", "trace"})
            if complete or limit.expired or self._capture_off:
                return
            await asyncio.sleep(_POLL_SECONDS)

    async def _at_rest(self, world: World, played: Sequence[Played], deadline: Deadline) -> int:
        """Look once more when nothing is sent any more; returns what waits nevertheless."""
        while True:
            waiting = await world.waiting()
            if not waiting or deadline.expired:
                break
            await asyncio.sleep(_POLL_SECONDS)
        for each in played:
            await _look(world, each)
        return waiting

    def _leave_out(self, world: World) -> None:
        """Have the daemon leave out what the command leaves out; it cannot be told to load more."""
        names = [each.removeprefix("no:") for each in self._plugins if each.startswith("no:")]
        before = world.environ.get("COGNEE_HOOKS_DISABLE", "")
        world.environ["COGNEE_HOOKS_DISABLE"] = ",".join(filter(None, [before, *names]))

    def _nothing_captured(self, row: DrillRow) -> DrillRow:
        if self._capture_off:
            detail = f"{row.detail}; {self._capture_off}, so nothing could be lost"
            return replace(row, status=CheckStatus.INFO, detail=detail)
        detail = f"{row.detail}, but nothing of the turn came to the server"
        return replace(row, status=CheckStatus.FAILED, detail=detail, remedy=REPORT)

    def _leaks(self, world: World) -> DrillRow:
        """Look for the planted secrets in what left, and in every file of the machine."""
        sent = world.server.received()
        places = {"a request to the server": sent}
        for path in world.files():
            places[str(path.relative_to(world.folder))] = path.read_bytes()
        found = [
            f"{kind} in {place}"
            for place, content in places.items()
            for kind, value in self._secrets.items()
            if value.encode() in content
        ]
        return DrillRow(
            name="secrets",
            status=CheckStatus.FAILED if found else CheckStatus.OK,
            detail="; ".join(found[:5])
            or f"none of {len(self._secrets)} planted secrets in {len(places)} places",
            proves="secrets leave neither the machine nor redaction",
            remedy="switch redaction on, or block the plugin that writes this" if found else "",
        )


async def _look(world: World, played: Played) -> None:
    try:
        played.texts = await world.stored(played.conversation, Deadline.after(_ASK_SECONDS))
    except ServerFailure:
        return  # it is asked again


def _not_done(fault: DrillFault) -> DrillRow:
    return DrillRow(
        name=fault.name,
        status=CheckStatus.INFO,
        detail="not done: no time was left",
        proves=fault.proves,
        remedy="try again when the machine is less busy",
    )

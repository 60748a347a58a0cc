"""Hook implementations of sync."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from builtin_plugins.sync import texts
from builtin_plugins.sync.aftercare import HEALTH_SECONDS, MOST_SWEPT, Aftercare
from builtin_plugins.sync.files import SyncRecords
from builtin_plugins.sync.follow import FOLLOW_SECONDS
from builtin_plugins.sync.improver import Improver, SyncOutcome, SyncTarget, Trigger
from builtin_plugins.sync.record import server_name
from builtin_plugins.sync.settings import SyncSettings
from builtin_plugins.sync.throttle import Hold, Reason, hold
from builtin_plugins.sync.timer import Timer
from cognee_hooks import Deadline, PluginContext, hookimpl
from cognee_hooks.errors import ServerFailure
from cognee_hooks.results import CheckResult, CheckStatus, Command, Failure, StatusRow, Tool
from cognee_hooks.services.catalogue import Catalogue
from cognee_hooks.services.improve import ImproveState
from cognee_hooks.services.names import canonical_uuid
from cognee_hooks.services.retry import jittered

if TYPE_CHECKING:
    from cognee_hooks.events import (
        DatasetChanged,
        PostToolUse,
        PostToolUseFailure,
        ServerStateChanged,
        SessionEnd,
        SessionStart,
        Stop,
        UserPromptSubmit,
    )

MANUAL_SECONDS = 8.0
"""How long somebody who asked for a sync waits to hear how it ended."""
LIST_SECONDS = 5.0
RETRY_SECONDS = 60.0
"""First wait after the server was busy with another session of the dataset; then twice as long."""
MOST_RETRIES = 5

_ARGUMENTS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "dataset": {
            "type": "string",
            "description": "Name or UUID of the session's own dataset; better left out.",
        }
    },
    "additionalProperties": False,
}


class SyncPlugin:
    """Has the server turn the session into lasting memory of its dataset.

    The server works in the background. Taken on is not done: only a run that is known to have ended
    well counts as a sync that needs no repeating.
    """

    def __init__(self, context: PluginContext) -> None:
        self._context = context
        self._settings = context.settings(SyncSettings)
        self._cooldown = self._settings.cooldown_ms / 1000
        folder = context.services.paths.state_dir / "improve-state"
        server = server_name(context.services.mode.url)
        self._records = SyncRecords(folder, server, context.log)
        submit_seconds = self._settings.submit_timeout_ms / 1000
        self._improver = Improver(context, self._records, submit_seconds)
        self._aftercare = Aftercare(context, self._records, self._improver, self._cooldown)
        self._submit_seconds = submit_seconds
        self._timer = Timer(context.spawn)
        session = context.session
        self._target = SyncTarget(session.session_id, session.dataset)
        self._at_rest = False
        self._over = False
        self._retries = 0

    # -- when ------------------------------------------------------------------------------------

    @hookimpl
    def cognee_session_start(self, event: SessionStart) -> None:
        """Forget sessions that have long been over, and see to those that were not synced."""
        if event.source == "startup":
            self._context.spawn(self._prune())
        if self._automatic and self._settings.final and event.source != "compact":
            self._context.outlast(self._aftercare.see_to_all(self._target.session_id))

    @hookimpl
    def cognee_user_prompt_submit(self, event: UserPromptSubmit) -> None:
        """A turn begins; until it ends nothing is synced for idleness."""
        if not event.agent_id:
            self._at_rest = self._over = False
            self._timer.disarm()

    @hookimpl
    def cognee_post_tool_use(self, event: PostToolUse) -> None:
        """The agent is at work."""
        self._tool_used(event.agent_id)

    @hookimpl
    def cognee_post_tool_use_failure(self, event: PostToolUseFailure) -> None:
        """The agent is at work."""
        self._tool_used(event.agent_id)

    @hookimpl
    def cognee_stop(self, event: Stop) -> None:
        """A turn ended: sync if many entries are new, and otherwise after a while of rest."""
        if event.agent_id:
            return
        self._at_rest = True
        self._retries = 0
        if self._automatic and self._target.session_id:
            self._context.spawn(self._turn_ended(), lasting=True)
        self._rest()

    @hookimpl
    def cognee_server_state_changed(self, event: ServerStateChanged) -> None:
        """The server is back: what was not synced while it was away is due after a while.

        A session that is over, and has only waited for the server, has no such while.
        """
        if event.current == "ok" and self._at_rest and not self._timer.armed:
            self._rest()
        elif event.current == "ok" and self._over:
            self._context.outlast(self._aftercare.late(self._target))

    @hookimpl
    def cognee_dataset_changed(self, event: DatasetChanged) -> None:
        """Sync the session that is left, into the dataset that it belongs to."""
        left = self._target
        # A session stays bound to its dataset, so without a new session nothing is left.
        if event.session_id in {"", left.session_id}:
            return
        self._target = SyncTarget(event.session_id, event.current)
        self._timer.disarm()
        if self._automatic and left.dataset == event.previous:
            self._context.spawn(self._sync_switched(left))

    @hookimpl(trylast=True)
    async def cognee_session_end(self, event: SessionEnd, deadline: Deadline) -> None:  # noqa: ARG002
        """Sync what is new, after everything else that the end of the session brings."""
        self._at_rest = False
        self._timer.disarm()
        if self._automatic and self._settings.final:
            # It may have begun before there was a server, as on the first day.
            self._over = True
            await self._aftercare.end(self._target, deadline)

    # -- by hand ---------------------------------------------------------------------------------

    @hookimpl
    def cognee_register_commands(self) -> Command:
        """Let people ask for a sync."""
        return Command(
            name="sync",
            help="Turn this session into lasting memory now.",
            run=lambda _: self._on_demand(),
        )

    @hookimpl
    def cognee_register_tools(self) -> Tool:
        """Let the model ask for a sync."""
        return Tool(
            name="cognee_sync",
            description=(
                "Turn what this session has stored so far into lasting memory of its dataset, "
                "where later sessions find it. It happens by itself from time to time and when the "
                "session ends; call this only when the user asks for it."
            ),
            parameters=_ARGUMENTS,
            run=self._for_model,
        )

    @hookimpl
    def cognee_status_rows(self) -> StatusRow:
        """Tell when sessions are synced, and how that went with this one."""
        if not self._automatic:
            return StatusRow(label="Sync", text="only on demand, since capture is off")
        record, text = self._improver.record(self._target), self._when
        if record.improved_at or record.failures:
            held = self._aftercare.hold(self._target)
            text = f"{text} · {texts.last_sync(record, held, self._context.now())}"
        return StatusRow(label="Sync", text=text)

    @hookimpl
    def cognee_doctor_checks(self) -> CheckResult:
        """Tell when sessions are synced, when that last happened, and why it is paused."""
        if not self._automatic:
            return CheckResult(
                name="sync",
                status=CheckStatus.INFO,
                detail="only on demand, since capture is off",
                remedy="set COGNEE_CAPTURE=true to turn sessions into lasting memory",
            )
        now, when = self._context.now(), f"{self._when}{texts.in_line(self._aftercare.in_line)}"
        record = self._records.latest()
        if record is None:
            return CheckResult(name="sync", status=CheckStatus.OK, detail=f"{when}; no sync yet")
        stored = self._improver.stored(SyncTarget(record.session_id, record.dataset))
        held = hold(record, stored, now, self._cooldown)
        return CheckResult(
            name="sync",
            status=CheckStatus.WARNING if record.failures else CheckStatus.OK,
            detail=f"{when}; {texts.last_sync(record, held, now)}",
            remedy=_remedy(held) if record.failures else "",
        )

    # -- inside ----------------------------------------------------------------------------------

    @property
    def _automatic(self) -> bool:
        return self._context.core.capture

    @property
    def _when(self) -> str:
        settings = self._settings
        when = [f"every {settings.auto_every} entries"] if settings.auto_every else []
        when += [f"after {settings.idle_threshold_ms / 1000:g} s of rest"] if settings.idle else []
        when += ["at the end of a session"] if settings.final else []
        return ", ".join(when) or "only on demand"

    def _tool_used(self, agent_id: str) -> None:
        # A sub-agent may work on while the main one waits for the user; that is no rest either,
        # and ends without another `cognee_stop` of the main one.
        if agent_id and self._at_rest:
            self._rest()
        elif not agent_id:
            self._at_rest = False
            self._timer.disarm()

    def _rest(self) -> None:
        if self._automatic and self._settings.idle and self._target.session_id:
            self._timer.arm(self._settings.idle_threshold_ms / 1000, self._sync_at_rest)

    async def _turn_ended(self) -> None:
        target, many = self._target, self._settings.auto_every
        record, stored = self._improver.record(target), self._improver.stored(target)
        self._records.keep_alive(record)
        if 0 < many <= record.since_last(stored) and self._aftercare.hold(target) is None:
            await self._sync(target, Trigger.AUTO)

    async def _sync_at_rest(self) -> None:
        held = self._aftercare.hold(self._target)
        if held is None:
            await self._sync(self._target, Trigger.IDLE)
        elif held.reason in {Reason.COOLDOWN, Reason.BACKOFF}:
            # Once: when the wait is over, only new entries or the next turn bring another one.
            self._timer.arm(held.seconds, self._sync_after_wait)
        elif held.reason is Reason.NO_NEW_ENTRIES and self._context.waiting:
            # What the turn brought is still on its way to a slow server.
            self._rest()
        await self._look_after_others()

    async def _sync_after_wait(self) -> None:
        if self._aftercare.hold(self._target) is None:
            await self._sync(self._target, Trigger.IDLE)

    async def _look_after_others(self) -> None:
        """Sync sessions whose end could not, each into its own dataset, one after the other."""
        due = (
            SyncTarget(record.session_id, record.dataset)
            for record in self._records.left_behind(self._target.session_id, self._context.now())
        )
        swept = 0
        for target in due:
            await asyncio.sleep(0)  # what each has stored is read from its ledger
            if not self._at_rest or swept == MOST_SWEPT:
                return
            if self._aftercare.hold(target) is None:
                swept += 1
                if not await self._sync(target, Trigger.SWEEP):
                    return

    async def _sync(self, target: SyncTarget, trigger: Trigger) -> bool:
        """Sync a session that goes on, if the server is well; tells whether another one can be."""
        if not await self._aftercare.healthy(self._after(HEALTH_SECONDS)):
            return False
        outcome = await self._improver.run(target, trigger, self._after(self._submit_seconds))
        self._see_to(target, outcome)
        if outcome.open:
            await self._improver.settle(target, outcome, self._after(FOLLOW_SECONDS))
        return outcome.failure is None and not outcome.try_again

    async def _sync_switched(self, left: SyncTarget) -> None:
        await self._aftercare.sync(left, Trigger.SWITCH)

    async def _for_model(self, arguments: Mapping[str, Any]) -> str:
        given = arguments.get("dataset")
        given = given.strip() if isinstance(given, str) else ""
        own = self._target.dataset
        if given and given != own and not await self._means_own(given):
            return Failure(texts.other_dataset(given, own))
        return await self._on_demand()

    async def _means_own(self, given: str) -> bool:
        """Tell whether a UUID is that of the session's dataset, or the other way round."""
        if not (canonical_uuid(given) or canonical_uuid(self._target.dataset)):
            return False
        try:
            rows = await Catalogue.load(self._context.services.client, self._after(LIST_SECONDS))
        except ServerFailure:
            return False
        return rows.led_to_by(self._target.dataset) in rows.find(given)

    async def _on_demand(self) -> str:
        target = self._target
        if not target.session_id:
            return texts.NO_SESSION
        limit = self._after(self._submit_seconds)
        outcome = await self._improver.run(target, Trigger.MANUAL, limit)
        self._see_to(target, outcome)
        ended_well = None
        if outcome.open:
            wait = self._after(MANUAL_SECONDS)
            ended_well = await self._improver.settle(target, outcome, wait)
            if ended_well is None:
                self._context.spawn(self._settle_later(target, outcome), lasting=True)
        waiting = self._context.waiting
        told = texts.told(target, outcome, waiting=waiting, ended_well=ended_well)
        return told if outcome.failure is None else Failure(told)

    async def _settle_later(self, target: SyncTarget, outcome: SyncOutcome) -> None:
        await self._improver.settle(target, outcome, self._after(FOLLOW_SECONDS))

    def _see_to(self, target: SyncTarget, outcome: SyncOutcome) -> None:
        """Try again later where the server was busy, and say what only a person can mend."""
        result = outcome.result
        if result is not None and result.state is ImproveState.BUDGET:
            self._context.say(texts.BUDGET)
        if outcome.try_again and self._at_rest and self._automatic and self._retries < MOST_RETRIES:
            seconds = jittered(RETRY_SECONDS * 2**self._retries, self._context.random, spread=0.5)
            self._retries += 1
            self._timer.arm(seconds, self._sync_at_rest)
        self._context.log.debug(
            "sync of %s: %s", target.dataset, result.state if result else "none"
        )

    async def _prune(self) -> None:
        await asyncio.to_thread(self._records.prune, self._context.now())

    def _after(self, seconds: float) -> Deadline:
        return Deadline.after(seconds, self._context.clock)


def _remedy(held: Hold | None) -> str:
    if held is not None and held.reason is Reason.NEEDS_USER:
        return "mend the server's model budget or embedding model; it is tried again within a day"
    return (
        "nothing is lost, and it is tried again by itself; look at the server's log if it goes on"
    )

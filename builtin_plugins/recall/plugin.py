"""Hook implementations of recall."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from builtin_plugins.recall import elsewhere, reasons, render
from builtin_plugins.recall.settings import Counts, RecallSettings
from cognee_hooks import Deadline, PluginContext, hookimpl
from cognee_hooks.configuration.values import MAX_INT
from cognee_hooks.errors import RedactionFailed, ServerFailure
from cognee_hooks.events import SessionStart, UserPromptSubmit
from cognee_hooks.faults import NoticeLevel
from cognee_hooks.framing import DATA_NOTE
from cognee_hooks.results import (
    Act,
    AdditionalContext,
    CheckResult,
    CheckStatus,
    StatusRow,
    StatusSegment,
)
from cognee_hooks.services.passages import RecalledMemory
from cognee_hooks.services.recall import guarded_recall, recall_memory

if TYPE_CHECKING:
    from cognee_hooks.redaction import Redacted

MIN_PROMPT = 5
"""Shorter prompts ("ok", "yes") carry nothing to search for."""
MARGIN = 0.3
"""Seconds kept back so that the outage line still reaches the model in time, on a busy machine
too; of a short budget a quarter."""
MIN_ROOM = 100
"""Characters below which no memory is worth telling."""
PRIORITY = 100
KEPT = 90
"""Priority of what a status line never leaves out."""
HIT, NOTHING = "hit", "nothing"
"""How the ledger tells a recall that brought something from one that did not."""
WARM_UP_QUERY = "session start"
WARM_UP_SECONDS = 10.0
"""How long opening another dataset may take; nobody waits for it."""


@dataclass(slots=True)
class _Turns:
    """Counters of this session, kept between processes."""

    total: int = 0
    with_hits: int = 0
    last_graph: int = 0
    last_code: int = 0
    without: int = 0
    """Answered without any memory, in a row."""
    looked: int = 0
    """1 when it was looked elsewhere, which is done once."""


class RecallPlugin:
    """Asks the server for memory that fits the prompt."""

    def __init__(self, context: PluginContext) -> None:
        self._context = context
        self._settings = context.settings(RecallSettings)
        known = context.state.read()
        names = (each.name for each in fields(_Turns))
        self._turns = _Turns(*(_count(known.get(name)) for name in names))

    @hookimpl
    async def cognee_session_start(self, event: SessionStart, deadline: Deadline) -> None:
        """Open the dataset, which takes the server seconds the first time."""
        if event.source != "compact":
            await self._warm_up(deadline)

    @hookimpl
    def cognee_dataset_changed(self) -> None:
        """Open the other dataset."""
        self._turns.without = 0
        self._context.spawn(self._warm_up(Deadline.after(WARM_UP_SECONDS, self._context.clock)))

    @hookimpl
    async def cognee_user_prompt_submit(
        self, event: UserPromptSubmit, deadline: Deadline
    ) -> list[AdditionalContext] | None:
        """Recall for one prompt."""
        prompt = event.prompt.strip()
        unsuited = (
            event.machine_made
            or event.replayed
            or len(prompt) < MIN_PROMPT
            or prompt.startswith("/")
        )
        if not self._on or unsuited:
            return None
        limit = deadline.sparing(min(MARGIN, deadline.remaining() / 4))
        try:
            query = await self._context.redact(prompt, max_bytes=self._settings.max_query_bytes)
        except RedactionFailed:
            self._context.record(Act.RECALLED, reasons.NOT_REDACTED, prompt=event.prompt)
            return [_line(render.outage_line(reasons.NOT_REDACTED))]
        if len(query.value.strip()) < MIN_PROMPT:
            return None
        self._turns.total += 1
        asked = self._context.clock()
        server, lanes = await asyncio.gather(
            self._from_server(query, limit), self._from_lanes(query, limit)
        )
        reason = server if isinstance(server, str) else ""
        section = self._outage(server) if isinstance(server, str) else server
        hits = section.hits + (others := sum(each.hits for each in lanes))
        outcome = HIT if hits else reason or NOTHING
        took = self._context.clock() - asked
        self._context.record(Act.RECALLED, outcome, seconds=took, prompt=event.prompt)
        self._remember(section.hits, others, failed=bool(reason))
        self._look_elsewhere(query)
        return [each for each in (section, *lanes) if each.text]

    @hookimpl
    def cognee_status_segments(self) -> list[StatusSegment]:
        """Tell how useful memory has been."""
        turns, counts = self._turns, self._settings.status_counts
        if not turns.total or counts is Counts.OFF:
            return []
        if counts is Counts.FULL:
            text = f"recall {turns.last_graph}g/{turns.last_code}c"
            return [StatusSegment(text=text, priority=KEPT)]
        use = (
            f"{turns.with_hits}/{turns.total} turns had hits this session"
            if turns.with_hits
            else f"memory warming up ({turns.total} turns)"
        )
        return [
            StatusSegment(text=f"{turns.last_graph + turns.last_code} memory hits", priority=50),
            StatusSegment(text=use, priority=40),
        ]

    @hookimpl
    def cognee_status_rows(self) -> StatusRow:
        """Tell whether recall is on, and how useful memory has been."""
        turns = self._turns
        if not self._on:
            return StatusRow(label="Recall", text="off")
        if not turns.total:
            return StatusRow(label="Recall", text="on")
        text = f"on · {turns.with_hits}/{turns.total} turns had hits this session"
        return StatusRow(label="Recall", text=text)

    @hookimpl
    async def cognee_doctor_checks(self, deadline: Deadline) -> list[CheckResult]:
        """Tell whether recall is on, whether it is paused, and how the server's models are."""
        from builtin_plugins.recall import models

        services = self._context.services
        found = (
            []
            if services.mode.missing_base_url
            else await models.rows(services.client, deadline.sparing(MARGIN))
        )
        return [self._state(), *found]

    # -- inside ----------------------------------------------------------------------------------

    @property
    def _on(self) -> bool:
        return self._settings.enabled and self._context.core.capture

    def _state(self) -> CheckResult:
        if not self._on:
            return CheckResult.off(
                "recall", "set COGNEE_RECALL=true and COGNEE_CAPTURE=true to recall memory"
            )
        breaker = self._context.services.breaker
        paused = breaker.state == "open"
        return CheckResult(
            name="recall",
            status=CheckStatus.WARNING if paused else CheckStatus.OK,
            detail=f"on, at most {self._settings.max_chars} characters; breaker "
            f"{breaker.describe()}",
            remedy="recall tries again by itself once the server answers" if paused else "",
        )

    async def _warm_up(self, deadline: Deadline) -> None:
        if not (self._on and self._settings.warm_up):
            return
        try:
            await recall_memory(
                self._context.services.client,
                await self._context.redact(WARM_UP_QUERY),
                self._context.reads(),
                top_k=self._settings.top_k,
                deadline=deadline,
            )
        except RedactionFailed:
            return
        except ServerFailure as failure:
            self._context.services.health.note(failure)

    async def _from_server(self, query: Redacted[str], limit: Deadline) -> AdditionalContext | str:
        """Return what the server remembers, or in a few words why it could not be asked."""
        services = self._context.services
        if services.breaker.state == "open":
            return reasons.BREAKER_OPEN
        if services.health.state == "offline":
            services.health.probe_soon()
            return reasons.OFFLINE
        try:
            memory = await guarded_recall(
                services,
                query,
                self._context.reads(),
                top_k=self._settings.top_k,
                deadline=limit,
                own_session=self._context.session.session_id,
            )
        except ServerFailure as failure:
            if reason := reasons.reason_of(failure):
                return reason
            memory = RecalledMemory()
        if memory is None:
            return reasons.BREAKER_OPEN
        if services.health.single_user:
            self._context.say(
                "Cognee memory: this server runs without access control, so all its datasets share "
                "one store and memory of other projects may come up. Start it with "
                "ENABLE_BACKEND_ACCESS_CONTROL=true to keep them apart."
            )
        return self._rendered(memory)

    async def _from_lanes(self, query: Redacted[str], limit: Deadline) -> list[AdditionalContext]:
        found: list[AdditionalContext] = []
        for lane, texts in await self._context.search_lanes(query.value, limit):
            block = render.lane_block(lane.name, texts, self._settings.max_chars)
            found.append(
                AdditionalContext(
                    text=block.text, priority=lane.priority, hits=block.hits, lane=lane.name
                )
            )
        return found

    def _rendered(self, memory: RecalledMemory) -> AdditionalContext:
        room = self._settings.max_chars
        limit = self._context.session.max_context_bytes
        while True:
            texts, hits = render.memory_block(memory, room)
            stats = render.stats_line(hits, self._turns.with_hits + bool(hits), self._turns.total)
            block = render.wrapped(texts, stats, DATA_NOTE)
            size = len(block.encode())
            if size <= limit or room <= MIN_ROOM:
                return AdditionalContext(text=block, priority=PRIORITY, hits=hits)
            # Too long for the agent, which would cut the footer off: choose again from less room.
            room = max(MIN_ROOM, min(room - 1, room * limit // size))

    def _outage(self, reason: str) -> AdditionalContext:
        return _line(render.outage_line(reason, self._context.waiting))

    def _remember(self, graph: int, code: int, *, failed: bool) -> None:
        turns = self._turns
        # A recall that failed says nothing about memory, so the line keeps what it said before.
        if code or not failed:
            turns.last_graph, turns.last_code = graph, code
        turns.with_hits += bool(graph + code)
        if graph or not failed:
            turns.without = 0 if graph else turns.without + 1
        self._save()

    def _look_elsewhere(self, query: Redacted[str]) -> None:
        """Look for memory in other datasets in the background, where this one gives none."""
        context, turns = self._context, self._turns
        chosen = bool(context.core.read_dataset_ids)
        # Without access control all datasets are one store, so nothing would be elsewhere.
        wanted = self._settings.dataset_hint and not (chosen or context.services.health.single_user)
        if wanted and not turns.looked and turns.without >= elsewhere.IN_A_ROW:
            turns.looked = 1
            context.spawn(self._hint(query), lasting=True)

    async def _hint(self, query: Redacted[str]) -> None:
        context = self._context
        dataset = context.session.dataset
        try:
            limit = Deadline.after(elsewhere.SECONDS, context.clock)
            other = await elsewhere.find(context, query, limit)
        except ServerFailure as failure:
            context.log.debug("not looked elsewhere: %s", failure.kind.value)
            self._turns.looked = self._turns.without = 0  # after as many prompts, again
            return
        self._save()
        # Nobody needs the hint who has switched meanwhile.
        if other and context.session.dataset == dataset:
            context.say(elsewhere.hint(dataset, other), NoticeLevel.INFO)

    def _save(self) -> None:
        try:
            self._context.state.write(asdict(self._turns))
        except OSError as error:
            self._context.log.warning("turn counters not saved: %s", type(error).__name__)


def _line(text: str) -> AdditionalContext:
    return AdditionalContext(text=text, priority=PRIORITY)


def _count(value: object) -> int:
    return value if type(value) is int and 0 < value <= MAX_INT else 0

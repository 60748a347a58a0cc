"""Hook implementations of compaction."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from builtin_plugins.compaction.anchor import anchor_text, block, not_among, turns_section
from builtin_plugins.compaction.heard import MAX_TURNS, Heard
from builtin_plugins.compaction.pending import Pending
from builtin_plugins.compaction.query import query_of
from builtin_plugins.compaction.settings import CompactionSettings
from cognee_hooks import Deadline, PluginContext, hookimpl
from cognee_hooks.errors import RedactionFailed, ServerFailure
from cognee_hooks.events import PreCompact, SessionStart, Stop, Turn, UserPromptSubmit
from cognee_hooks.results import Act, AdditionalContext, CheckResult, CheckStatus
from cognee_hooks.services.recall import guarded_recall

if TYPE_CHECKING:
    from cognee_hooks.redaction import Redacted
    from cognee_hooks.session import Session

LANE = "compaction"
PRIORITY = 200
"""Above recall: what the conversation was about matters more than what else is known."""
MARGIN = 0.5
"""Seconds of the budget that are kept for storing, once the server has been asked."""
MIN_SEARCH = 0.3
"""Seconds that a search needs at least."""
MAX_TURN_BYTES = 2000
"""Of a question or an answer; the query is made of more than the anchor shows."""
QUESTION = "Context compaction anchor: what did the compacted part of this conversation hold?"


class CompactionPlugin:
    """Builds an anchor before a compaction and puts it into the context of the prompt after it.

    The anchor waits on disk as soon as the turns are redacted; what the server remembers about them
    is added when it has answered.
    """

    def __init__(self, context: PluginContext) -> None:
        self._context = context
        self._settings = context.settings(CompactionSettings)
        self._pending = Pending(context.state, context.log)
        self._heard = Heard()
        self._at_work = asyncio.Lock()

    @hookimpl
    async def cognee_session_start(self, event: SessionStart) -> None:
        """Forget what was said in a conversation that the person has emptied.

        Most agents give the conversation another id then; where one does not, a reminder would
        bring back what was to be gone.
        """
        if event.source == "clear":
            self._heard.take()
            async with self._at_work:
                self._pending.drop()

    @hookimpl
    async def cognee_pre_compact(self, event: PreCompact, deadline: Deadline) -> None:
        """Keep what is about to be dropped."""
        # A sub-agent's own conversation is none that the user goes on with.
        if not self._on or event.agent_id:
            return
        heard = self._heard.take()
        session = self._context.session
        async with self._at_work:
            if turns := await self._safe(event.turns or heard):
                await self._anchor(session, turns, event, deadline)

    @hookimpl
    async def cognee_user_prompt_submit(
        self, event: UserPromptSubmit, deadline: Deadline
    ) -> AdditionalContext | None:
        """Give the anchor to the first prompt of the user's whose answer is awaited."""
        if not self._on:
            return None
        self._heard.prompt(event)
        prompt = event.prompt.strip()
        awaited = not (event.machine_made or event.replayed or event.agent_id)
        if not awaited or not prompt or prompt.startswith("/"):
            return None
        await self._idle(deadline)
        anchor = self._pending.give()
        if not anchor:
            return None
        text = block(anchor, self._context.session.max_context_bytes)
        return AdditionalContext(text=text, priority=PRIORITY, lane=LANE)

    @hookimpl
    async def cognee_stop(self, event: Stop) -> None:
        """Forget an anchor that the model has answered to."""
        self._heard.answer(event)
        if not event.replayed and not event.agent_id:
            self._pending.settle()

    @hookimpl
    def cognee_doctor_checks(self) -> CheckResult:
        """Tell whether compactions are looked after."""
        if not self._on:
            return CheckResult.off(
                "compaction",
                "set COGNEE_COMPACTION_ANCHOR=true and COGNEE_CAPTURE=true to carry what a "
                "compaction drops over to the next prompt",
            )
        return CheckResult(
            name="compaction",
            status=CheckStatus.OK,
            detail=f"on, at most {self._settings.max_bytes} bytes with the prompt after it",
        )

    # -- before ----------------------------------------------------------------------------------

    @property
    def _on(self) -> bool:
        context = self._context
        return self._settings.enabled and context.core.capture and bool(context.session.session_id)

    async def _safe(self, turns: Sequence[Turn]) -> list[Turn]:
        """Return redacted turns; none where one cannot be made safe, which is counted."""
        if not turns:
            return []
        raw = [[turn.question, turn.answer] for turn in turns[-MAX_TURNS:]]
        pairs = await self._context.redact_or_drop(raw, max_bytes=MAX_TURN_BYTES)
        if pairs is None:
            return []
        # An answer to a question that is private may repeat it.
        return [Turn(question=asked, answer=said) for asked, said in pairs.value if asked.strip()]

    async def _anchor(
        self, session: Session, turns: list[Turn], event: PreCompact, deadline: Deadline
    ) -> None:
        made_of = hashlib.sha256(repr(turns).encode()).hexdigest()
        again = made_of == self._pending.made_of
        if again and not event.replayed:
            return
        limit = min(self._settings.max_bytes, self._context.session.max_context_bytes)
        anchor = anchor_text(turns, [], limit)
        if not again:
            self._pending.put(anchor, made_of)
        passages: list[str] = []
        if not event.replayed:
            passages = await self._remembered(session, turns, deadline.sparing(MARGIN))
        if passages:
            anchor = anchor_text(turns, passages, limit)
            self._pending.improve(anchor, made_of)
        if not again:
            trigger = event.trigger if event.trigger in {"manual", "auto"} else ""
            self._context.record(Act.COMPACTED, trigger, content=anchor)
        # Of an event that is done again nobody knows how far it came; its entry keeps its key.
        await self._store(session, not_among(turns, passages))

    async def _remembered(self, session: Session, turns: list[Turn], limit: Deadline) -> list[str]:
        """Ask the server what it remembers about the turns; returns redacted passages."""
        context, services = self._context, self._context.services
        words = query_of(turns)
        # Who has blocked recall wants nothing of the server's in the context.
        away = services.health.state not in {"ok", "unknown"} or not context.is_active("recall")
        # A search that has no time would fail, and be held against the server.
        if not words or away or limit.remaining() < MIN_SEARCH:
            return []
        try:
            query = await context.redact(words)
            passages = await self._asked(session, query, limit)
            return (await context.redact(passages)).value
        except RedactionFailed:
            return []

    async def _asked(self, session: Session, query: Redacted[str], limit: Deadline) -> list[str]:
        try:
            # What this conversation stored itself counts too: the model is about to lose it.
            memory = await guarded_recall(
                self._context.services,
                query,
                self._context.reads(session),
                top_k=self._settings.top_k,
                deadline=limit,
            )
        except ServerFailure:
            return []
        return [] if memory is None else memory.passages

    async def _store(self, session: Session, turns: list[Turn]) -> None:
        """Store the turns that the graph does not hold; what it holds would only come back."""
        answer = turns_section(turns)
        # Who has blocked capture wants nothing of a conversation stored.
        if not answer or not self._context.is_active("capture"):
            return
        entry = {
            "type": "qa",
            "question": QUESTION,
            "answer": answer,
            "context": f"{session.agent} · compaction anchor · dataset {session.dataset}",
        }
        await self._context.store_entry(entry, session)

    # -- after -----------------------------------------------------------------------------------

    async def _idle(self, deadline: Deadline) -> None:
        """Wait for an anchor in the making, but not for longer than a prompt can spare."""
        if not self._at_work.locked():
            return
        try:
            async with asyncio.timeout(deadline.remaining() / 2), self._at_work:
                pass
        except TimeoutError:
            return

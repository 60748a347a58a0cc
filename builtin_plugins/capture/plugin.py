"""Hook implementations of capture."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from builtin_plugins.capture.deny import DenyList
from builtin_plugins.capture.pairing import asked_in, goes_on, is_awaited, left, question_of
from builtin_plugins.capture.settings import CaptureSettings
from builtin_plugins.capture.shell import runs_own_program
from builtin_plugins.capture.summary import clipped, command_lines, headline, response_text, summary
from cognee_hooks import PluginContext, hookimpl
from cognee_hooks.errors import RedactionFailed
from cognee_hooks.events import (
    PostToolUse,
    PostToolUseFailure,
    SessionEnd,
    Stop,
    UserPromptSubmit,
)
from cognee_hooks.faults import DropReason
from cognee_hooks.globs import Globs
from cognee_hooks.results import CheckResult
from cognee_hooks.session import Session

MIN_PROMPT = 5
MAX_PARAMS = 20
"""Arguments of a call that are kept; the server keeps no more."""
MAX_PARAM_BYTES = 4000
MAX_ERROR_BYTES = 500
OWN_TOOL_PREFIX = "cognee_"


class CapturePlugin:
    """Pairs prompts with answers, and notes tool calls down.

    The hooks return at once. Redacting and storing happen in the background, one after the other,
    so that entries keep the order in which things happened.
    """

    def __init__(self, context: PluginContext) -> None:
        self._context = context
        self._settings = context.settings(CaptureSettings)
        self._tools = Globs(self._settings.tools)
        self._deny = DenyList(self._settings.deny_paths)
        self._in_order = asyncio.Lock()
        self._parked: dict[str, Any] = context.state.read()

    @hookimpl
    def cognee_user_prompt_submit(self, event: UserPromptSubmit) -> None:
        """Park the prompt until its answer comes."""
        if self._on and not event.machine_made and not event.agent_id:
            self._context.spawn(self._park(event, self._context.session))

    @hookimpl
    def cognee_stop(self, event: Stop) -> None:
        """Store the parked prompt with its answer."""
        if self._on and not event.agent_id:
            self._context.spawn(self._store_turn(event, self._context.session))

    @hookimpl
    def cognee_session_end(self, event: SessionEnd) -> None:
        """Give up on a prompt that was not answered."""
        if not event.agent_id:
            self._context.spawn(self._close())

    @hookimpl
    def cognee_post_tool_use(self, event: PostToolUse) -> None:
        """Note down a call that succeeded."""
        if self._wanted(event.tool_name, event.tool_input):
            self._note(event, response_text(event.tool_response), "")

    @hookimpl
    def cognee_post_tool_use_failure(self, event: PostToolUseFailure) -> None:
        """Note down a call that failed."""
        if self._wanted(event.tool_name, event.tool_input):
            self._note(event, event.error, event.error or "failed")

    @hookimpl
    def cognee_doctor_checks(self) -> list[CheckResult]:
        """Tell whether capture is on, what it keeps, and whether all patterns can be used."""
        from builtin_plugins.capture.checks import rows

        return rows(self._context, self._settings, self._tools.bad + self._deny.bad)

    # -- turns -----------------------------------------------------------------------------------

    async def _park(self, event: UserPromptSubmit, session: Session) -> None:
        async with self._in_order:
            question = await self._question(event.prompt)
            same_turn = event.prompt_id and self._parked.get("prompt_id") == event.prompt_id
            if question or not same_turn:
                self._save(
                    {
                        "question": question,
                        "prompt_id": event.prompt_id,
                        "session_id": session.session_id,
                        "dataset": session.dataset,
                    }
                )

    async def _store_turn(self, event: Stop, session: Session) -> None:
        async with self._in_order:
            parked = self._parked
            if goes_on(event, parked):
                return
            asked = [await self._question(each) for each in event.questions]
            # Without its question an answer is noise: the prompt was short, private, a command, or
            # lost on its way.
            if question := question_of(event, parked, asked):
                home = asked_in(parked, session) if is_awaited(event, parked) else session
                await self._store_pair(home, question, event.last_assistant_message)
            # Not before: an answer that is worked on again after a kill must not look old.
            self._save(left(event, parked, asked))

    async def _store_pair(self, session: Session, question: str, message: str) -> None:
        answer = await self._redacted(message.strip(), self._settings.max_answer_bytes)
        entry = {
            "type": "qa",
            "question": question,
            "answer": answer,
            "context": f"{session.agent} · dataset {session.dataset}",
        }
        await self._context.store_entry(entry, session)

    async def _close(self) -> None:
        async with self._in_order:
            if self._parked:
                self._save({})

    # -- traces ----------------------------------------------------------------------------------

    def _wanted(self, tool_name: str, tool_input: Mapping[str, Any]) -> bool:
        if not self._on:
            return False
        reason = self._unwanted_because(tool_name, tool_input)
        if reason is not None:
            self._context.drop(reason)
        return reason is None

    def _unwanted_because(self, tool_name: str, tool_input: Mapping[str, Any]) -> DropReason | None:
        own_name = tool_name.rsplit("__", 1)[-1].startswith(OWN_TOOL_PREFIX)
        if own_name or any(map(runs_own_program, command_lines(tool_input))):
            return DropReason.OWN_TOOL
        if not tool_name.strip() or not self._tools.match(tool_name):
            return DropReason.TOOL_NOT_ALLOWED
        if self._deny.refuses(tool_input):
            return DropReason.DENIED_PATH
        return None

    def _note(self, event: PostToolUse | PostToolUseFailure, output: str, error: str) -> None:
        # The session may be another one by the time that everything is redacted.
        self._context.spawn(self._store_trace(self._context.session, event, output, error))

    async def _store_trace(
        self,
        session: Session,
        event: PostToolUse | PostToolUseFailure,
        output: str,
        error: str,
    ) -> None:
        async with self._in_order:
            context = self._context
            try:
                called = await context.redact(headline(event.tool_input))
                outcome = await context.redact(clipped(output))
                params = await context.redact(
                    dict(list(event.tool_input.items())[:MAX_PARAMS]),
                    max_bytes=MAX_PARAM_BYTES,
                    flatten=True,
                )
                message = await context.redact(error, max_bytes=MAX_ERROR_BYTES)
            except RedactionFailed:
                context.drop(DropReason.REDACTION_FAILED)
                return
            entry = {
                "type": "trace",
                "origin_function": event.tool_name,
                "status": "error" if error else "success",
                "method_params": params,
                "method_return_value": summary(called.value, outcome.value),
                "error_message": message,
                "generate_feedback_with_llm": False,
            }
            await context.store_entry(entry, session)

    # -- inside ----------------------------------------------------------------------------------

    @property
    def _on(self) -> bool:
        return self._context.core.capture and bool(self._context.session.session_id)

    async def _question(self, text: str) -> str:
        """Return a prompt as it is kept; "" for one that is not worth it."""
        prompt = text.strip()
        if len(prompt) < MIN_PROMPT or prompt.startswith("/"):
            return ""
        return await self._redacted(prompt, self._settings.max_question_bytes)

    async def _redacted(self, text: str, max_bytes: int) -> str:
        """Return redacted text; "" where it cannot be made safe, which is counted."""
        safe = await self._context.redact_or_drop(text, max_bytes=max_bytes)
        return "" if safe is None else safe.value.strip()

    def _save(self, parked: dict[str, Any]) -> None:
        self._parked = parked
        try:
            self._context.state.write(parked)
        except OSError as error:
            self._context.log.warning("prompt parked in memory only: %s", type(error).__name__)

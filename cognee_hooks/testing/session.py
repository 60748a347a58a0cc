"""A whole session for the test of a plugin: real host, scripted server, throw-away home."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from cognee_hooks.deadline import Deadline
from cognee_hooks.events import (
    Event,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    SessionEnd,
    SessionStart,
    Stop,
    UserPromptSubmit,
)
from cognee_hooks.faults import Fault, FaultType
from cognee_hooks.host import Host
from cognee_hooks.leak import Leak
from cognee_hooks.outcomes import Called, Outcome
from cognee_hooks.results import Scrubbed
from cognee_hooks.scrub.by_plugins import told_by_plugins
from cognee_hooks.testing.scripted import RECALL, ScriptedClient, remembers

T = TypeVar("T")

PATIENCE = 30.0
"""Seconds after which a session of a test counts as hanging."""
LEAST_BUDGET = 4.0
"""Seconds that every hook has, since that a machine is busy is no fault of a plugin."""
HOOKS: Mapping[type[Event], str] = {
    SessionStart: "cognee_session_start",
    UserPromptSubmit: "cognee_user_prompt_submit",
    PostToolUse: "cognee_post_tool_use",
    PostToolUseFailure: "cognee_post_tool_use_failure",
    Stop: "cognee_stop",
    PreCompact: "cognee_pre_compact",
    SessionEnd: "cognee_session_end",
}
"""The hook behind each event."""


@dataclass(frozen=True, slots=True)
class HookCall:
    """One call of a hook that happened in a session.

    Attributes:
        hook: Its name.
        wrappers: Plugins that wrapped it, outermost first.
        outcomes: What each implementation did, in call order.
        value: What came of it.
    """

    hook: str
    wrappers: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    value: Any


class PluginSession:
    """One conversation with the built-in plugins and those under test.

    Its event loop runs on a thread of its own, so that plain tests can use it, and background work
    goes on between two lines of a test as it does in real life. Use it as a context manager.

    Args:
        home: A throw-away home folder.
        plugins: The plugins under test, by name: objects, modules, or factories that take a
            `cognee_hooks.PluginContext`.
        agent: Short name of the agent.
        environ: Variables beside ``HOME``. Those of the process are not read.
        arguments: Settings that beat every other source, such as ``{"recall.top_k": 3}``.
        clock: Monotonic seconds.

    Attributes:
        host: The host.
        server: The scripted server: what was sent, and what is answered.
        calls: Every call of a hook since the session began.
    """

    def __init__(
        self,
        home: Path,
        plugins: Mapping[str, object],
        *,
        agent: str = "claude-code",
        environ: Mapping[str, str] | None = None,
        arguments: Mapping[str, object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.server = ScriptedClient()
        self.calls: list[HookCall] = []
        self.host = Host(
            agent,
            environ={"HOME": str(home), **(environ or {})},
            session_id="test",
            cwd=str(home),
            arguments=arguments,
            plugins=plugins,
            client=self.server,
            entry_points=(),
            clock=clock,
        )
        dispatcher = self.host.dispatcher
        dispatcher.observe = self._note
        dispatcher.budgets |= {
            name: max(policy.budget, LEAST_BUDGET)
            for name, policy in self.host.registry.policies.items()
        }
        self._loop: asyncio.AbstractEventLoop | None = None
        self._began = threading.Event()
        self._over = asyncio.Event()
        self._thread = threading.Thread(
            target=self._live, name="cognee-hooks test session", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        self._began.wait(PATIENCE)
        self.run(self.host.start())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        loop = self._loop
        if loop is None:
            return
        try:
            self.run(self.host.close(Deadline.after(PATIENCE / 2)))
        finally:
            self._loop = None
            loop.call_soon_threadsafe(self._over.set)
            self._thread.join(PATIENCE)

    def _live(self) -> None:
        # The runner ends whatever a plugin has left running, too.
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            runner.run(self._until_over())

    async def _until_over(self) -> None:
        self._began.set()
        await self._over.wait()

    # -- what happens ----------------------------------------------------------------------------

    def fire(self, event: Event) -> list[Outcome]:
        """Let an event happen, with all that follows from it.

        Returns:
            What each implementation of its hook did, in call order.
        """
        begun = len(self.calls)
        self.run(self.host.dispatch(event))
        self.settle()
        hook = HOOKS[type(event)]
        return [each for call in self.calls[begun:] if call.hook == hook for each in call.outcomes]

    def prompt(self, text: str) -> str:
        """Let the person ask something; returns what goes into the model's context."""
        event = UserPromptSubmit(**self._common(), prompt=text)
        answer = self.run(self.host.user_prompt_submit(event))
        self.settle()
        return answer.context

    def tool(self, name: str, response: object = "", **tool_input: Any) -> list[Outcome]:
        """Let the model use a tool."""
        event = PostToolUse(
            **self._common(), tool_name=name, tool_input=tool_input, tool_response=response
        )
        return self.fire(event)

    def stop(self, answer: str) -> list[Outcome]:
        """Let the model answer, which ends the turn."""
        return self.fire(Stop(**self._common(), last_assistant_message=answer))

    def scrub(self, value: str, *, dry_run: bool = False) -> list[Scrubbed]:
        """Have all plugins take a leaked value out of what they keep, or only look for it.

        Args:
            value: The value.
            dry_run: Only look.

        Returns:
            What the command would show: what plugins said, without the value, and a row for each
            that failed.
        """
        leak = Leak(value)
        called = self.run(self.host.dispatcher.call("cognee_scrub", leak=leak, dry_run=dry_run))
        return told_by_plugins(called, leak, self.host.paths.agent)

    def settle(self) -> None:
        """Wait for background work."""
        self.run(self.host.background.settle(Deadline.after(PATIENCE / 2)))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the session's event loop, and return what it comes to.

        Raises:
            RuntimeError: The session has not begun, or is over.
            TimeoutError: It hangs.
        """
        if self._loop is None:
            work.close()
            raise RuntimeError("use the session as a context manager: with PluginSession(...):")
        future: Future[T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        return future.result(PATIENCE)

    # -- what there is to see --------------------------------------------------------------------

    def remember(self, *passages: str) -> None:
        """Have the server find these passages from now on."""
        self.server.scripts[RECALL] = remembers(*passages)

    @property
    def faults(self) -> list[Fault]:
        """What plugins did wrong. That a busy machine held a built-in up is no fault."""
        return [row for row in self.host.faults.rows() if row.error_type != FaultType.SLOW]

    # -- inside ----------------------------------------------------------------------------------

    def _common(self) -> dict[str, Any]:
        session = self.host.session
        return {"session_id": session.session_id, "agent": session.agent, "cwd": session.cwd}

    def _note(self, hook: str, wrappers: tuple[Outcome, ...], called: Called) -> None:
        around = tuple(each.plugin for each in wrappers)
        self.calls.append(HookCall(hook, around, called.outcomes, called.value))

"""One conversation of an agent, with its host, inside the daemon."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from cognee_hooks.agents.fields import text
from cognee_hooks.cause import caused_by
from cognee_hooks.daemon.processes import ProcessWatch
from cognee_hooks.deadline import Clock, Deadline
from cognee_hooks.events import Event, SessionEnd, Stop, UserPromptSubmit
from cognee_hooks.guard import attempt, attempt_apart, attempt_await
from cognee_hooks.host import Host
from cognee_hooks.host_parts.prompts import Prompts

if TYPE_CHECKING:
    from cognee_hooks.daemon.journal import Journal
    from cognee_hooks.daemon.protocol import Opening
    from cognee_hooks.results import Agent

T = TypeVar("T")

LOAD_SECONDS = 4.0
"""How long a prompt waits for its session's plugins to be imported."""
AFTER_SECONDS = 2.0
"""How long a conversation that goes on waits for the end that was told before."""
MARGIN_SECONDS = 0.5
"""What a prompt may take beyond the recall budget."""
SETTLE_SECONDS = 30.0
"""After so long, work that an event's hooks left behind is no longer about the event."""
SEND_POLL_SECONDS = 2.0
"""How often to look whether the server has taken what waits."""
FIRST_POLL_SECONDS = 0.02
"""How soon to look first; a daemon that is killed in between has the next one send it again."""

_DECISIVE = ("COGNEE_", "HOME", "XDG_")
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """An event on its way into a session.

    Attributes:
        ident: Its id in the journal.
        event_id: The agent's own id of the event, the same when it sends it again; or "".
        event: The agent's name of the event.
        read: Our event, without the session's id, which its host decides.
        arrived: When it came, on the session's clock.
        replayed: Nobody waits for an answer.
    """

    ident: str
    event: str
    read: Event
    arrived: float
    replayed: bool = False
    event_id: str = ""

    @classmethod
    def of(
        cls,
        agent: Agent,
        opening: Opening,
        document: Mapping[str, Any],
        *,
        replayed: bool = False,
        clock: Clock = time.monotonic,
    ) -> Incoming | None:
        """Read an agent's payload; None for events that we do not use, or cannot read."""
        done = attempt(lambda: agent.read(opening.event, document, session_id="?"))
        if done.error is not None:
            _LOG.warning("adapter %s failed: %s", agent.name, type(done.error).__name__)
        if not isinstance(done.result, Event):
            return None
        return cls(
            ident=opening.ident,
            event=opening.event,
            read=replace(done.result, replayed=True) if replayed else done.result,
            arrived=clock(),
            replayed=replayed,
            event_id=text(document, "eventId"),
        )

    @property
    def ends_session(self) -> bool:
        """Whether the conversation is over with it."""
        return isinstance(self.read, SessionEnd)

    @property
    def waits(self) -> bool:
        """Whether the model waits for the answer; all else is taken over and answered at once."""
        read = self.read
        return isinstance(read, UserPromptSubmit) and not read.machine_made and not self.replayed


class LiveSession:
    """One conversation. Its host is made in the background, events wait for it in their order.

    Args:
        agent: The agent's adapter.
        session_id: Our id of the conversation.
        cwd: Working directory.
        environ: The environment of the agent.
        journal: Told when an event needs to be kept no longer.
        after: Work on the same conversation that has to end first.
        slow_plugins: Plugins that other sessions waited for in vain.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        agent: Agent,
        session_id: str,
        *,
        cwd: str,
        environ: Mapping[str, str],
        journal: Journal,
        after: asyncio.Task[None] | None = None,
        slow_plugins: set[str] | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self.agent = agent
        self.host: Host | None = None
        self._session_id = session_id
        self._cwd = cwd
        self._environ = environ
        self._journal = journal
        self._slow_plugins = slow_plugins
        self._clock = clock
        self._began = time.time()
        self._last = self._began
        self._order = asyncio.Lock()
        self._watched: ProcessWatch | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._dispatched: list[str] = []
        self._again: set[str] = set()
        self._open_prompt = ""
        self._settling: asyncio.Task[None] | None = None
        self._finishing: asyncio.Task[None] | None = None
        self._ready = self._spawn(self._make_host(after))

    # -- who it is -------------------------------------------------------------------------------

    @property
    def session_id(self) -> str:
        """Our id of the conversation, as the agent began it."""
        return self._session_id

    @property
    def own_id(self) -> str:
        """Our id of the conversation now: another one after a switch of the dataset."""
        return self._session_id if self.host is None else self.host.session.session_id

    @property
    def prompts(self) -> Prompts | None:
        """Its latest prompts; None while its host is made."""
        return None if self.host is None else self.host.prompts

    @property
    def cwd(self) -> str:
        """Its working directory."""
        return self._cwd

    @property
    def pid(self) -> int:
        """The agent's process; 0 where it is not known."""
        return self._watched.pid if self._watched is not None else 0

    # -- events ----------------------------------------------------------------------------------

    async def handle(self, incoming: Incoming) -> str:
        """Take an event and return the agent's answer; what waits for nothing goes on behind it."""
        self._last = time.time()
        empty = empty_answer(self.agent, incoming.event)
        work = self._spawn(self._dispatch(incoming))
        if not incoming.waits:
            return empty
        await asyncio.wait({work}, timeout=self.patience(incoming).remaining())
        return work.result() if work.done() else empty

    def patience(self, incoming: Incoming) -> Deadline:
        """Return until when the answer to an event comes."""
        if not incoming.waits:
            return Deadline(incoming.arrived, self._clock)
        # Before the host is there, its recall budget is not known; the usual one is as long.
        work = LOAD_SECONDS * 2 if self.host is None else self.host.core.recall_seconds
        seconds = MARGIN_SECONDS + work
        return Deadline(incoming.arrived + seconds, self._clock)

    def patience_ms(self, incoming: Incoming) -> int:
        """Return how many milliseconds the answer to an event may take from now."""
        return int(self.patience(incoming).remaining() * 1000)

    async def ready(self) -> Host | None:
        """Return the host, once it is made; None where it cannot be."""
        await asyncio.wait({self._ready})
        return self.host

    async def status_line(self, max_width: int, *, colour: bool) -> str:
        """Return the status line; "" while the session is being made."""
        return "" if self.host is None else await self.host.status_line(max_width, colour=colour)

    def fits(self, environ: Mapping[str, str]) -> bool:
        """Tell whether the settings in an environment are those of this session."""
        return _decisive(environ) == _decisive(self._environ)

    def watch(self, pid: int, ended: Callable[[], None]) -> None:
        """Watch the agent's process from now on."""
        if pid <= 1 or (self._watched is not None and self._watched.is_of(pid)):
            return
        if self._watched is not None:
            self._watched.stop()
        self._watched = ProcessWatch(pid, ended)

    # -- ends ------------------------------------------------------------------------------------

    async def end(self, incoming: Incoming | None = None) -> None:
        """Tell the plugins that the conversation is over, and send what is left.

        Args:
            incoming: The agent's own word; None where its process ended without one.
        """
        if incoming is None:
            event = SessionEnd(session_id="?", agent=self.agent.name, cwd=self._cwd)
            incoming = Incoming(ident="", event="", read=event, arrived=self._clock())
        await self._spawn(self._dispatch(incoming))

    async def close(self, deadline: Deadline) -> None:
        """Finish what is under way and close the host; what is not sent stays in the journal."""
        if self._watched is not None:
            self._watched.stop()
        # What is left now stays, so nobody need look whether it is done.
        if self._finishing is not None and self._finishing is not asyncio.current_task():
            self._finishing.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=deadline.remaining() / 2)
        if self.host is None or not self._ready.done():
            return
        if self._settling is not None:
            self._settling.cancel()
        # First: the process may end before what is left to send has had its time.
        self.host.record_times()
        lost = await self.host.close(deadline)
        if not lost:
            self._release(list(self._dispatched))

    @property
    def waiting(self) -> int:
        """Captured entries that are not at the server yet."""
        return self.host.waiting if self.host is not None else 0

    @property
    def unfinished(self) -> bool:
        """Whether there is something left to send, or a plugin is still at work for the session."""
        return self.host is not None and self.host.unfinished

    def when_finished(self, then: Callable[[], Awaitable[None]]) -> None:
        """Call back once nothing is left to do."""

        async def poll() -> None:
            while self.unfinished:  # noqa: ASYNC110 - it may lie with a plugin, which has no event
                await asyncio.sleep(SEND_POLL_SECONDS)
            await then()

        # Not among the tasks: `then` closes this session, which waits for those.
        self._finishing = asyncio.create_task(poll())

    def row(self) -> dict[str, object]:
        """Return what there is to know about the session, for people."""
        return {
            "agent": self.agent.name,
            "session_id": self._session_id,
            "pid": self._watched.pid if self._watched is not None else None,
            "cwd": self._cwd,
            "began": self._began,
            "last_event": self._last,
            "prompts": 0 if self.prompts is None else self.prompts.remembered,
            "waiting": self.waiting,
            "kept": len(self._dispatched),
        }

    # -- inside ----------------------------------------------------------------------------------

    async def _make_host(self, after: asyncio.Task[None] | None) -> None:
        if after is not None:
            await asyncio.wait({after}, timeout=AFTER_SECONDS)
        done = await attempt_apart(
            f"host of {self._session_id}",
            lambda: Host(
                self.agent.name,
                environ=self._environ,
                session_id=self._session_id,
                cwd=self._cwd,
                max_context_bytes=self.agent.max_context_bytes,
                slow_plugins=self._slow_plugins,
                clock=self._clock,
            ),
        )
        if done.error is not None:
            _LOG.error("no host for %s: %s", self._session_id, type(done.error).__name__)
            return
        host: Host = done.result
        host.prompts = Prompts(host.redaction)
        await host.start()
        self.host = host

    async def _dispatch(self, incoming: Incoming) -> str:
        """Pass an event to the host, in order, and return the agent's answer."""
        empty = empty_answer(self.agent, incoming.event)
        async with self._order:
            host = await self.ready()
            if host is None:
                return empty  # the event stays in the journal
            if incoming.replayed and not self._begin_again(incoming.ident):
                return empty
            event = replace(incoming.read, session_id=host.session.session_id)
            deadline = None
            if isinstance(event, UserPromptSubmit):
                # Made before the plugins were imported, it would have nothing left to recall in.
                begun = max(incoming.arrived, self._clock() - MARGIN_SECONDS)
                deadline = Deadline(begun + host.core.recall_seconds, self._clock)
            with caused_by(incoming.ident):
                work = self._spawn(attempt_await(host.dispatch(event, deadline)))
            if not isinstance(event, UserPromptSubmit):
                await asyncio.wait({work})
        done = await work
        if done.error is not None:
            _LOG.error("%s failed: %s", incoming.event, type(done.error).__name__)
        self._settle(incoming)
        if not incoming.waits:
            return empty
        notice = " ".join(each.text for each in host.notices.take())
        context = done.result.context if done.result is not None else ""
        answer = attempt(self.agent.answer, incoming.event, context, notice)
        return answer.result if isinstance(answer.result, str) else empty

    def _begin_again(self, ident: str) -> bool:
        self._again.add(ident)
        return self._journal.begin_again(ident)

    def _settle(self, incoming: Incoming) -> None:
        """Release the event from the journal once nothing of it is in memory only.

        A prompt is only captured together with its answer, so it stays until that is there.
        """
        if incoming.ident:
            self._dispatched.append(incoming.ident)
        if not incoming.read.agent_id:
            if isinstance(incoming.read, UserPromptSubmit):
                self._open_prompt = incoming.ident
            elif isinstance(incoming.read, Stop):
                self._open_prompt = ""
        if self._settling is None or self._settling.done():
            self._settling = asyncio.create_task(self._settle_all())

    async def _settle_all(self) -> None:
        pause = FIRST_POLL_SECONDS
        while self.host is not None:
            seen = list(self._dispatched)
            batch = [each for each in seen if each != self._open_prompt]
            if not batch and self._again.isdisjoint(seen):
                return
            await self.host.background.settle(Deadline.after(SETTLE_SECONDS, self._clock))
            for ident in self._again.intersection(seen):
                self._again.discard(ident)
                self._journal.survived(ident)
            if self.host.volatile:
                await asyncio.sleep(pause)
                pause = min(pause * 2, SEND_POLL_SECONDS)
            else:
                self._release(batch)
                pause = FIRST_POLL_SECONDS

    def _release(self, idents: list[str]) -> None:
        for ident in idents:
            self._journal.discard(ident)
        gone = set(idents)  # there may be as many as the journal holds
        self._dispatched = [each for each in self._dispatched if each not in gone]

    def _spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def empty_answer(agent: Agent, event: str) -> str:
    """Return the agent's answer that changes nothing; "" where its adapter fails."""
    answer = attempt(agent.empty, event).result
    return answer if isinstance(answer, str) else ""


def _decisive(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: environ[name] for name in environ if name.startswith(_DECISIVE)}

"""The sessions that the daemon serves, each found by its agent and conversation."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from cognee_hooks.agents import BUILT_IN
from cognee_hooks.daemon.finding import Wanted, find
from cognee_hooks.daemon.live_session import Incoming, LiveSession, empty_answer
from cognee_hooks.daemon.protocol import NotInCharge, Opening
from cognee_hooks.deadline import Clock, Deadline
from cognee_hooks.guard import attempt, attempt_apart, attempt_await
from cognee_hooks.host import Host
from cognee_hooks.payload import first_object
from cognee_hooks.results import Origin
from cognee_hooks.services.names import safe_session_id
from cognee_hooks.services.process_table import is_alive

if TYPE_CHECKING:
    from cognee_hooks.daemon.journal import Journal
    from cognee_hooks.results import Agent

IDLE_SECONDS = 30 * 60.0
"""How long a session may be silent before it counts as ended; some ends are never told."""
GRACE_SECONDS = 1.0
"""How long events of an agent that has ended may still be on their way."""
LATE_SECONDS = 40.0
"""How long a session that had to wait for its server may take to finish; nobody waits for it."""
LEFT_SECONDS = 10.0
"""How long nothing may be heard of a conversation that an agent's helper has left."""
UNKNOWN_SECONDS = 60.0
"""How long nobody is asked again for an agent that no plugin brings."""
MAX_LINGERING = 20
"""Ended sessions that are kept in memory until all is sent and done that they left."""

_AGENT_SECONDS = 10.0
_ENDED_REMEMBERED = 50
_EVENTS_REMEMBERED = 1000
_LOG = logging.getLogger(__name__)

Key = tuple[str, str]


class LiveSessions:
    """All sessions of the daemon.

    Args:
        journal: Where events are kept until nothing of them can be lost.
        in_charge: Tells whether this is the daemon that works. What one takes that was followed
            by another one is not seen by that one, and what comes after it passes it.
        clock: Monotonic seconds.
        idle_seconds: How long a session may be silent.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        in_charge: Callable[[], bool] = lambda: True,
        clock: Clock = time.monotonic,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self.last_event = clock()
        self._journal = journal
        self._in_charge = in_charge
        self._closed = False
        self._clock = clock
        self._idle_seconds = idle_seconds
        self._live: dict[Key, LiveSession] = {}
        self._ending: dict[Key, asyncio.Task[None]] = {}
        self._lingering: deque[LiveSession] = deque()
        self._ended: deque[Key] = deque(maxlen=_ENDED_REMEMBERED)
        self._seen: deque[str] = deque(maxlen=_EVENTS_REMEMBERED)
        self._agents: dict[str, Agent] = dict(BUILT_IN)
        self._unknown: dict[str, float] = {}
        self._slow_plugins: set[str] = set()
        self._timers: dict[Key, asyncio.TimerHandle] = {}

    # -- events ----------------------------------------------------------------------------------

    async def agent_of(self, opening: Opening) -> Agent | None:
        """Return the adapter of an event's agent; None where no agent has this name."""
        name = opening.agent
        if name not in self._agents and self._clock() >= self._unknown.get(name, 0.0):
            # Only a host knows the agents that plugins bring.
            self._unknown[name] = self._clock() + UNKNOWN_SECONDS
            try:
                async with asyncio.timeout(_AGENT_SECONDS):
                    made = await attempt_apart(
                        f"agents for {name}",
                        lambda: Host(
                            name, environ=opening.environ, slow_plugins=self._slow_plugins
                        ),
                    )
            except TimeoutError:
                return None
            if made.error is not None:
                return None
            self._agents.update(made.result.registered.agents)
        return self._agents.get(name)

    def keep(self, opening: Opening, payload: bytes) -> bool:
        """Put an event into the journal; tells whether it is new.

        Raises:
            NotInCharge: It is another daemon's.
        """
        if not self._takes():
            raise NotInCharge
        self.last_event = self._clock()
        try:
            return self._journal.add(opening, payload)
        except OSError as error:
            # It is worked on all the same; only a kill could lose it now.
            _LOG.warning("event %s is not on disk: %s", opening.ident, error)
            return True

    def session_of(self, agent: Agent, opening: Opening, origin: Origin) -> LiveSession:
        """Return the session that an event belongs to; it begins here if it is not live."""
        key = _key(agent, origin, opening.pid)
        session = self._live.get(key)
        if session is not None and not session.fits(opening.environ):
            # The same conversation goes on under other settings, with a new agent process.
            self._end(key)
            session = None
        if session is None:
            session = LiveSession(
                agent,
                key[1],
                cwd=origin.cwd or opening.cwd,
                environ=opening.environ,
                journal=self._journal,
                after=self._ending.get(key),
                slow_plugins=self._slow_plugins,
                clock=self._clock,
            )
            self._live[key] = session
        session.watch(opening.pid, lambda: self._set_timer(key, GRACE_SECONDS))
        self._set_timer(key, self._idle_seconds)
        return session

    def find(self, wanted: Wanted) -> tuple[LiveSession, str] | None:
        """Return the live session that a caller from outside means; see `finding.find`."""
        return find(self._live.values(), wanted)

    def used(self, session: LiveSession) -> None:
        """Note that somebody works with a session, which is no silence."""
        self.last_event = self._clock()
        for key in [key for key, each in self._live.items() if each is session]:
            self._set_timer(key, self._idle_seconds)

    def left(self, pid: int, conversations: Collection[str]) -> None:
        """Note that a helper of an agent was told to end, which may mean that a session has.

        Agents also restart helpers. So the sessions of the process end where it has ended, too, and
        a conversation that the helper served where the process is one for many and goes on, unless
        anything more is heard of it.

        Args:
            pid: The agent's process.
            conversations: Our ids of those for which the helper was called.
        """
        for key, session in list(self._live.items()):
            if pid > 1 and session.pid == pid:
                loop = asyncio.get_running_loop()
                served = key[1] in conversations
                loop.call_later(GRACE_SECONDS, self._left_for_good, key, session, served)

    def _left_for_good(self, key: Key, session: LiveSession, served: bool) -> None:
        if self._live.get(key) is not session:
            return
        if not is_alive(session.pid):
            self._end(key)
        elif served and getattr(session.agent, "outlives_sessions", False) is True:
            self._set_timer(key, LEFT_SECONDS)

    def is_over(self, agent: Agent, origin: Origin) -> bool:
        """Tell whether the session has just been ended because its agent was gone."""
        key = _key(agent, origin)
        return key not in self._live and key in self._ended

    def agent_ended(self, agent: Agent, origin: Origin) -> None:
        """Note that an agent is gone, which ends its session if it has not ended.

        It may only have gone to the daemon that works in place of this one.
        """
        if (key := _key(agent, origin)) in self._live and self._takes():
            self._set_timer(key, GRACE_SECONDS)

    async def handle(self, session: LiveSession, incoming: Incoming) -> str:
        """Pass an event on to its session, and return the agent's answer.

        An agent on a channel that broke sends again what it got no answer to.
        """
        if incoming.event_id in self._seen:
            self._journal.discard(incoming.ident)
            return empty_answer(session.agent, incoming.event)
        if incoming.event_id:
            self._seen.append(incoming.event_id)
        if incoming.ends_session:
            for key in [key for key, each in self._live.items() if each is session]:
                self._end(key, incoming)
            return empty_answer(session.agent, incoming.event)
        return await session.handle(incoming)

    async def take_up(self) -> None:
        """Go on with the events that an earlier daemon, or no daemon, left behind."""
        self._journal.sweep()
        for opening, payload in self._journal.pending():
            await self._take_up_one(opening, payload)
        await self.take_up_spool()

    async def take_up_spool(self) -> None:
        """Go on with the events that clients have spooled meanwhile, if they are ours."""
        if not self._takes():
            return
        # All at once: another look must not find what this one is just about to take.
        for opening, payload in list(self._journal.spooled()):
            await self._take_up_one(opening, payload)

    async def _take_up_one(self, opening: Opening, payload: bytes) -> None:
        # An adapter that fails on one event must not keep the daemon from all others.
        done = await attempt_await(self._replay(opening, payload))
        if done.error is not None:
            fault = type(done.error).__name__
            _LOG.error("event %s of %r failed: %s", opening.ident, opening.agent, fault)

    async def _replay(self, opening: Opening, payload: bytes) -> None:
        if self._closed:
            return  # it is in the journal, for the next daemon
        document = first_object(payload, ended=True)
        agent = await self.agent_of(opening)
        if document is not None and agent is not None:
            incoming = Incoming.of(agent, opening, document, replayed=True)
            if incoming is not None:
                session = self.session_of(agent, opening, origin_of(agent, document))
                await self.handle(session, incoming)
                return
        _LOG.warning("event %s of %r cannot be used", opening.ident, opening.agent)
        self._journal.discard(opening.ident)

    # -- ends ------------------------------------------------------------------------------------

    async def close(self, deadline: Deadline) -> None:
        """End the daemon's work on all sessions, which go on with the next daemon."""
        self._closed = True
        for timer in self._timers.values():
            timer.cancel()
        sessions = [*self._live.values(), *self._lingering]
        self._live.clear()
        self._lingering.clear()
        work = [session.close(deadline) for session in sessions] + [*self._ending.values()]
        if work:
            tasks = [asyncio.ensure_future(each) for each in work]
            await asyncio.wait(tasks, timeout=deadline.remaining())

    def rows(self) -> list[dict[str, object]]:
        """Return what there is to know about each session, for people."""
        return [session.row() for session in [*self._live.values(), *self._lingering]]

    @property
    def live(self) -> list[LiveSession]:
        """The sessions that have not ended."""
        return list(self._live.values())

    @property
    def kept(self) -> int:
        """Events that are in the journal."""
        return len(self._journal)

    def _takes(self) -> bool:
        return not self._closed and self._in_charge()

    def _set_timer(self, key: Key, seconds: float) -> None:
        if key in self._timers:
            self._timers.pop(key).cancel()
        loop = asyncio.get_running_loop()
        self._timers[key] = loop.call_later(seconds, self._end, key)

    def _end(self, key: Key, incoming: Incoming | None = None) -> None:
        """End a session in the background."""
        if key in self._timers:
            self._timers.pop(key).cancel()
        session = self._live.pop(key, None)
        if session is None:
            return
        self._ended.append(key)
        task = asyncio.create_task(self._finish(session, incoming))
        self._ending[key] = task
        task.add_done_callback(lambda done: self._ended_at_last(key, done))

    def _ended_at_last(self, key: Key, task: asyncio.Task[None]) -> None:
        # A conversation that went on may be ending again.
        if self._ending.get(key) is task:
            del self._ending[key]

    async def _finish(self, session: LiveSession, incoming: Incoming | None) -> None:
        await session.end(incoming)
        if self._closed or not session.unfinished:
            await session.close(Deadline.after(GRACE_SECONDS, self._clock))
            return
        # What it could not send goes out when the server is back, and plugins finish their work.
        session.when_finished(lambda: self._finished(session))
        self._lingering.append(session)
        if len(self._lingering) > MAX_LINGERING:
            oldest = self._lingering.popleft()
            await oldest.close(Deadline.after(0, self._clock))

    async def _finished(self, session: LiveSession) -> None:
        if session in self._lingering:
            self._lingering.remove(session)
            await session.close(Deadline.after(LATE_SECONDS, self._clock))


def origin_of(agent: Agent, document: Mapping[str, Any]) -> Origin:
    """Return where a payload comes from; nowhere, if the adapter fails on it."""
    done = attempt(agent.origin, document)
    return done.result if isinstance(done.result, Origin) else Origin()


def _key(agent: Agent, origin: Origin, pid: int = 0) -> Key:
    """Return what a session is found by; the calling process stands in for a conversation."""
    own = origin.conversation or str(pid)
    return agent.name, safe_session_id(f"{agent.session_prefix}_{own}")

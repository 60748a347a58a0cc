"""What is known of the connection to the server, and the one loop that keeps asking.

Health and the circuit breaker are kept apart: this module says whether a server is there and takes
our key, the breaker whether recalls work. A probe can be fine while every recall fails.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from cognee_hooks.deadline import Clock, Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.events import ConnectionState, ServerStateChanged
from cognee_hooks.services.retry import jittered

if TYPE_CHECKING:
    from cognee_hooks.services.client import CogneeClient

PROBE_SECONDS = 2.5
"""Limit of one question. A busy server may take longer now and then, so a probe asks twice."""
INTERVAL = 60.0
"""Seconds between probes while something is wrong or waiting."""

_FIRST_INTERVAL = 2.0
_PAUSE_BETWEEN = 0.2
_HEALTHY: frozenset[ConnectionState] = frozenset({"ok", "auth"})

_STATES: dict[FailureKind, ConnectionState] = {
    FailureKind.REFUSED: "offline",
    FailureKind.UNREACHABLE: "offline",
    FailureKind.TIMED_OUT: "offline",
    FailureKind.LOST: "offline",
    FailureKind.AUTH: "auth",
}
"""State after a probe that failed; any other failure is ``server-error``."""

_TELLING: frozenset[FailureKind] = frozenset(
    {
        FailureKind.REFUSED,
        FailureKind.UNREACHABLE,
        FailureKind.AUTH,
        FailureKind.SERVER_ERROR,
        FailureKind.UNAVAILABLE,
        FailureKind.MISCONFIGURED,
    }
)
"""Failures of other requests that say something about the connection. A slow recall does not, nor
does what the server refuses or has not got."""
_SUSPICIOUS = frozenset({FailureKind.TIMED_OUT, FailureKind.LOST})

T = TypeVar("T")
Subscriber = Callable[[ServerStateChanged], None]

_LOG = logging.getLogger("cognee_hooks.health")


class HealthMonitor:
    """Watches one server.

    Args:
        client: The server.
        interval: Seconds between probes while something is wrong or waiting.
        probe_seconds: Limit of one question to the server.
        clock: Monotonic seconds.
        source: Source of jitter.
    """

    def __init__(
        self,
        client: CogneeClient,
        *,
        interval: float = INTERVAL,
        probe_seconds: float = PROBE_SECONDS,
        clock: Clock = time.monotonic,
        source: random.Random | None = None,
    ) -> None:
        self._client = client
        self._interval = interval
        self._probe_seconds = probe_seconds
        self._clock = clock
        self._random = source or random.Random()  # noqa: S311 -- jitter
        self._state: ConnectionState = "unknown"
        self._detail = ""
        self._version = ""
        self._embedded = False
        self._single_user: bool | None = None
        self._not_before = 0.0
        self._subscribers: list[Subscriber] = []
        self._probing = asyncio.Lock()
        self._known = asyncio.Event()
        self._woken = asyncio.Event()
        self._stopped = asyncio.Event()
        self._running = False

    # -- what is known -----------------------------------------------------------------------------

    @property
    def state(self) -> ConnectionState:
        """State of the connection."""
        return self._state

    @property
    def healthy(self) -> bool:
        """Whether requests make sense. A refused key does not make the server unhealthy."""
        return self._state in _HEALTHY

    @property
    def detail(self) -> str:
        """Why the state is what it is, one line, or ""."""
        return self._detail

    @property
    def version(self) -> str:
        """The server's version, or "" where it is not known."""
        return self._version

    @property
    def embedded(self) -> bool:
        """Whether the server is the embedded one, which needs no model; False if not known yet."""
        return self._embedded

    @property
    def single_user(self) -> bool | None:
        """Whether access control is off, so datasets are not kept apart; None if not known yet."""
        return self._single_user

    @property
    def retry_in(self) -> float:
        """Seconds for which the server asked to be left alone, 0.0 where it did not."""
        return max(0.0, self._not_before - self._clock())

    def subscribe(self, subscriber: Subscriber) -> None:
        """Call ``subscriber`` on each change of state. It must return at once and not raise."""
        self._subscribers.append(subscriber)

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """Call ``subscriber`` no longer; one that is not known is no error."""
        if subscriber in self._subscribers:
            self._subscribers.remove(subscriber)

    # -- what is learnt ----------------------------------------------------------------------------

    def note(self, failure: ServerFailure | None) -> None:
        """Learn how a recall or a write went.

        Args:
            failure: What went wrong, or None where nothing did.
        """
        if failure is None:
            self._set("ok", "")
            return
        if failure.retry_after:
            self._not_before = max(self._not_before, self._clock() + failure.retry_after)
        if failure.kind in _TELLING:
            self._set(_STATES.get(failure.kind, "server-error"), failure.detail)
            self._woken.set()
        elif failure.kind in _SUSPICIOUS:
            self._woken.set()

    def probe_soon(self) -> None:
        """Ask `run` for a probe now, for somebody who would like to use the server."""
        self._woken.set()

    async def probe(self, deadline: Deadline) -> ConnectionState:
        """Ask the server how it is, twice before calling it down.

        Of probes that run at the same time one asks and the others take its result.

        Args:
            deadline: When to give up.

        Returns:
            The state now.
        """
        waited = self._probing.locked()
        try:
            async with asyncio.timeout(deadline.remaining()), self._probing:
                if not waited:
                    await self._ask_twice(deadline)
        except TimeoutError:
            if not waited:
                self._set("offline", "no answer in time")
        return self._state

    def learn(self, other: HealthMonitor) -> None:
        """Take over what another monitor found out of the same server; the state stays as it is."""
        if other.version:
            self._version, self._embedded = other.version, other.embedded

    async def wait_ready(self, deadline: Deadline) -> bool:
        """Wait until it is known whether the server works, if it is not known yet.

        Args:
            deadline: How long a caller wants to wait at most.

        Returns:
            Whether requests make sense.
        """
        if self._state == "unknown":
            if self._running:
                try:
                    async with asyncio.timeout(deadline.remaining()):
                        await self._known.wait()
                except TimeoutError:
                    _LOG.debug("not known in time")
            else:
                await self.probe(deadline)
        return self.healthy

    async def detect_single_user(self, deadline: Deadline) -> bool | None:
        """Find out, once, whether access control is off; see `single_user`."""
        if self._single_user is None:
            try:
                self._single_user = await self._client.single_user(deadline)
            except ServerFailure as failure:
                _LOG.debug("access control not known: %s", failure.kind.value)
        return self._single_user

    # -- the loop ----------------------------------------------------------------------------------

    async def run(
        self,
        pending: Callable[[], bool] = lambda: False,
        ready: Callable[[], None] = lambda: None,
    ) -> None:
        """Probe at once, then while the server is not well or something waits for it.

        Args:
            pending: Tells whether something waits.
            ready: Called after each good probe while something waits; must return at once.
        """
        self._running = True
        self._stopped.clear()
        calm = 0
        try:
            while not self._stopped.is_set():
                if self._state != "ok" or pending() or self._woken.is_set():
                    self._woken.clear()
                    await self._unless_stopped(self._check())
                    if self.healthy and pending() and not self._stopped.is_set():
                        ready()
                calm = 0 if self._woken.is_set() else calm + 1
                await self._rest(calm)
        finally:
            self._running = False

    def stop(self) -> None:
        """End `run`, also in the middle of a probe."""
        self._stopped.set()

    async def _check(self) -> None:
        await self.probe(Deadline.after(2 * self._probe_seconds + 2 * _PAUSE_BETWEEN))
        if self._state == "ok":
            await self.detect_single_user(Deadline.after(self._probe_seconds))

    async def _rest(self, calm: int) -> None:
        """Sleep until the next round: soon after a change, less and less often later."""
        seconds = min(_FIRST_INTERVAL * 2.0 ** min(calm - 1, 20), self._interval)
        seconds = max(jittered(seconds, self._random), self.retry_in)
        await self._unless_stopped(self._sleep(seconds))

    async def _sleep(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
            # Whatever woke us may be about to end; a moment keeps a bad server from spinning us.
            await asyncio.sleep(_PAUSE_BETWEEN)
        except TimeoutError:
            return

    async def _unless_stopped(self, work: Coroutine[Any, Any, T]) -> None:
        task = asyncio.ensure_future(work)
        stop = asyncio.ensure_future(self._stopped.wait())
        try:
            await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                task.result()
        finally:
            for each in (task, stop):
                each.cancel()
            await asyncio.gather(task, stop, return_exceptions=True)

    # -- inside ------------------------------------------------------------------------------------

    async def _ask_twice(self, deadline: Deadline) -> None:
        half = deadline.remaining() / 2
        failure = await self._ask(deadline.within(min(self._probe_seconds, half)))
        if failure is not None:
            await asyncio.sleep(min(_PAUSE_BETWEEN, deadline.remaining() / 4))
            failure = await self._ask(deadline.within(self._probe_seconds))
        if failure is None and self._state == "auth":
            # The health route needs no key, so it cannot tell that ours is good again.
            failure = await self._ask_with_key(deadline.within(self._probe_seconds))
        if failure is None:
            self._set("ok", "")
        else:
            self._set(_STATES.get(failure.kind, "server-error"), failure.detail)

    async def _ask(self, deadline: Deadline) -> ServerFailure | None:
        try:
            found = await self._client.health(deadline)
        except ServerFailure as failure:
            return failure
        self._version = found.version
        self._embedded = found.embedded
        if found.ready:
            return None
        detail = "the server answers and says that its stores do not work"
        return ServerFailure(FailureKind.UNAVAILABLE, detail)

    async def _ask_with_key(self, deadline: Deadline) -> ServerFailure | None:
        try:
            await self._client.whoami(deadline)
        except ServerFailure as failure:
            return failure
        return None

    def _set(self, state: ConnectionState, detail: str) -> None:
        previous, self._state, self._detail = self._state, state, detail
        self._known.set()
        if state == previous:
            return
        change = ServerStateChanged(previous=previous, current=state, detail=detail)
        for subscriber in self._subscribers:
            subscriber(change)

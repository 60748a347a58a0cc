"""The one loop of a host that sends what waits, and the last flush at the end of a session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from builtin_plugins.bridge.sender import Sender, Step
from cognee_hooks.deadline import Deadline
from cognee_hooks.services.retry import jittered

if TYPE_CHECKING:
    from builtin_plugins.bridge.buffer import Buffer
    from builtin_plugins.bridge.folder import BufferFolder
    from cognee_hooks import PluginContext

_STEP_SECONDS = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """How often to try, in seconds.

    Attributes:
        first: Pause after a round in which nothing could be sent.
        longest: The pause doubles up to this.
        after_change: Pause after news that the server works again.
        round: Longest that one round goes on.
    """

    first: float = 2.0
    longest: float = 60.0
    after_change: float = 0.2
    round: float = 20.0


@dataclass(slots=True)
class _Round:
    """How a round went."""

    progressed: bool = False
    stopped: bool = False
    asked_to_wait: bool = False
    blocked: set[str] = field(default_factory=set)
    until: float = 0.0
    left_over: bool = False

    def wait_until(self, moment: float) -> None:
        """Take the earliest moment at which a blocked head may be tried again."""
        if moment:
            self.until = min(self.until or moment, moment)


class Drain:
    """Sends: the session's own entries first, then the oldest of other sessions.

    There is one request at a time, and never two processes on one session's file.

    Args:
        context: The plugin's context.
        folder: All buffers.
        sender: Sends one head.
        own: Buffers of this session.
        pacing: See `Pacing`.
        changed: Told after each step.
    """

    def __init__(
        self,
        context: PluginContext,
        folder: BufferFolder,
        sender: Sender,
        *,
        own: Callable[[], Iterable[Buffer]],
        pacing: Pacing,
        changed: Callable[[], object],
    ) -> None:
        self._context = context
        self._health = context.services.health
        self._url = context.services.mode.url
        self._folder = folder
        self._sender = sender
        self._own = own
        self._pacing = pacing
        self._changed = changed
        self._busy = asyncio.Lock()
        self._woken = asyncio.Event()
        self._listening = True
        self._ending = False
        self._pause = pacing.first
        self._held: dict[str, Buffer] = {}
        self.running = False
        """Whether `run` goes on, or is about to."""

    def captured(self) -> None:
        """Send what was just captured, unless the server failed a moment ago."""
        if self._listening:
            self._woken.set()

    def server_works(self) -> None:
        """Try again, since the server is back."""
        self._pause = self._pacing.first
        self._woken.set()

    async def run(self) -> None:
        """Send whenever there is something to send, until cancelled."""
        try:
            while True:
                self._woken.clear()
                async with self._busy:
                    done = await self._round(Deadline.after(self._pacing.round))
                pause = self._pause = self._pacing.first if done.progressed else self._pause
                if not done.asked_to_wait:
                    self._pause = min(pause * 2, self._pacing.longest)
                await self._rest(done, pause)
        finally:
            self.running = False
            self._release(everything=True)

    async def finish(self, deadline: Deadline, *, only_own: bool = True) -> None:
        """Send what waits, until it cannot be sent.

        A round that is under way is waited for; it ends after its current request.

        Args:
            deadline: When to stop.
            only_own: Send the entries of this session only.
        """
        self._ending = True
        try:
            async with asyncio.timeout(deadline.remaining()):
                await self._busy.acquire()
        except TimeoutError:
            return
        finally:
            self._ending = False
        try:
            await self._round(deadline, only_own=only_own)
        finally:
            self._busy.release()

    # -- one round -------------------------------------------------------------------------------

    async def _round(self, deadline: Deadline, *, only_own: bool = False) -> _Round:
        done = _Round()
        others = [] if only_own else [*self._others()]
        try:
            # Other sessions' files are read only where there is a server to send them to.
            while others or self._next(done, ()):
                if deadline.expired or (self._ending and not only_own):
                    done.left_over = True
                    break
                if not await self._server_ready(deadline):
                    done.stopped = True
                    done.asked_to_wait = self._health.retry_in > 0
                    break
                buffer = self._next(done, others)
                if buffer is None:
                    break
                step = await self._step(buffer, deadline if only_own else _unhurried())
                self._changed()
                if step is Step.DONE:
                    done.progressed = True
                    continue
                done.blocked.add(buffer.stem)
                done.wait_until(self._sender.wait_until)
                if step is Step.STOPPED:
                    done.stopped = True
                    break
        finally:
            self._release()
            self._folder.forget(keep=self._own())
        return done

    def _others(self) -> Iterable[Buffer]:
        own = {buffer.stem for buffer in self._own()}
        return (buffer for buffer in self._folder.waiting() if buffer.stem not in own)

    def _next(self, done: _Round, others: Iterable[Buffer]) -> Buffer | None:
        """Return the buffer whose head is sent next: our own, or the oldest."""
        for buffers in (self._own(), others):
            heads = {
                buffer: at
                for buffer in buffers
                if buffer.stem not in done.blocked and (at := self._oldest(buffer)) is not None
            }
            if heads:
                return min(heads, key=lambda buffer: heads[buffer])
        return None

    def _oldest(self, buffer: Buffer) -> int | None:
        try:
            return buffer.oldest(self._url)
        except OSError as error:
            self._context.log.warning("%s cannot be read: %s", buffer.path.name, error.strerror)
            return None

    async def _step(self, buffer: Buffer, deadline: Deadline) -> Step:
        try:
            if not self._take(buffer):
                return Step.BLOCKED
            return await self._sender.step(buffer, deadline)
        except OSError as error:
            self._context.log.warning("%s cannot be written: %s", buffer.path.name, error.strerror)
            return Step.BLOCKED

    async def _server_ready(self, deadline: Deadline) -> bool:
        seconds = self._context.core.health_timeout_ms / 500  # it may ask twice
        await self._health.wait_ready(deadline.within(seconds))
        return self._health.state == "ok" and not self._health.retry_in

    # -- locks -----------------------------------------------------------------------------------

    def _take(self, buffer: Buffer) -> bool:
        """Make sure that nobody else sends from this buffer."""
        if buffer.stem not in self._held and buffer.drain_lock.try_acquire():
            self._held[buffer.stem] = buffer
        return buffer.stem in self._held

    def _release(self, *, everything: bool = False) -> None:
        """Give buffers back; our own only when nothing waits in them, since we live with them."""
        own = {buffer.stem for buffer in self._own()}
        for stem, buffer in [*self._held.items()]:
            if everything or stem not in own or self._oldest(buffer) is None:
                buffer.drain_lock.release()
                del self._held[stem]

    # -- between rounds --------------------------------------------------------------------------

    async def _rest(self, done: _Round, pause: float) -> None:
        """Sleep until there is reason to try again."""
        if done.left_over:
            await asyncio.sleep(0 if done.progressed else self._pacing.after_change)
            return
        failed = done.stopped or not done.blocked.isdisjoint(each.stem for each in self._own())
        # After a failure a new capture would only meet the same failure.
        self._listening = not failed
        if failed:
            self._woken.clear()
        try:
            async with asyncio.timeout(self._seconds(done, pause)):
                await self._woken.wait()
            if failed:
                await asyncio.sleep(self._pacing.after_change)
        except TimeoutError:
            self._context.log.debug("trying again")
        finally:
            self._listening = True

    def _seconds(self, done: _Round, pause: float) -> float | None:
        """Return how long to sleep at most; None where nothing waits."""
        if not done.stopped and not done.blocked:
            return None
        seconds = jittered(pause, self._context.random)
        if done.until:
            due = done.until - self._context.now()
            seconds = min(seconds, max(due, self._pacing.after_change))
        return max(seconds, self._health.retry_in)


def _unhurried() -> Deadline:
    """Return the deadline of a step in the background: each of its requests has its own limit."""
    return Deadline.after(_STEP_SECONDS)

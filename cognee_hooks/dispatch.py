"""Calls hook implementations: guard, deadline, concurrency, wrappers.

Pluggy registers, validates, orders and blocks plugins; this module calls them, because pluggy lets
the first exception end the call, knows no deadline and cannot await. For implementations that
behave, the results are the same as pluggy's, which a property test holds.

What a plugin raises is caught by `cognee_hooks.guard` and ends here, in the fault faults.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import CoroutineType
from typing import Any

import pluggy

from cognee_hooks.deadline import Deadline
from cognee_hooks.faults import Faults, FaultType, innermost
from cognee_hooks.guard import Attempt, Worker, attempt, attempt_await
from cognee_hooks.implementation import Closed, Invocation, Wrapping, close_wrapper, open_wrapper
from cognee_hooks.markers import Kind, Policy
from cognee_hooks.outcomes import Called, Outcome, usable, usable_value, value_of
from cognee_hooks.timings import Timings

Observer = Callable[[str, tuple[Outcome, ...], Called], None]
"""Told after each call: the hook, what those did that wrapped it, outermost first and without a
result, and what it came to."""

GRACE = 0.05
"""Seconds that a cancelled implementation gets to clean up before it is left behind."""
SLOW = 0.005
"""Seconds after which a blocking implementation on the event loop counts as slow."""


class Dispatcher:
    """Calls the hooks of one host.

    Args:
        manager: Where the plugins are registered.
        policies: The policy of each hook by name.
        faults: Where faults are counted.
        inline: Plugins whose blocking functions run on the event loop. Everybody else's run on a
            thread of their own, one a plugin, so that one which hangs can be left behind.
        budgets: Seconds by hook name where a setting overrides the policy.
        clock: Monotonic seconds.

    Attributes:
        budgets: As given; may be changed.
        observe: Whoever wants to be told of each call; must not raise.
        timings: How long each implementation took.
    """

    def __init__(
        self,
        manager: pluggy.PluginManager,
        policies: Mapping[str, Policy],
        faults: Faults,
        *,
        inline: Callable[[str], bool] = lambda _: False,
        budgets: Mapping[str, float] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._manager = manager
        self._policies = policies
        self._faults = faults
        self.timings = Timings()
        self._inline = inline
        self.budgets = dict(budgets or {})
        self._clock = clock
        self.observe: Observer | None = None
        self._workers: dict[str, Worker] = {}
        # An event loop holds its tasks weakly; one that nobody waits for would vanish unfinished.
        self._abandoned: set[asyncio.Task[Outcome]] = set()

    def close(self) -> None:
        """Let the plugins' threads end; never waits."""
        for worker in self._workers.values():
            worker.stop()
        self._workers.clear()

    # -- with an event loop ----------------------------------------------------------------------

    async def call(
        self, hook: str, *, deadline: Deadline | None = None, **arguments: Any
    ) -> Called:
        """Call every implementation of ``hook`` under its policy.

        Args:
            hook: Name of a hook with a policy.
            deadline: The caller's own limit; the hook's budget can only make it earlier.
            **arguments: The spec's arguments; ``deadline`` is added.

        Returns:
            The value and the outcomes. Faults of plugins are in the outcomes and in the faults;
            they are never raised.
        """
        policy = self._policies[hook]
        limit = self._limit(hook, policy, deadline)
        wrappers, plain = self._calls(hook, policy, {**arguments, "deadline": limit})
        # A wrapper that hangs before its yield must leave time for those inside it.
        for wrapper in wrappers:
            opening = partial(open_wrapper, wrapper.call)
            wrapper.generator = await self._half(wrapper, limit.remaining() / 2, opening)
        if policy.kind is Kind.FIRST:
            outcomes = await self._until_answered(plain, limit)
        else:
            outcomes = await self._all(plain, limit, in_order=policy.in_order)
        value = value_of(policy, outcomes)
        for wrapper in reversed(wrappers):
            if wrapper.generator is not None:
                seconds = max(limit.remaining(), GRACE)
                closing = partial(close_wrapper, wrapper.generator, value)
                value = self._accepted(wrapper, await self._half(wrapper, seconds, closing), value)
        return self._done(hook, policy, wrappers, Called(value, tuple(outcomes)))

    async def _until_answered(self, calls: Sequence[Invocation], limit: Deadline) -> list[Outcome]:
        """Ask one after the other; one that hangs leaves time for the next and for the core."""
        outcomes: list[Outcome] = []
        for left, call in zip(range(len(calls), 0, -1), calls, strict=True):
            share = limit.within(limit.remaining() / (left + 1))
            outcomes += await self._all([call], share)
            if outcomes[-1].result is not None:
                break
        return outcomes

    async def _all(
        self, calls: Sequence[Invocation], limit: Deadline, *, in_order: bool = False
    ) -> list[Outcome]:
        """Run all calls until the limit; cancel who is late, leave behind who will not stop.

        In order means that each waits for the one before it, but no longer than its fair share of
        the time: one that hangs is not cut short, and still the others get their turn.
        """
        if not calls:
            return []
        tasks: list[asyncio.Task[Outcome]] = []
        begun: list[float] = []
        try:
            for left, call in zip(range(len(calls), 0, -1), calls, strict=True):
                task = asyncio.create_task(self._run(call), name=call.plugin)
                tasks.append(task)
                begun.append(self._clock())
                if in_order:
                    await asyncio.wait([task], timeout=limit.remaining() / left)
            _, late = await asyncio.wait(tasks, timeout=limit.remaining())
            for task in late:
                task.cancel()
            if late:
                _, stubborn = await asyncio.wait(late, timeout=GRACE)
                self._abandon(stubborn)
        except asyncio.CancelledError:
            unfinished = [task for task in tasks if not task.done()]
            for task in unfinished:
                task.cancel()
            self._abandon(unfinished)
            raise
        return [
            self._late(call, self._clock() - start) if task in late else self._ended(call, task)
            for call, task, start in zip(calls, tasks, begun, strict=True)
        ]

    def _ended(self, call: Invocation, task: asyncio.Task[Outcome]) -> Outcome:
        # A plugin can cancel the task that it runs in, which must not look like our own being
        # cancelled.
        if task.cancelled():
            return self._outcome(call, Attempt(error=asyncio.CancelledError()), 0.0)
        return task.result()

    async def _run(self, call: Invocation) -> Outcome:
        """Run one implementation inside its own task, so that no exception reaches the loop."""
        started = self._clock()
        done = await self._attempt(call, call)
        if done.error is None and attempt(inspect.isawaitable, done.result).result:
            done = await attempt_await(done.result)
        return self._outcome(call, done, self._clock() - started)

    async def _attempt(self, call: Invocation, function: Callable[[], Any]) -> Attempt:
        """Run blocking code where it belongs: on the loop, or on the plugin's thread."""
        if inspect.iscoroutinefunction(call.function):
            return attempt(function)
        if not self._inline(call.plugin):
            return await asyncio.wrap_future(self._worker(call.plugin).submit(function))
        started = self._clock()
        done = attempt(function)
        if isinstance(done.error, KeyboardInterrupt):
            raise done.error
        if self._clock() - started > SLOW:
            self._faults.slow(call.plugin, call.hook)
        return done

    async def _half(self, wrapper: Wrapping, seconds: float, function: Callable[[], Any]) -> Any:
        """Run one half of a wrapper and return what it came to, or None after a fault."""
        started = self._clock()
        done = None
        try:
            async with asyncio.timeout(seconds):
                done = await self._attempt(wrapper.call, function)
        except TimeoutError:
            pass  # told apart by `done`
        wrapper.seconds += self._clock() - started
        return self._judged(wrapper, done)

    # -- without an event loop -------------------------------------------------------------------

    def call_blocking(self, hook: str, **arguments: Any) -> Called:
        """Call a hook where no event loop runs: registration at start.

        Each implementation gets the hook's budget; one that returns an awaitable is a fault.
        """
        policy = self._policies[hook]
        wrappers, plain = self._calls(hook, policy, arguments)
        for wrapper in wrappers:
            wrapper.generator = self._half_blocking(wrapper, partial(open_wrapper, wrapper.call))
        outcomes: list[Outcome] = []
        for call in plain:
            started = self._clock()
            done = self._attempt_blocking(call, call)
            seconds = self._clock() - started
            outcomes.append(
                self._late(call, seconds) if done is None else self._outcome(call, done, seconds)
            )
            if policy.kind is Kind.FIRST and outcomes[-1].result is not None:
                break
        value = value_of(policy, outcomes)
        for wrapper in reversed(wrappers):
            if wrapper.generator is not None:
                closing = partial(close_wrapper, wrapper.generator, value)
                value = self._accepted(wrapper, self._half_blocking(wrapper, closing), value)
        return self._done(hook, policy, wrappers, Called(value, tuple(outcomes)))

    def _half_blocking(self, wrapper: Wrapping, function: Callable[[], Any]) -> Any:
        started = self._clock()
        done = self._attempt_blocking(wrapper.call, function)
        wrapper.seconds += self._clock() - started
        return self._judged(wrapper, done)

    def _attempt_blocking(self, call: Invocation, function: Callable[[], Any]) -> Attempt | None:
        if self._inline(call.plugin):
            done = attempt(function)
            if isinstance(done.error, KeyboardInterrupt):
                raise done.error
            return done
        future = self._worker(call.plugin).submit(function)
        try:
            return future.result(self._budget(call.hook, call.policy))
        except TimeoutError:
            return None

    # -- judging ---------------------------------------------------------------------------------

    def _outcome(self, call: Invocation, done: Attempt, seconds: float) -> Outcome:
        if done.error is not None:
            return Outcome(call.plugin, None, seconds, self._fault(call, done.error))
        if not usable(call.policy, done.result):
            if type(done.result) is CoroutineType:
                done.result.close()
            returned = f"returned {type(done.result).__name__}"
            self._faults.record(call.plugin, call.hook, FaultType.RUBBISH, returned)
            return Outcome(call.plugin, None, seconds, FaultType.RUBBISH)
        self._faults.success(call.plugin, call.hook)
        return Outcome(call.plugin, done.result, seconds)

    def _judged(self, wrapper: Wrapping, done: Attempt | None) -> Any:
        if done is None:
            wrapper.fault = self._late(wrapper.call, wrapper.seconds).fault
            return None
        if done.error is not None:
            wrapper.fault = self._fault(wrapper.call, done.error)
            return None
        return done.result

    def _accepted(self, wrapper: Wrapping, closing: Closed | None, inner: Any) -> Any:
        """Return what a wrapper made of the result, or the inner result where that is unusable."""
        if closing is None:
            return inner
        call, offered = wrapper.call, closing.value
        if offered is None and call.policy.kind is Kind.NOTIFY:
            # Nobody looks at these results, so a wrapper need not pass them on.
            offered = inner
        if not usable_value(call.policy, offered):
            wrapper.fault = FaultType.WRAPPER
            self._faults.record(call.plugin, call.hook, FaultType.WRAPPER)
            return inner
        self._faults.success(call.plugin, call.hook)
        return offered if call.policy.kind is Kind.FIRST else list(offered)

    def _fault(self, call: Invocation, error: BaseException) -> str:
        fault = type(error).__name__
        self._faults.record(call.plugin, call.hook, fault, innermost(error.__traceback__))
        return fault

    def _late(self, call: Invocation, seconds: float) -> Outcome:
        self._faults.record(call.plugin, call.hook, FaultType.TIMEOUT)
        return Outcome(call.plugin, None, seconds, FaultType.TIMEOUT)

    # -- small things ----------------------------------------------------------------------------

    def _done(
        self, hook: str, policy: Policy, wrappers: Sequence[Wrapping], called: Called
    ) -> Called:
        around = tuple(wrapper.outcome for wrapper in wrappers)
        budget = self._budget(hook, policy)
        for each in (*around, *called.outcomes):
            self.timings.add(each.plugin, hook, each.seconds, budget)
        if self.observe is not None:
            self.observe(hook, around, called)
        return called

    def _abandon(self, tasks: Sequence[asyncio.Task[Outcome]] | set[asyncio.Task[Outcome]]) -> None:
        for task in tasks:
            self._abandoned.add(task)
            task.add_done_callback(self._abandoned.discard)

    def _worker(self, plugin: str) -> Worker:
        if plugin not in self._workers:
            self._workers[plugin] = Worker(plugin)
        return self._workers[plugin]

    def _limit(self, hook: str, policy: Policy, deadline: Deadline | None) -> Deadline:
        budget = self._budget(hook, policy)
        if deadline is None:
            return Deadline.after(budget, self._clock)
        return deadline.within(budget)

    def _budget(self, hook: str, policy: Policy) -> float:
        return self.budgets.get(hook, policy.budget)

    def _calls(
        self, hook: str, policy: Policy, arguments: Mapping[str, Any]
    ) -> tuple[list[Wrapping], list[Invocation]]:
        """Return wrappers, outermost first, and the other implementations in call order."""
        caller: pluggy.HookCaller = getattr(self._manager.hook, hook)
        wrappers: list[Wrapping] = []
        plain: list[Invocation] = []
        for each in reversed(caller.get_hookimpls()):
            if not self._faults.is_quarantined(each.plugin_name, hook):
                values = tuple(arguments[name] for name in each.argnames)
                call = Invocation(hook, policy, each.plugin_name, each.function, values)
                if each.wrapper:
                    wrappers.append(Wrapping(call))
                else:
                    plain.append(call)
        return wrappers, plain

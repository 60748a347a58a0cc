"""Calls hook implementations: guard, deadline, concurrency, wrappers.

Pluggy registers, validates, orders and blocks plugins; this module calls them, because pluggy lets
the first exception end the call, knows no deadline and cannot await. For implementations that
behave, the results are the same as pluggy's, which a property test holds.

What a plugin raises is caught by `cognee_hooks.guard` and ends here, in the fault ledger.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import time
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pluggy

from cognee_hooks.deadline import Deadline
from cognee_hooks.faults import FaultLedger, FaultType, innermost
from cognee_hooks.guard import Attempt, Worker, attempt, attempt_await
from cognee_hooks.markers import Kind, Policy

GRACE = 0.05
"""Seconds that a cancelled implementation gets to clean up before it is left behind."""
SLOW = 0.005
"""Seconds after which a blocking implementation on the event loop counts as slow."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one implementation did in one call.

    Attributes:
        plugin: Registered name.
        result: What it returned; None on a fault.
        seconds: Wall time.
        fault: Exception type name, a `FaultType`, or "" where all went well.
    """

    plugin: str
    result: Any = None
    seconds: float = 0.0
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Called:
    """What one call of a hook came to.

    Attributes:
        value: As from pluggy: the list of results that are not None, or the first of them for a
            first-result hook.
        outcomes: One for each implementation that was called, in call order.
    """

    value: Any
    outcomes: tuple[Outcome, ...]


@dataclass(slots=True)
class _Open:
    """A wrapper that waits at its yield."""

    implementation: pluggy.HookImpl
    generator: Generator[None, Any, Any]


class Dispatcher:
    """Calls the hooks of one host.

    Args:
        manager: Where the plugins are registered.
        policies: The policy of each hook by name.
        ledger: Where faults are counted.
        inline: Plugins whose blocking functions run on the event loop. Everybody else's run on a
            thread of their own, one a plugin, so that one which hangs can be left behind.
        budgets: Seconds by hook name where a setting overrides the policy.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        manager: pluggy.PluginManager,
        policies: Mapping[str, Policy],
        ledger: FaultLedger,
        *,
        inline: Callable[[str], bool] = lambda _: False,
        budgets: Mapping[str, float] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._manager = manager
        self._policies = policies
        self._ledger = ledger
        self._inline = inline
        self._budgets = budgets or {}
        self._clock = clock
        self._workers: dict[str, Worker] = {}
        self._abandoned: set[asyncio.Task[Outcome]] = set()

    @property
    def abandoned(self) -> int:
        """How many implementations still run although nobody waits for them any more."""
        return len(self._abandoned)

    def close(self) -> None:
        """Let the plugins' threads end; never waits."""
        for worker in self._workers.values():
            worker.stop()
        self._workers.clear()

    # -- calls -----------------------------------------------------------------------------------

    async def call(
        self, hook: str, *, deadline: Deadline | None = None, **arguments: Any
    ) -> Called:
        """Call every implementation of ``hook`` under its policy.

        Args:
            hook: Name of a hook with a policy.
            deadline: The caller's own limit; the hook's budget can only make it earlier.
            **arguments: The spec's arguments; ``deadline`` is added.

        Returns:
            The value and the outcomes. Plugin faults are in the outcomes and in the ledger; they are
            never raised.
        """
        policy = self._policies[hook]
        limit = self._limit(hook, policy, deadline)
        arguments["deadline"] = limit
        wrappers, plain = self._implementations(hook)
        opened = [
            opening for wrapper in wrappers if (opening := await self._open(wrapper, arguments))
        ]
        if policy.kind is Kind.FIRST or policy.in_order:
            outcomes = await self._one_by_one(plain, policy, arguments, limit)
        else:
            outcomes = await self._together(plain, policy, arguments, limit)
        value = self._value(policy, outcomes)
        for opening in reversed(opened):
            value = await self._shut(opening, policy, value)
        return Called(value, tuple(outcomes))

    def call_blocking(self, hook: str, **arguments: Any) -> Called:
        """Call a hook without an event loop: registration at start, and nothing else that awaits.

        Each implementation gets the hook's budget; one that returns an awaitable is a fault.
        """
        policy = self._policies[hook]
        wrappers, plain = self._implementations(hook)
        opened = []
        for wrapper in wrappers:
            started = self._wait(wrapper, policy, lambda w=wrapper: _started(w, arguments))
            if isinstance(started, _Open):
                opened.append(started)
        outcomes: list[Outcome] = []
        for implementation in plain:
            outcomes.append(self._blocking_outcome(implementation, policy, arguments))
            if policy.kind is Kind.FIRST and outcomes[-1].result is not None:
                break
        value = self._value(policy, outcomes)
        for opening in reversed(opened):
            inner = value
            ended = self._wait(
                opening.implementation, policy, lambda o=opening, v=inner: _ended(o, v)
            )
            value = self._accepted(opening.implementation, policy, ended, value)
        return Called(value, tuple(outcomes))

    # -- strategies ------------------------------------------------------------------------------

    async def _together(
        self,
        implementations: Sequence[pluggy.HookImpl],
        policy: Policy,
        arguments: Mapping[str, Any],
        limit: Deadline,
    ) -> list[Outcome]:
        tasks = [
            self._task(self._run(each, policy, arguments), each.plugin_name)
            for each in implementations
        ]
        hooks = [each.hook_name for each in implementations]
        return await self._gather(tasks, hooks, limit)

    async def _one_by_one(
        self,
        implementations: Sequence[pluggy.HookImpl],
        policy: Policy,
        arguments: Mapping[str, Any],
        limit: Deadline,
    ) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for each in implementations:
            if limit.expired:
                break
            outcomes += await self._together([each], policy, arguments, limit)
            if policy.kind is Kind.FIRST and outcomes[-1].result is not None:
                break
        return outcomes

    async def _gather(
        self, tasks: Sequence[asyncio.Task[Outcome]], hooks: Sequence[str], limit: Deadline
    ) -> list[Outcome]:
        """Wait until the limit, cancel who is late, and leave behind who will not be cancelled."""
        if not tasks:
            return []
        try:
            _, late = await asyncio.wait(tasks, timeout=limit.remaining())
            for task in late:
                task.cancel()
            if late:
                _, stubborn = await asyncio.wait(late, timeout=GRACE)
                for task in stubborn:
                    self._abandon(task)
        except asyncio.CancelledError:
            for task in tasks:
                if not task.done():
                    task.cancel()
                    self._abandon(task)
            raise
        return [
            self._late(task.get_name(), hook) if task in late or task.cancelled() else task.result()
            for task, hook in zip(tasks, hooks, strict=True)
        ]

    def _abandon(self, task: asyncio.Task[Outcome]) -> None:
        self._abandoned.add(task)
        task.add_done_callback(self._abandoned.discard)

    def _late(self, plugin: str, hook: str) -> Outcome:
        self._ledger.record(plugin, hook, FaultType.TIMEOUT)
        return Outcome(plugin, fault=FaultType.TIMEOUT)

    # -- one implementation ----------------------------------------------------------------------

    @staticmethod
    def _task(
        coroutine: Coroutine[Any, Any, Outcome], plugin: str
    ) -> asyncio.Task[Outcome]:
        return asyncio.get_running_loop().create_task(coroutine, name=plugin)

    async def _run(
        self, implementation: pluggy.HookImpl, policy: Policy, arguments: Mapping[str, Any]
    ) -> Outcome:
        """Run one implementation inside its own task, so that no exception reaches the loop."""
        plugin = implementation.plugin_name
        started = self._clock()
        done = await self._attempt(implementation, lambda: _invoke(implementation, arguments))
        if done.error is None and inspect.isawaitable(done.result):
            done = await attempt_await(done.result)
        return self._outcome(implementation, policy, done, self._clock() - started, plugin)

    async def _attempt(
        self, implementation: pluggy.HookImpl, function: Callable[[], Any]
    ) -> Attempt:
        """Run blocking code of a plugin where it belongs: on the loop, or on the plugin's thread."""
        plugin = implementation.plugin_name
        if inspect.iscoroutinefunction(implementation.function):
            return attempt(function)
        if self._inline(plugin):
            started = self._clock()
            done = attempt(function)
            if self._clock() - started > SLOW:
                self._ledger.slow(plugin, implementation.hook_name)
            if isinstance(done.error, KeyboardInterrupt):
                raise done.error
            return done
        context = contextvars.copy_context()
        return await asyncio.wrap_future(self._worker(plugin).submit(context.run, function))

    def _outcome(
        self,
        implementation: pluggy.HookImpl,
        policy: Policy,
        done: Attempt,
        seconds: float,
        plugin: str,
    ) -> Outcome:
        hook = implementation.hook_name
        if done.error is not None:
            fault = type(done.error).__name__
            self._ledger.record(plugin, hook, fault, innermost(done.error.__traceback__))
            return Outcome(plugin, None, seconds, fault)
        if not _acceptable(policy, done.result):
            _discard(done.result)
            returned = f"returned {type(done.result).__name__}"
            self._ledger.record(plugin, hook, FaultType.RUBBISH, returned)
            return Outcome(plugin, None, seconds, FaultType.RUBBISH)
        self._ledger.success(plugin, hook)
        return Outcome(plugin, done.result, seconds)

    # -- wrappers --------------------------------------------------------------------------------

    async def _open(
        self, implementation: pluggy.HookImpl, arguments: Mapping[str, Any]
    ) -> _Open | None:
        done = await self._bounded(implementation, lambda: _started(implementation, arguments))
        return done if isinstance(done, _Open) else None

    async def _shut(self, opening: _Open, policy: Policy, value: Any) -> Any:
        done = await self._bounded(opening.implementation, lambda: _ended(opening, value))
        return self._accepted(opening.implementation, policy, done, value)

    async def _bounded(self, implementation: pluggy.HookImpl, function: Callable[[], Any]) -> Any:
        """Run one half of a wrapper; returns what it came to, or `_FAILED` after a fault."""
        try:
            async with asyncio.timeout(GRACE):
                done = await self._attempt(implementation, function)
        except TimeoutError:
            self._late(implementation.plugin_name, implementation.hook_name)
            return _FAILED
        return self._judged(implementation, done)

    def _judged(self, implementation: pluggy.HookImpl, done: Attempt) -> Any:
        if done.error is None:
            return done.result
        self._ledger.record(
            implementation.plugin_name,
            implementation.hook_name,
            type(done.error).__name__,
            innermost(done.error.__traceback__),
        )
        return _FAILED

    def _accepted(
        self, implementation: pluggy.HookImpl, policy: Policy, offered: Any, inner: Any
    ) -> Any:
        """Return what a wrapper made of the result, or the inner result where that is unusable."""
        if offered is _FAILED:
            return inner
        whole = offered if policy.kind is Kind.FIRST else list(offered) if _many(offered) else None
        usable = whole is not None or policy.kind is Kind.FIRST
        if not usable or not _acceptable(policy, whole):
            self._ledger.record(
                implementation.plugin_name, implementation.hook_name, FaultType.WRAPPER
            )
            return inner
        return whole

    # -- without a loop --------------------------------------------------------------------------

    def _blocking_outcome(
        self, implementation: pluggy.HookImpl, policy: Policy, arguments: Mapping[str, Any]
    ) -> Outcome:
        started = self._clock()
        done = self._waited(implementation, policy, lambda: _invoke(implementation, arguments))
        if done is None:
            return self._late(implementation.plugin_name, implementation.hook_name)
        seconds = self._clock() - started
        return self._outcome(implementation, policy, done, seconds, implementation.plugin_name)

    def _wait(
        self, implementation: pluggy.HookImpl, policy: Policy, function: Callable[[], Any]
    ) -> Any:
        done = self._waited(implementation, policy, function)
        if done is None:
            self._late(implementation.plugin_name, implementation.hook_name)
            return _FAILED
        return self._judged(implementation, done)

    def _waited(
        self, implementation: pluggy.HookImpl, policy: Policy, function: Callable[[], Any]
    ) -> Attempt | None:
        if self._inline(implementation.plugin_name):
            return attempt(function)
        future = self._worker(implementation.plugin_name).submit(function)
        try:
            return future.result(policy.budget)
        except TimeoutError:
            return None

    # -- small things ----------------------------------------------------------------------------

    def _worker(self, plugin: str) -> Worker:
        if plugin not in self._workers:
            self._workers[plugin] = Worker(plugin)
        return self._workers[plugin]

    def _limit(self, hook: str, policy: Policy, deadline: Deadline | None) -> Deadline:
        budget = self._budgets.get(hook, policy.budget)
        if deadline is None:
            return Deadline.after(budget, self._clock)
        return deadline.within(budget)

    def _implementations(
        self, hook: str
    ) -> tuple[list[pluggy.HookImpl], list[pluggy.HookImpl]]:
        """Return wrappers, outermost first, and the others in call order."""
        caller: pluggy.HookCaller = getattr(self._manager.hook, hook)
        active = [
            each
            for each in reversed(caller.get_hookimpls())
            if not self._ledger.is_quarantined(each.plugin_name, hook)
        ]
        return [e for e in active if e.wrapper], [e for e in active if not e.wrapper]

    @staticmethod
    def _value(policy: Policy, outcomes: Sequence[Outcome]) -> Any:
        results = [outcome.result for outcome in outcomes if outcome.result is not None]
        if policy.kind is Kind.FIRST:
            return results[0] if results else None
        return results


_FAILED = object()


def _invoke(implementation: pluggy.HookImpl, arguments: Mapping[str, Any]) -> Any:
    return implementation.function(*(arguments[name] for name in implementation.argnames))


def _started(implementation: pluggy.HookImpl, arguments: Mapping[str, Any]) -> _Open:
    generator = _invoke(implementation, arguments)
    next(generator)
    return _Open(implementation, generator)


def _ended(opening: _Open, value: Any) -> Any:
    try:
        opening.generator.send(value)
    except StopIteration as stop:
        return stop.value
    opening.generator.close()
    raise RuntimeError("a wrapper has one yield, this one has a second")


def _many(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _acceptable(policy: Policy, result: Any) -> bool:
    """Whether a result is of the hook's type: one value, or for gathering kinds a list of them."""
    if inspect.isawaitable(result) or inspect.isasyncgen(result):
        return False
    if policy.result is None or result is None:
        return True
    if isinstance(result, policy.result):
        return True
    if policy.kind is Kind.FIRST:
        return False
    return _many(result) and all(_acceptable(policy, each) for each in result)


def _discard(result: Any) -> None:
    """Close a coroutine that nobody will await, so that the interpreter does not complain."""
    if inspect.iscoroutine(result):
        result.close()

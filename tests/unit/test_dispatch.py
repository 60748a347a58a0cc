"""How the dispatcher treats plugins that do not behave."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.dispatch import Dispatcher
from cognee_hooks.faults import QUARANTINE_AFTER, Faults, FaultType
from cognee_hooks.markers import Kind, hookimpl, hookspec
from tests.support import plugins as hostile
from tests.support.plugins import dispatcher_of, faults_of, plugin
from tests.support.waiting import PATIENCE, turns, until

BUDGET = 1.5
"""Seconds; enough for plugins that behave, whatever else the machine does."""
LONG = {"told": 30.0, "gathered": 30.0, "asked": 30.0, "registered": 30.0}
"""Budgets for what is not about time."""
FOREVER = {"gathered": 1e9, "registered": 1e9}
"""Budgets on a clock that tells no time."""

pytestmark = pytest.mark.expects_faults


@hookspec(Kind.NOTIFY, budget=BUDGET, on_fault="skipped")
def told(deadline: Deadline) -> Any: ...


@hookspec(Kind.COLLECT, budget=BUDGET, on_fault="skipped", result=int)
def gathered(deadline: Deadline) -> Any: ...


@hookspec(Kind.FIRST, budget=BUDGET, on_fault="skipped", result=int)
def asked(deadline: Deadline) -> Any: ...


@hookspec(Kind.NOTIFY, budget=BUDGET, on_fault="skipped", in_order=True)
def ended(deadline: Deadline) -> Any: ...


@hookspec(Kind.REGISTER, budget=BUDGET, on_fault="refused", result=int)
def registered() -> Any: ...


SPECS = SimpleNamespace(
    told=told, gathered=gathered, asked=asked, ended=ended, registered=registered
)
MakeDispatcher = Callable[..., tuple[Dispatcher, Faults]]


@pytest.fixture
def make() -> Iterator[MakeDispatcher]:
    made: list[Dispatcher] = []

    def build(options: dict[str, Any] | None = None, **plugins: object) -> Any:
        pair = dispatcher_of(SPECS, plugins, **(options or {}))
        made.append(pair[0])
        return pair

    yield build
    for dispatcher in made:
        dispatcher.close()


def one() -> int:
    return 1


def two() -> int:
    return 2


def inline(_: str) -> bool:
    return True


# -- isolation -----------------------------------------------------------------------------------


@pytest.mark.parametrize("hook", ["gathered", "asked", "told", "ended"])
@pytest.mark.parametrize("behaviour", hostile.HOSTILE)
async def test_a_hostile_plugin_costs_the_others_nothing(make, hook, behaviour):
    dispatcher, faults = make(
        good=plugin(**{hook: one}), bad=plugin(**{hook: hostile.fresh(behaviour)})
    )
    started = time.monotonic()
    called = await dispatcher.call(hook)
    assert time.monotonic() - started < hostile.BLOCKED
    results = {outcome.plugin: outcome for outcome in called.outcomes}
    assert results["good"].result == 1
    assert not results["good"].fault
    if hook in {"gathered", "asked"}:
        assert called.value == ([1] if hook == "gathered" else 1)
        assert results["bad"].fault
        assert {row.plugin for row in faults.rows()} == {"bad"}


@pytest.mark.parametrize(
    ("behaviour", "fault"),
    [
        ("raises", "ValueError"),
        ("exits", "SystemExit"),
        ("blocks", FaultType.TIMEOUT),
        ("sleeps", FaultType.TIMEOUT),
        ("swallows", FaultType.TIMEOUT),
        ("returns_lying", FaultType.RUBBISH),
        ("returns_nested", FaultType.RUBBISH),
        ("cancels_itself", "CancelledError"),
    ],
)
async def test_faults_are_named_by_what_happened(make, behaviour, fault):
    dispatcher, faults = make(bad=plugin(gathered=hostile.fresh(behaviour)))
    called = await dispatcher.call("gathered")
    assert called.value == []
    assert called.outcomes[0].fault == fault
    assert list(faults_of(faults)) == [("bad", fault)]


async def test_a_leaked_cancelled_error_is_a_fault_and_not_our_cancellation(make):
    async def leaks() -> None:
        raise asyncio.CancelledError

    dispatcher, _ = make(bad=plugin(gathered=leaks), good=plugin(gathered=one))
    called = await dispatcher.call("gathered")
    assert called.value == [1]
    assert called.outcomes[1].fault == "CancelledError"


@pytest.mark.parametrize("blocking", [False, True])
def test_ctrl_c_inside_a_function_on_the_loop_ends_the_program(make, blocking):
    def interrupted() -> None:
        raise KeyboardInterrupt

    dispatcher, _ = make({"inline": inline}, bad=plugin(registered=interrupted, told=interrupted))

    def call() -> None:
        if blocking:
            dispatcher.call_blocking("registered")
        else:
            asyncio.run(dispatcher.call("told"))

    with pytest.raises(KeyboardInterrupt):
        call()


def test_ctrl_c_inside_a_coroutine_ends_the_program(make):
    async def interrupted() -> None:
        raise KeyboardInterrupt

    dispatcher, _ = make(bad=plugin(told=interrupted))
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(dispatcher.call("told"))


async def test_a_coroutine_of_a_first_hook_is_judged_by_its_result(make):
    async def nothing() -> None:
        return None

    async def late_answer() -> int:
        await asyncio.sleep(0)
        return 7

    dispatcher, _ = make(
        last=plugin(asked=one), answers=plugin(asked=late_answer), silent=plugin(asked=nothing)
    )
    called = await dispatcher.call("asked")
    assert called.value == 7
    assert [outcome.plugin for outcome in called.outcomes] == ["silent", "answers"]


async def test_an_async_generator_is_rubbish(make):
    async def generates() -> Any:
        yield 1

    dispatcher, _ = make(bad=plugin(gathered=generates))
    called = await dispatcher.call("gathered")
    assert called.outcomes[0].fault == FaultType.RUBBISH


@pytest.mark.parametrize("rubbish", ["text", 1.5, {"a": 1}, [1, "two"], [None], ["x"], object()])
async def test_results_of_another_type_are_rubbish(make, rubbish):
    dispatcher, _ = make(bad=plugin(gathered=lambda: rubbish, asked=lambda: rubbish))
    assert (await dispatcher.call("gathered")).value == []
    assert (await dispatcher.call("asked")).value is None


async def test_a_list_is_for_gathering_hooks_only(make):
    dispatcher, _ = make(lists=plugin(gathered=lambda: [1, 2], asked=lambda: [1, 2]))
    assert (await dispatcher.call("gathered")).value == [[1, 2]]
    assert (await dispatcher.call("asked")).outcomes[0].fault == FaultType.RUBBISH


async def test_results_come_in_plugin_order_however_long_each_takes(make):
    async def slow() -> int:
        await asyncio.sleep(0.05)
        return 1

    dispatcher, _ = make({"budgets": LONG}, last=plugin(gathered=two), first=plugin(gathered=slow))
    assert (await dispatcher.call("gathered")).value == [1, 2]


async def test_an_awaitable_of_a_plain_function_is_awaited(make):
    async def later() -> int:
        return 5

    def plain() -> Any:
        return later()

    dispatcher, _ = make(plain=plugin(gathered=plain))
    assert (await dispatcher.call("gathered")).value == [5]


async def test_no_implementation_is_no_result(make):
    dispatcher, _ = make()
    assert (await dispatcher.call("gathered")).value == []
    assert (await dispatcher.call("asked")).value is None
    assert dispatcher.call_blocking("registered").value == []


# -- time ----------------------------------------------------------------------------------------


async def test_one_that_swallows_its_cancellation_is_left_behind_and_counted(make):
    ended = asyncio.Event()

    async def stubborn() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(hostile.HANG)
        await ended.wait()

    dispatcher, _ = make(good=plugin(gathered=one), bad=plugin(gathered=stubborn))
    called = await dispatcher.call("gathered")
    assert called.value == [1]
    assert len(dispatcher._abandoned) == 1
    ended.set()
    await until(lambda: not dispatcher._abandoned)


async def test_a_blocking_plugin_runs_on_a_thread_of_its_own(make):
    def where() -> int:
        return threading.get_ident()

    dispatcher, _ = make(
        {"budgets": LONG}, other=plugin(gathered=where), one=plugin(gathered=where)
    )
    idents = (await dispatcher.call("gathered")).value
    assert len({*idents, threading.get_ident()}) == 3
    assert (await dispatcher.call("gathered")).value == idents


async def test_the_deadline_is_absolute_and_shared(make):
    seen: list[Deadline] = []

    async def notes(deadline: Deadline) -> None:
        seen.append(deadline)

    dispatcher, _ = make(a=plugin(told=notes), b=plugin(told=notes))
    before = time.monotonic()
    await dispatcher.call("told")
    assert seen[0] is seen[1]
    assert before <= seen[0].at - BUDGET <= time.monotonic()


async def test_a_caller_can_only_make_the_deadline_earlier(make):
    seen: list[float] = []

    async def notes(deadline: Deadline) -> None:
        seen.append(deadline.remaining())

    dispatcher, _ = make(a=plugin(told=notes))
    await dispatcher.call("told", deadline=Deadline.after(100))
    await dispatcher.call("told", deadline=Deadline.after(0.5))
    assert seen[0] <= BUDGET
    assert seen[1] <= 0.5


@pytest.mark.parametrize("hook", ["told", "registered"])
def test_a_setting_overrides_the_budget(make, hook):
    dispatcher, _ = make({"budgets": LONG | {hook: 0.02}}, bad=plugin(**{hook: hostile_block}))
    started = time.monotonic()
    if hook == "told":
        asyncio.run(dispatcher.call(hook))
    else:
        dispatcher.call_blocking(hook)
    assert time.monotonic() - started < hostile.BLOCKED


def hostile_block() -> None:
    hostile.blocks()


async def test_implementations_in_order_wait_for_each_other(make):
    order: list[str] = []

    def notes(name: str) -> Any:
        async def note() -> None:
            order.append(f"{name} begins")
            await asyncio.sleep(0.02)
            order.append(f"{name} ends")

        return note

    dispatcher, _ = make(
        {"budgets": {"ended": 30.0}}, b=plugin(ended=notes("b")), a=plugin(ended=notes("a"))
    )
    await dispatcher.call("ended")
    assert order == ["a begins", "a ends", "b begins", "b ends"]


async def test_one_in_order_that_is_slow_keeps_its_time_while_the_next_begins(make):
    async def slow() -> int:
        await asyncio.sleep(1.7)  # more than its fair share
        return 1

    dispatcher, _ = make(
        {"budgets": {"ended": 3.0}}, last=plugin(ended=two), first=plugin(ended=slow)
    )
    assert (await dispatcher.call("ended")).value == [1, 2]


async def test_our_own_cancellation_passes_and_leaves_no_task_running(make):
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def patient() -> None:
        begun.set()
        try:
            await asyncio.sleep(hostile.HANG)
        finally:
            stopped.set()

    dispatcher, faults = make({"budgets": LONG}, a=plugin(told=patient))
    call = asyncio.create_task(dispatcher.call("told"))
    await asyncio.wait_for(begun.wait(), PATIENCE)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await asyncio.wait_for(stopped.wait(), PATIENCE)
    await turns()
    assert not dispatcher._abandoned
    assert faults.rows() == []
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_context_variables_reach_threads_and_tasks(make):
    variable: contextvars.ContextVar[int] = contextvars.ContextVar("variable", default=0)

    async def on_loop() -> int:
        return variable.get()

    def on_thread() -> int:
        return variable.get()

    dispatcher, _ = make(
        {"budgets": LONG}, a=plugin(gathered=on_thread), b=plugin(gathered=on_loop)
    )
    variable.set(9)
    assert (await dispatcher.call("gathered")).value == [9, 9]


def own_ident() -> int:
    return threading.get_ident()


async def test_threads_end_when_the_dispatcher_closes(make):
    dispatcher, _ = make({"budgets": LONG}, a=plugin(gathered=own_ident))
    [ident] = (await dispatcher.call("gathered")).value
    [thread] = [each for each in threading.enumerate() if each.ident == ident]
    dispatcher.close()
    await asyncio.to_thread(thread.join, PATIENCE)
    assert not thread.is_alive()


@pytest.mark.parametrize("seconds", [0.0, 0.02])
async def test_a_built_in_that_holds_up_the_loop_is_noted_as_slow(make, seconds):
    now = [0.0]

    def takes() -> None:
        now[0] += seconds

    dispatcher, faults = make(
        {"inline": inline, "clock": lambda: now[0], "budgets": LONG}, a=plugin(told=takes)
    )
    await dispatcher.call("told")
    assert [row.error_type for row in faults.rows()] == ([FaultType.SLOW] if seconds else [])


# -- quarantine ----------------------------------------------------------------------------------


async def test_the_fifth_fault_in_a_row_ends_the_calls(make):
    calls: list[int] = []

    async def broken() -> None:
        calls.append(1)
        raise ValueError

    dispatcher, faults = make(bad=plugin(gathered=broken), good=plugin(gathered=one))
    for _ in range(QUARANTINE_AFTER + 3):
        assert (await dispatcher.call("gathered")).value == [1]
    assert len(calls) == QUARANTINE_AFTER
    assert faults.is_quarantined("bad", "gathered")


async def test_a_success_ends_a_row_of_faults(make):
    calls: list[int] = []

    async def mostly_broken() -> int:
        calls.append(1)
        if len(calls) % QUARANTINE_AFTER:
            raise ValueError
        return 1

    dispatcher, faults = make(bad=plugin(gathered=mostly_broken))
    for _ in range(4 * QUARANTINE_AFTER):
        await dispatcher.call("gathered")
    assert len(calls) == 4 * QUARANTINE_AFTER
    assert not faults.is_quarantined("bad", "gathered")


async def test_a_success_of_a_wrapper_ends_a_row_of_faults_too(make):
    calls: list[int] = []

    def mostly_broken() -> Any:
        value = yield
        calls.append(1)
        if len(calls) % QUARANTINE_AFTER:
            raise ValueError
        return value

    dispatcher, faults = make(bad=plugin(gathered=hookimpl(wrapper=True)(mostly_broken)))
    for _ in range(3 * QUARANTINE_AFTER):
        await dispatcher.call("gathered")
    assert not faults.is_quarantined("bad", "gathered")


# -- wrappers ------------------------------------------------------------------------------------


def before() -> Any:
    raise ValueError
    yield


def after() -> Any:
    yield
    raise ValueError


def twice() -> Any:
    yield
    yield


def never() -> Any:
    if False:
        yield
    return 1


def rubbish() -> Any:
    yield
    return "rubbish"


def lost() -> Any:
    yield
    return [None, [[3]]]


def hangs_before() -> Any:
    hostile.blocks()
    yield


def hangs_after() -> Any:
    value = yield
    hostile.blocks()
    return value


@pytest.mark.parametrize(
    "wrapper",
    [before, after, twice, never, rubbish, lost, hangs_before, hangs_after],
    ids=lambda each: each.__name__,
)
@pytest.mark.parametrize("hook", ["gathered", "asked"])
async def test_a_wrapper_that_fails_leaves_the_inner_result_standing(make, wrapper, hook):
    dispatcher, faults = make(
        good=plugin(**{hook: one}), bad=plugin(**{hook: hookimpl(wrapper=True)(wrapper)})
    )
    started = time.monotonic()
    called = await dispatcher.call(hook)
    assert time.monotonic() - started < hostile.BLOCKED
    assert called.value == ([1] if hook == "gathered" else 1)
    assert {row.plugin for row in faults.rows()} == {"bad"}


@pytest.mark.parametrize("wrapper", [before, after, twice, never, rubbish, hangs_before])
def test_the_same_holds_without_a_loop(make, wrapper):
    dispatcher, faults = make(
        good=plugin(registered=one), bad=plugin(registered=hookimpl(wrapper=True)(wrapper))
    )
    assert dispatcher.call_blocking("registered").value == [1]
    assert {row.plugin for row in faults.rows()} == {"bad"}


async def test_a_wrapper_of_a_notification_need_not_pass_the_results_on(make):
    def silent() -> Any:
        yield

    dispatcher, faults = make(a=plugin(told=one), b=plugin(told=hookimpl(wrapper=True)(silent)))
    assert (await dispatcher.call("told")).value == [1]
    assert faults.rows() == []


# -- without a loop ------------------------------------------------------------------------------


def leaves() -> None:
    hostile.exits()


def test_without_a_loop_faults_are_contained_too(make):
    async def needs_a_loop() -> int:
        return 1

    dispatcher, faults = make(
        good=plugin(registered=one),
        waits=plugin(registered=needs_a_loop),
        hangs=plugin(registered=hostile_block),
        exits=plugin(registered=leaves),
    )
    assert dispatcher.call_blocking("registered").value == [1]
    assert dict(faults_of(faults)) == {
        "waits": FaultType.RUBBISH,
        "hangs": FaultType.TIMEOUT,
        "exits": "SystemExit",
    }


def test_without_a_loop_built_ins_run_in_place_and_the_first_answer_counts(make):
    idents: list[int] = []

    def note() -> int:
        idents.append(threading.get_ident())
        return 4

    dispatcher, _ = make({"inline": inline}, a=plugin(registered=note))
    assert dispatcher.call_blocking("registered").value == [4]
    assert idents == [threading.get_ident()]


# -- who looks on --------------------------------------------------------------------------------


@pytest.mark.parametrize("blocking", [False, True])
async def test_an_observer_is_told_of_each_call_with_its_wrappers_and_outcomes(make, blocking):
    def around(deadline: Deadline) -> Any:
        return (yield)

    def registering() -> Any:
        return (yield)

    dispatcher, _ = make(
        plain=plugin(gathered=lambda: 1, registered=lambda: 1),
        around=plugin(
            gathered=hookimpl(wrapper=True)(around), registered=hookimpl(wrapper=True)(registering)
        ),
    )
    seen: list[Any] = []
    dispatcher.observe = lambda *call: seen.append(call)
    hook = "registered" if blocking else "gathered"
    called = dispatcher.call_blocking(hook) if blocking else await dispatcher.call(hook)
    [(told, [wrapper], came_to)] = seen
    assert (told, came_to) == (hook, called)
    assert (wrapper.plugin, wrapper.result, wrapper.fault) == ("around", None, "")
    assert [each.plugin for each in called.outcomes] == ["plain"]


@pytest.mark.parametrize("blocking", [False, True])
async def test_the_time_of_a_wrapper_is_that_of_its_own_halves(make, blocking):
    ticks = iter(range(999))

    def works() -> int:
        for _ in range(100):
            next(ticks)
        return 1

    def around() -> Any:
        for _ in range(10):
            next(ticks)
        return (yield)

    options = {"inline": inline, "clock": lambda: float(next(ticks)), "budgets": FOREVER}
    wrapper = hookimpl(wrapper=True)(around)
    dispatcher, _ = make(
        options,
        plain=plugin(gathered=works, registered=works),
        around=plugin(gathered=wrapper, registered=wrapper),
    )
    hook = "registered" if blocking else "gathered"
    _ = dispatcher.call_blocking(hook) if blocking else await dispatcher.call(hook)
    seconds = {name: dispatcher.timings.by_hook(name)[hook].seconds for name in ("around", "plain")}
    assert 10 <= seconds["around"] < 20
    assert seconds["plain"] >= 100


@pytest.mark.parametrize("hangs", [hostile.sleeps, hostile.blocks])
async def test_one_that_is_cut_short_took_all_the_time_it_was_given(make, hangs):
    dispatcher, _ = make({"budgets": {"gathered": 0.5}}, hangs=plugin(gathered=hangs))
    called = await dispatcher.call("gathered")
    assert called.outcomes[0].fault == FaultType.TIMEOUT
    assert 0.1 < called.outcomes[0].seconds < PATIENCE


async def test_the_fault_of_a_wrapper_is_told_with_it(make):
    def late() -> Any:
        time.sleep(3)
        return (yield)

    def breaks() -> Any:
        yield
        raise ValueError

    def nonsense() -> Any:
        yield
        return "nonsense"

    wrappers = {
        each.__name__: plugin(gathered=hookimpl(wrapper=True)(each))
        for each in (late, breaks, nonsense)
    }
    dispatcher, _ = make({"budgets": {"gathered": 2.0}}, **wrappers)
    seen: list[Any] = []
    dispatcher.observe = lambda *call: seen.append(call)
    await dispatcher.call("gathered")
    [(_, around, _)] = seen
    faults = {each.plugin: each.fault for each in around}
    assert faults == {
        "nonsense": FaultType.WRAPPER,
        "breaks": "ValueError",
        "late": FaultType.TIMEOUT,
    }

"""What is counted of the time that plugins take."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.deadline import Deadline
from cognee_hooks.markers import Kind, hookimpl, hookspec
from cognee_hooks.outcomes import Called, Outcome
from cognee_hooks.timings import SLOW_SECONDS, Timing, Timings
from tests.support.plugins import dispatcher_of, plugin

CALLS = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from(["told", "asked"]),
        st.floats(0, 100, allow_subnormal=False),
    )
)


@hookspec(Kind.NOTIFY, budget=30.0, on_fault="skipped")
def told(deadline: Deadline) -> Any: ...


@hookspec(Kind.FIRST, budget=30.0, on_fault="skipped", result=int)
def asked(deadline: Deadline) -> Any: ...


@hookspec(Kind.REGISTER, budget=30.0, on_fault="skipped", result=int)
def registered() -> Any: ...


SPECS = SimpleNamespace(told=told, asked=asked, registered=registered)


def raises() -> Any:
    raise ValueError


async def waits(deadline: Deadline) -> int:
    return 1


def around() -> Any:
    yield
    raise ValueError


def counted(timings: Timings, names: str) -> dict[tuple[str, str], Timing]:
    return {
        (name, hook): timing for name in names for hook, timing in timings.by_hook(name).items()
    }


@given(calls=CALLS)
def test_every_call_is_counted_once_and_the_longest_is_known(calls):
    timings = Timings()
    for name, hook, seconds in calls:
        timings.add(name, hook, seconds, 1000.0)
    found = counted(timings, "abc")
    assert set(found) == {(name, hook) for name, hook, _ in calls}
    for pair, timing in found.items():
        took = [seconds for *each, seconds in calls if tuple(each) == pair]
        assert timing.calls == len(took)
        assert timing.slowest == max(took)
        assert math.isclose(timing.seconds, sum(took), abs_tol=1e-9)


@given(first=CALLS, second=CALLS)
def test_what_was_taken_is_not_told_again(first, second):
    timings = Timings()
    for calls in (first, second, []):
        for call in calls:
            timings.add(*call, 1.0)
        took = timings.take()
        assert {name: timing.calls for name, timing in took.items()} == {
            name: count for name in "abc" if (count := sum(each == name for each, *_ in calls))
        }
        for name, timing in took.items():
            seconds = sum(seconds for each, _, seconds in calls if each == name)
            assert math.isclose(timing.seconds, seconds, rel_tol=1e-6, abs_tol=1e-6)


@pytest.mark.parametrize(
    ("seconds", "budget", "slow"),
    [
        (0.4, 1.0, 0),
        (0.6, 1.0, 1),
        (0.9 * SLOW_SECONDS, 0.005, 0),  # as long as the line on the screen may take
        (0.03, 0.05, 1),
    ],
)
def test_a_call_is_slow_that_takes_most_of_what_its_hook_has(seconds, budget, slow):
    timings = Timings()
    timings.add("a", "told", seconds, budget)
    assert timings.by_hook("a")["told"].slow == slow


def test_what_was_told_does_not_change_any_more():
    timings = Timings()
    timings.add("a", "told", 1.0, 9.0)
    before = timings.by_hook("a")
    timings.add("a", "told", 1.0, 9.0)
    assert before == {"told": Timing(calls=1, seconds=1.0, slowest=1.0)}


@given(calls=st.lists(st.sampled_from(["told", "asked"]), max_size=6), ticks=st.data())
@pytest.mark.expects_faults
async def test_the_times_of_plugins_add_up_to_those_of_the_outcomes(calls, ticks):
    now = [0.0]

    def clock() -> float:
        now[0] += ticks.draw(st.floats(0, 0.5))
        return now[0]

    wrapper = hookimpl(wrapper=True)(around)
    dispatcher, _ = dispatcher_of(
        SPECS,
        {
            "plain": plugin(told=lambda: None, asked=lambda: None),
            "waits": plugin(told=waits, asked=waits),
            "fails": plugin(told=raises, asked=raises),
            "around": plugin(told=wrapper),
        },
        inline=lambda _: True,
        clock=clock,
    )
    seen: list[tuple[str, Outcome]] = []

    def observe(hook: str, wrappers: tuple[Outcome, ...], called: Called) -> None:
        seen.extend((hook, each) for each in (*wrappers, *called.outcomes))

    dispatcher.observe = observe
    for hook in calls:
        await dispatcher.call(hook)
    found = counted(dispatcher.timings, ("plain", "waits", "fails", "around"))
    assert set(found) == {(each.plugin, hook) for hook, each in seen}
    for (name, hook), timing in found.items():
        took = [each.seconds for done, each in seen if (each.plugin, done) == (name, hook)]
        assert timing.calls == len(took)
        assert math.isclose(timing.seconds, sum(took), abs_tol=1e-9)
        assert timing.slowest == max(took)

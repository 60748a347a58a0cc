"""Deadlines are moments: they can be made earlier and never add up."""

from __future__ import annotations

from cognee_hooks.deadline import Deadline


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_what_is_left_shrinks_with_the_clock_and_never_below_zero():
    clock = Clock()
    deadline = Deadline.after(2, clock)
    assert (deadline.at, deadline.remaining(), deadline.expired) == (102, 2, False)
    clock.now = 101.5
    assert deadline.remaining() == 0.5
    clock.now = 102
    assert deadline.expired
    clock.now = 500
    assert deadline.remaining() == 0


def test_a_nested_deadline_is_only_ever_earlier():
    clock = Clock()
    outer = Deadline.after(5, clock)
    assert outer.within(1).at == 101
    assert outer.within(60).at == 105
    clock.now = 104
    assert outer.within(3).at == 105
    assert outer.within(0).expired


def test_a_deadline_can_spare_time_for_what_comes_afterwards():
    clock = Clock()
    outer = Deadline.after(5, clock)
    assert outer.sparing(2).at == 103
    clock.now = 104
    assert outer.sparing(2).remaining() == 0

from __future__ import annotations

import asyncio
import faulthandler
import logging
import subprocess
import sys
import threading
import time

import pytest

from cognee_hooks.daemon.watchdog import REST_SECONDS, STALL_SECONDS, Watchdog
from tests.support.waiting import PATIENCE, turns, until

SECONDS = 1.0
NAME = "cognee-hooks watchdog"


def threads() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == NAME]


async def over() -> bool:
    """Wait until no watchdog's thread is left."""
    return await until(lambda: not threads(), "the end of the watchdog")


class Stalls:
    """Notes that the loop stood still, and on which thread that was told."""

    def __init__(self):
        self.told: list[str] = []

    def __call__(self):
        self.told.append(threading.current_thread().name)


@pytest.fixture
def stalls():
    return Stalls()


@pytest.fixture
async def watch(stalls):
    """Starts watchdogs that end with the test."""
    started = []

    def start(**options) -> Watchdog:
        made = Watchdog(stalls, **({"seconds": SECONDS} | options))
        made.start()
        started.append(made)
        return made

    yield start
    for each in started:
        each.stop()
    assert await over()


# -- in real time --------------------------------------------------------------------------------


def stand_still(stalls, secret: str = "") -> None:
    """What a plugin must not do."""
    limit = time.monotonic() + PATIENCE
    while not stalls.told and time.monotonic() < limit:
        time.sleep(0.01)


def compute(stalls) -> None:
    limit = time.monotonic() + PATIENCE
    while not stalls.told and time.monotonic() < limit:
        pass


@pytest.mark.parametrize("work", [stand_still, compute])
async def test_a_loop_that_stands_still_is_told_once_from_another_thread(watch, stalls, work):
    watch().expect()
    work(stalls)
    assert await over()
    assert stalls.told == [NAME]


async def test_the_log_says_where_the_loop_stood_but_nothing_of_what_it_worked_on(
    watch, stalls, caplog
):
    watch().expect()
    stand_still(stalls, secret="swordfish")
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert "the event loop stood still for 1 s" in record.message
    assert f"{__file__}:" in record.message
    assert record.message.splitlines()[-1].endswith("in stand_still")
    assert "swordfish" not in record.message


@pytest.mark.parametrize("expected", [True, False])
async def test_a_stop_ends_the_thread(watch, stalls, expected):
    dog = watch(seconds=600.0, rest_seconds=600.0)
    if expected:
        dog.expect()
    dog.stop()
    assert await over()
    assert stalls.told == []


def test_a_closed_loop_is_watched_no_longer(stalls):
    async def start():
        dog = Watchdog(stalls, seconds=600.0)
        dog.start()
        dog.expect()

    asyncio.run(start())
    assert asyncio.run(over())
    assert stalls.told == []


def test_the_limits_are_what_users_are_promised():
    assert STALL_SECONDS == 10.0
    assert REST_SECONDS >= 30.0


# -- pause by pause ------------------------------------------------------------------------------


class Pause(threading.Event):
    """An event whose wait takes as long as a test wants, or until it is set."""

    def __init__(self, pauses, name):
        super().__init__()
        self._pauses = pauses
        self._name = name

    def set(self):
        super().set()
        self._pauses.look()

    def wait(self, timeout=None):
        self._pauses.rest(self._name, self.is_set)
        return self.is_set()


class Pauses:
    """The pauses of a watchdog, which pass when the test says so.

    Attributes:
        names: What the watchdog waited for so far: ``beat`` (the loop's answer) or ``rest``.
    """

    def __init__(self):
        self.names: list[str] = []
        self._passed = 0
        self._changed = threading.Condition()

    def of(self, dog: Watchdog) -> None:
        dog._over, dog._work = Pause(self, "beat"), Pause(self, "rest")

    def rest(self, name, is_over) -> None:
        with self._changed:
            self.names.append(name)
            number = len(self.names)
            self._changed.notify_all()
            self._changed.wait_for(lambda: is_over() or self._passed >= number, 2 * PATIENCE)
            self._passed = number

    def look(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def begun(self, count: int) -> None:
        """Wait until so many pauses have begun."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.names) >= count, PATIENCE)

    def end(self) -> int:
        """Let the pause pass that goes on; returns how many have begun."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.names) > self._passed, PATIENCE)
            self._passed = len(self.names)
            self._changed.notify_all()
            return self._passed

    def next(self, count: int = 1) -> str:
        """Let pauses pass, and tell what the watchdog waits for then.

        The event loop does not run meanwhile: it stands still for so many pauses.
        """
        for _ in range(count):
            self.begun(self.end() + 1)
        return self.names[-1]


class Counting:
    """Counts how often a loop is woken by the watchdog."""

    def __init__(self, monkeypatch):
        self.wakes = 0
        loop = asyncio.get_running_loop()
        original = loop.call_soon_threadsafe

        def call(*args):
            self.wakes += 1
            return original(*args)

        monkeypatch.setattr(loop, "call_soon_threadsafe", call)


class Slow:
    """A watchdog whose pauses and clock are the test's."""

    def __init__(self, stalls, monkeypatch):
        self.counting = Counting(monkeypatch)
        self.now = 0.0
        self.pauses = Pauses()
        self.dog = Watchdog(stalls, seconds=10.0, clock=lambda: self.now)
        self.pauses.of(self.dog)
        self.dog.start()
        self.pauses.begun(1)

    async def answer(self) -> str:
        """Let the loop run, and the pause pass."""
        await turns()
        return self.pauses.next()


@pytest.fixture
async def slow(stalls, monkeypatch):
    made = Slow(stalls, monkeypatch)
    yield made
    made.dog.stop()
    assert await over()


async def test_a_loop_that_is_silent_for_ten_seconds_has_stalled(slow, stalls):
    slow.dog.expect()
    assert await slow.answer() == "beat"
    assert slow.pauses.next(9) == "beat"
    assert stalls.told == []
    slow.pauses.end()
    stand_still(stalls)
    assert await over()
    assert stalls.told == [NAME]


async def test_a_loop_that_works_hard_and_answers_is_left_alone(slow, stalls):
    slow.dog.expect()
    for _ in range(3):
        assert slow.pauses.next(8) == "beat"
        assert await slow.answer() == "beat"
    assert stalls.told == []


async def test_an_idle_loop_is_not_woken_again_and_again(slow):
    assert await slow.answer() == "rest"
    await turns()
    assert slow.counting.wakes == 1
    assert len(threads()) == 1


async def test_a_loop_is_watched_closely_for_a_while_after_each_event(slow):
    assert await slow.answer() == "rest"
    slow.dog.expect()
    slow.pauses.begun(3)
    assert slow.pauses.names == ["beat", "rest", "beat"]
    for _ in range(2):
        slow.now += 14.0  # the longest that an event's work may take
        slow.dog.expect()
        assert await slow.answer() == "beat"
    slow.now += 14.0
    assert await slow.answer() == "beat"
    before = slow.counting.wakes
    slow.now += 12.0
    assert await slow.answer() == "rest"
    assert slow.counting.wakes == before


async def test_a_loop_that_nobody_expects_anything_of_is_looked_after_now_and_then(slow, stalls):
    assert await slow.answer() == "rest"
    assert slow.pauses.next(10) == "beat"
    slow.pauses.end()
    stand_still(stalls)
    assert await over()
    assert stalls.told == [NAME]


async def test_an_event_that_comes_while_the_watchdog_goes_to_rest_is_not_missed(slow):
    await turns()
    slow.dog.expect()  # it would have gone to rest after this pause
    assert slow.pauses.next() == "beat"
    slow.now += 60.0
    assert await slow.answer() == "rest"
    slow.dog.expect()
    slow.pauses.begun(4)
    assert slow.pauses.names[-1] == "beat"


async def test_a_process_that_was_stopped_as_a_whole_has_not_stalled(slow, stalls):
    slow.dog.expect()
    slow.now += 20.0  # nobody ran meanwhile, the watchdog as little as the loop
    assert slow.pauses.next(9) == "beat"
    assert await slow.answer() == "beat"
    assert stalls.told == []


async def test_after_a_stop_the_loop_may_stand_still(slow, stalls):
    slow.dog.expect()
    await slow.answer()
    slow.pauses.next(9)
    slow.dog.stop()
    assert await over()
    assert stalls.told == []


# -- what holds the interpreter's lock -----------------------------------------------------------


_HANG = """
import asyncio, faulthandler, os, re, sys, threading
from pathlib import Path
from cognee_hooks.daemon.watchdog import Watchdog

def catastrophe(text):
    re.match(r"(a+)+$", text)

armed = threading.Event()
arm = faulthandler.dump_traceback_later

def dump_traceback_later(*args, **options):
    arm(*args, **options)
    armed.set()

faulthandler.dump_traceback_later = dump_traceback_later

async def main():
    dog = Watchdog(lambda: os._exit(70), seconds=1.0, trace=Path(sys.argv[1]))
    dog.start()
    dog.expect()
    armed.wait()
    catastrophe("a" * 60 + "swordfish")

asyncio.run(main())
print("fine")
"""


def test_what_lets_no_thread_run_is_ended_too_and_leaves_its_stack(tmp_path):
    trace = tmp_path / "daemon.log"
    trace.write_text("before\n")
    argv = [sys.executable, "-c", _HANG, trace]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=2 * PATIENCE, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    text = trace.read_text()
    assert text.startswith("before\n")
    assert "in catastrophe" in text
    assert "swordfish" not in text


async def test_the_timer_for_that_does_not_outlive_the_watchdog(watch, tmp_path, monkeypatch):
    timers: list[float] = []
    monkeypatch.setattr(
        faulthandler, "dump_traceback_later", lambda seconds, **_: timers.append(seconds)
    )
    monkeypatch.setattr(faulthandler, "cancel_dump_traceback_later", timers.clear)
    trace = tmp_path / "daemon.log"
    dog = watch(seconds=600.0, rest_seconds=600.0, trace=trace)
    await until(lambda: timers)
    assert timers[0] >= 1200.0
    dog.stop()
    assert await over()
    assert timers == []
    assert trace.read_text() == ""
    assert trace.stat().st_mode & 0o777 == 0o600


async def test_a_file_for_stacks_that_cannot_be_opened_is_told_at_once(stalls, tmp_path):
    dog = Watchdog(stalls, trace=tmp_path)
    with pytest.raises(IsADirectoryError):
        dog.start()
    assert not threads()

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
import time

import pytest

from cognee_hooks.daemon.watchdog import REST_SECONDS, STALL_SECONDS, Watchdog

SECONDS = 0.2
NAME = "cognee-hooks watchdog"


def threads() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == NAME]


async def over(seconds: float = 5.0) -> bool:
    """Wait until no watchdog's thread is left."""
    until = time.monotonic() + seconds
    while threads() and time.monotonic() < until:  # noqa: ASYNC110 -- nothing tells us
        await asyncio.sleep(0.01)
    return not threads()


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


def stand_still(seconds: float, secret: str = "") -> None:
    """What a plugin must not do."""
    time.sleep(seconds)


def compute(seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


@pytest.mark.parametrize("work", [stand_still, compute])
async def test_a_loop_that_stands_still_is_told_once_from_another_thread(watch, stalls, work):
    watch().expect()
    await asyncio.sleep(0.02)
    work(SECONDS * 2)
    assert stalls.told == [NAME]
    assert await over()


async def test_the_log_says_where_the_loop_stood_but_nothing_of_what_it_worked_on(
    watch, stalls, caplog
):
    watch().expect()
    await asyncio.sleep(0.02)
    stand_still(SECONDS * 3, secret="swordfish")
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert "the event loop stood still for 0.2 s" in record.message
    assert f"{__file__}:" in record.message
    assert record.message.splitlines()[-1].endswith("in stand_still")
    assert "swordfish" not in record.message


async def test_a_loop_that_works_hard_and_answers_is_left_alone(watch, stalls):
    watch(seconds=0.6).expect()
    until = time.monotonic() + 1.2
    while time.monotonic() < until:
        stand_still(0.2)
        await asyncio.sleep(0)
    assert stalls.told == []


async def test_a_loop_that_recovers_in_time_may_stand_still_again(watch, stalls):
    watch(seconds=0.6).expect()
    for _ in range(2):
        stand_still(0.3)
        await asyncio.sleep(0.1)
    assert stalls.told == []


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


async def test_an_idle_loop_is_not_woken_again_and_again(watch, monkeypatch):
    counting = Counting(monkeypatch)
    watch()
    await asyncio.sleep(SECONDS * 2)
    assert counting.wakes == 1
    assert len(threads()) == 1


async def test_a_loop_is_watched_closely_for_a_while_after_each_event(watch, monkeypatch):
    now = [0.0]
    counting = Counting(monkeypatch)
    dog = watch(clock=lambda: now[0])
    await asyncio.sleep(SECONDS / 2)
    dog.expect()
    await asyncio.sleep(SECONDS)
    assert counting.wakes >= 3
    now[0] += 14.0  # the longest that an event's work may take
    dog.expect()
    now[0] += 14.0
    await asyncio.sleep(SECONDS / 2)
    before = counting.wakes
    await asyncio.sleep(SECONDS)
    assert counting.wakes > before
    now[0] += 2.0
    await asyncio.sleep(SECONDS)
    before = counting.wakes
    await asyncio.sleep(SECONDS)
    assert counting.wakes == before


async def test_a_loop_that_nobody_expects_anything_of_is_looked_after_now_and_then(watch, stalls):
    watch(rest_seconds=SECONDS)
    await asyncio.sleep(SECONDS)
    stand_still(SECONDS * 2.5)
    assert stalls.told == [NAME]


async def test_an_event_that_comes_while_the_watchdog_goes_to_rest_is_not_missed(watch, stalls):
    for _ in range(2):
        dog = watch()
        # The thread looks at the time and goes to rest after a pause of this length.
        await asyncio.sleep(SECONDS / 4)
        dog.expect()
        stand_still(SECONDS * 2)
        assert await over()
    assert stalls.told == [NAME] * 2


async def test_a_process_that_was_stopped_as_a_whole_has_not_stalled(watch, stalls):
    now = [0.0]
    dog = watch(clock=lambda: now[0])
    dog.expect()
    await asyncio.sleep(SECONDS / 4)
    now[0] += 20.0  # nobody ran meanwhile, the watchdog as little as the loop
    await asyncio.sleep(SECONDS)
    assert stalls.told == []


@pytest.mark.parametrize("expected", [True, False])
async def test_a_stop_ends_the_thread_at_once(watch, stalls, expected):
    dog = watch(seconds=60.0)
    if expected:
        dog.expect()
    await asyncio.sleep(0.05)
    dog.stop()
    assert await over(0.9)


async def test_after_a_stop_the_loop_may_stand_still(watch, stalls):
    dog = watch(seconds=0.4)
    dog.expect()
    await asyncio.sleep(0.1)
    stand_still(0.1)
    dog.stop()
    stand_still(0.8)
    assert stalls.told == []


def test_a_closed_loop_is_watched_no_longer(stalls):
    async def start():
        dog = Watchdog(stalls, seconds=SECONDS)
        dog.start()
        dog.expect()

    asyncio.run(start())
    assert asyncio.run(over())
    assert stalls.told == []


def test_the_limits_are_what_users_are_promised():
    assert STALL_SECONDS == 10.0
    assert REST_SECONDS >= 30.0


# -- what holds the interpreter's lock -----------------------------------------------------------


_HANG = """
import asyncio, os, re, sys
from pathlib import Path
from cognee_hooks.daemon.watchdog import Watchdog

def catastrophe(text):
    re.match(r"(a+)+$", text)

async def main():
    dog = Watchdog(lambda: os._exit(70), seconds=0.2, trace=Path(sys.argv[1]))
    dog.start()
    dog.expect()
    await asyncio.sleep(0.1)
    if sys.argv[2] == "hang":
        catastrophe("a" * 60 + "swordfish")
    await asyncio.sleep(0.5)
    dog.stop()
    await asyncio.sleep(0.5)

asyncio.run(main())
print("fine")
"""


def test_what_lets_no_thread_run_is_ended_too_and_leaves_its_stack(tmp_path):
    trace = tmp_path / "daemon.log"
    trace.write_text("before\n")
    argv = [sys.executable, "-c", _HANG, trace, "hang"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    text = trace.read_text()
    assert text.startswith("before\n")
    assert "in catastrophe" in text
    assert "swordfish" not in text


def test_the_timer_for_that_does_not_outlive_the_watchdog(tmp_path):
    trace = tmp_path / "daemon.log"
    argv = [sys.executable, "-c", _HANG, trace, "rest"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "fine\n", "")
    assert trace.read_text() == ""
    assert trace.stat().st_mode & 0o777 == 0o600


async def test_a_file_for_stacks_that_cannot_be_opened_is_told_at_once(stalls, tmp_path):
    dog = Watchdog(stalls, trace=tmp_path)
    with pytest.raises(IsADirectoryError):
        dog.start()
    assert not threads()

from __future__ import annotations

import asyncio
import os
import threading
import time

import pytest

from cognee_hooks.cli.bounded import PrintedAnswer, call_bounded, run_bounded
from cognee_hooks.deadline import Deadline
from tests.support.waiting import PATIENCE


@pytest.fixture
def pipe():
    reader, writer = os.pipe()
    yield reader, writer
    for descriptor in (reader, writer):
        try:
            os.close(descriptor)
        except OSError:
            continue


def written(pipe) -> str:
    os.close(pipe[1])
    return os.read(pipe[0], 100_000).decode()


def test_only_the_first_answer_is_written(pipe):
    answer = PrintedAnswer("empty", pipe[1])
    answer.give("first")
    answer.give("second")
    answer.settle()
    assert written(pipe) == "first"


def test_without_an_answer_the_empty_one_is_written(pipe):
    answer = PrintedAnswer("empty", pipe[1])
    answer.settle()
    answer.give("late")
    assert written(pipe) == "empty"


def test_nobody_listening_is_survived(pipe):
    os.close(pipe[0])
    PrintedAnswer("", pipe[1]).give("text")


def test_a_large_answer_is_written_whole(pipe):
    text = "x" * 1_000_000
    received = bytearray()

    def drain():
        while chunk := os.read(pipe[0], 65536):
            received.extend(chunk)

    thread = threading.Thread(target=drain)
    thread.start()
    PrintedAnswer("", pipe[1]).give(text)
    os.close(pipe[1])
    thread.join(PATIENCE)
    assert received.decode() == text


def test_work_that_ends_gives_its_answer(pipe):
    answer = PrintedAnswer("empty", pipe[1])

    async def work():
        answer.give("done")

    run_bounded(work, answer, Deadline.after(PATIENCE))
    assert written(pipe) == "done"


def test_work_that_blocks_its_event_loop_is_left_behind(pipe):
    answer = PrintedAnswer("empty", pipe[1])
    release = threading.Event()

    async def work():
        await asyncio.sleep(0)
        release.wait(2 * PATIENCE)

    started = time.monotonic()
    run_bounded(work, answer, Deadline.after(0.2))
    assert time.monotonic() - started < PATIENCE
    assert written(pipe) == "empty"
    release.set()


def test_a_bounded_call_returns_or_raises_what_it_does():
    assert call_bounded(lambda: 7, Deadline.after(PATIENCE)) == 7
    with pytest.raises(KeyError):
        call_bounded(lambda: {}["x"], Deadline.after(PATIENCE))


def test_a_call_that_takes_too_long_is_left_behind():
    release = threading.Event()
    started = time.monotonic()
    with pytest.raises(TimeoutError):
        call_bounded(lambda: release.wait(2 * PATIENCE), Deadline.after(0.1))
    assert time.monotonic() - started < PATIENCE
    release.set()

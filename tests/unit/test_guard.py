"""Foreign code: whatever it raises becomes a value, however long it blocks nobody is held."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading

import pytest

from cognee_hooks.guard import Worker, attempt, attempt_apart, attempt_await
from tests.support.waiting import PATIENCE


@pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt, StopIteration])
def test_what_a_function_raises_becomes_a_value(error):
    def broken() -> None:
        raise error

    done = attempt(broken)
    assert type(done.error) is error
    assert done.result is None


def test_a_result_is_passed_on():
    assert attempt(divmod, 7, 2).result == (3, 1)


@pytest.mark.parametrize("error", [ValueError, SystemExit, asyncio.CancelledError])
async def test_what_an_awaitable_raises_becomes_a_value(error):
    async def broken() -> None:
        raise error

    assert type((await attempt_await(broken())).error) is error


async def test_ctrl_c_passes():
    async def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await attempt_await(interrupted())


async def test_our_own_cancellation_passes():
    task = asyncio.create_task(attempt_await(asyncio.sleep(30)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_calls_of_a_worker_run_one_after_the_other_with_the_callers_context():
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")
    worker, order = Worker("test"), []
    variable.set("seen")
    futures = [worker.submit(order.append, number) for number in range(5)]
    assert worker.submit(variable.get).result(PATIENCE).result == "seen"
    assert all(future.result(PATIENCE).error is None for future in futures)
    assert order == list(range(5))
    worker.stop()


def test_a_call_that_was_cancelled_while_it_waited_is_never_made():
    worker, gate, made = Worker("test"), threading.Event(), []
    first = worker.submit(gate.wait, 5)
    second = worker.submit(made.append, 1)
    assert second.cancel()
    gate.set()
    assert first.result(PATIENCE).result is True
    assert worker.submit(len, made).result(PATIENCE).result == 0
    worker.stop()


def test_a_worker_that_never_ran_stops_and_one_that_stopped_starts_again():
    worker = Worker("test")
    worker.stop()
    ident = worker.submit(threading.get_ident).result(PATIENCE).result
    worker.stop()
    again = worker.submit(threading.get_ident).result(PATIENCE)
    assert again.error is None
    assert ident is not None
    worker.stop()


def test_sys_exit_on_a_worker_ends_neither_thread_nor_program():
    worker = Worker("test")
    assert isinstance(worker.submit(sys.exit, 3).result(PATIENCE).error, SystemExit)
    assert worker.submit(int).result(PATIENCE).result == 0
    worker.stop()


def test_a_thread_that_cannot_start_is_a_failed_call(monkeypatch):
    def refuses(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    worker = Worker("test")
    monkeypatch.setattr(threading.Thread, "start", refuses)
    assert isinstance(worker.submit(int).result(0).error, RuntimeError)
    monkeypatch.undo()
    assert worker.submit(int).result(PATIENCE).result == 0
    worker.stop()


async def test_a_call_apart_runs_on_a_thread_of_its_own_and_may_be_left_behind():
    assert (await attempt_apart("a", threading.current_thread)).result.daemon
    assert type((await attempt_apart("b", lambda: {}["missing"])).error) is KeyError
    release = threading.Event()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await attempt_apart("c", release.wait)
    release.set()

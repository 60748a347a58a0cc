from __future__ import annotations

import asyncio
import os
import signal
import sys
import time

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.services import process, process_table
from tests.support.waiting import PATIENCE, until, wait_until

PYTHON = sys.executable


def _soon(seconds=PATIENCE):
    return Deadline.after(seconds)


async def test_a_program_is_run_with_input_environment_and_folder(tmp_path):
    code = "import os, sys; print(os.getcwd(), os.environ['A'], sys.stdin.read()); sys.exit(3)"
    done = await process.run(
        [PYTHON, "-c", code], deadline=_soon(), cwd=tmp_path, env={"A": "b"}, input=b"hello"
    )
    assert done.stdout.decode().split() == [str(tmp_path), "b", "hello"]
    assert done.returncode == 3
    assert not done.ok
    assert not done.timed_out


async def test_errors_are_kept_apart_and_a_good_end_is_ok():
    done = await process.run(["sh", "-c", "echo out; echo err >&2"], deadline=_soon())
    assert (done.stdout, done.stderr, done.ok, done.truncated) == (b"out\n", b"err\n", True, False)


async def test_output_is_bounded_and_the_program_still_ends():
    code = "import sys; sys.stdout.write('x' * 3_000_000)"
    done = await process.run([PYTHON, "-c", code], deadline=_soon(), max_output=1000)
    assert done.ok
    assert done.stdout == b"x" * 1000
    assert done.truncated


async def test_input_that_nobody_reads_is_no_failure():
    done = await process.run(["true"], deadline=_soon(), input=b"x" * 1_000_000)
    assert done.ok


async def test_at_the_deadline_the_whole_group_ends(tmp_path):
    mark = tmp_path / "pid"
    began = time.monotonic()
    done = await process.run(
        ["sh", "-c", f"sleep 80 & echo $! > {mark}; echo early; wait"], deadline=_soon(2.0)
    )
    assert time.monotonic() - began < PATIENCE
    assert done.timed_out
    assert done.stdout == b"early\n"
    await _gone(int(mark.read_text()))


async def test_a_helper_that_keeps_the_output_open_does_not_hold_us(tmp_path):
    mark = tmp_path / "pid"
    began = time.monotonic()
    done = await process.run(
        [PYTHON, "-c", _ESCAPE, str(mark)], deadline=_soon(80), env=dict(os.environ)
    )
    assert time.monotonic() - began < PATIENCE
    assert done.ok
    assert done.truncated
    os.kill(int(mark.read_text()), signal.SIGKILL)


_ESCAPE = """
import subprocess, sys
child = subprocess.Popen(["sleep", "80"], start_new_session=True)
open(sys.argv[1], "w").write(str(child.pid))
child.returncode = 0
"""


async def test_a_cancelled_call_ends_the_program(tmp_path):
    mark = tmp_path / "pid"
    task = asyncio.ensure_future(
        process.run(["sh", "-c", f"echo $$ > {mark}; sleep 80"], deadline=_soon(80))
    )
    await until(lambda: mark.exists() and mark.read_text().strip())
    task.cancel()
    began = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < PATIENCE
    await _gone(int(mark.read_text()))


async def _gone(pid):
    await until(lambda: not process_table.is_alive(pid))


@pytest.mark.parametrize("turns", range(6))
async def test_a_call_that_is_cancelled_while_it_starts_leaves_nothing(tmp_path, turns):
    mark = tmp_path / "pid"
    task = asyncio.ensure_future(
        process.run(["sh", "-c", f"echo $$ > {mark}; sleep 80"], deadline=_soon(80))
    )
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    began = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < PATIENCE
    await asyncio.sleep(0.1)
    if mark.exists() and mark.read_text().strip():
        await _gone(int(mark.read_text()))


async def test_a_start_that_fails_after_its_call_was_cancelled_is_no_news():
    task = asyncio.ensure_future(process.run(["/no/such/program"], deadline=_soon()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0.05)


async def test_a_program_that_is_not_there_raises():
    with pytest.raises(FileNotFoundError):
        await process.run(["/no/such/program"], deadline=_soon())


def test_a_detached_program_gets_a_session_of_its_own_and_a_private_log(tmp_path):
    log = tmp_path / "log"
    pid = process.spawn_detached(
        ["sh", "-c", "echo started $A; exec sleep 80"], log=log, env={"A": "1"}, cwd=tmp_path
    )
    wait_until(lambda: log.read_bytes() == b"started 1\n")
    assert log.stat().st_mode & 0o777 == 0o600
    assert os.getsid(pid) == pid
    started = process_table.start_time(pid)
    assert process_table.is_alive(pid, started)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not process_table.is_alive(pid, started))
    assert not process_table.is_alive(pid)


def test_a_detached_program_without_a_log_is_silent(capfd):
    pid = process.spawn_detached(["sh", "-c", "echo loud; exit 0"])
    wait_until(lambda: not process_table.is_alive(pid))
    assert capfd.readouterr().out == ""


def test_the_environment_is_a_copy(monkeypatch):
    monkeypatch.setenv("COGNEE_TEST_COPY", "1")
    copy = process.current_environ()
    copy["COGNEE_TEST_COPY"] = "2"
    assert os.environ["COGNEE_TEST_COPY"] == "1"


def test_a_detached_program_reads_and_writes_what_it_is_given():
    there, ours = os.pipe()
    back, theirs = os.pipe()
    code = "import sys; sys.stdout.write(sys.stdin.read().upper())"
    pid = process.spawn_detached([PYTHON, "-c", code], stdin=there, output=theirs)
    os.close(there)
    os.close(theirs)
    with os.fdopen(ours, "wb") as file:
        file.write(b"hello")
    with os.fdopen(back, "rb") as file:
        assert file.read() == b"HELLO"
    wait_until(lambda: not process_table.is_alive(pid), "its end")

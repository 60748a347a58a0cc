from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.services import process
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
    await until(lambda: not process.is_alive(pid))


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
    started = process.start_time(pid)
    assert process.is_alive(pid, started)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not process.is_alive(pid, started))
    assert not process.is_alive(pid)


def test_a_detached_program_without_a_log_is_silent(capfd):
    pid = process.spawn_detached(["sh", "-c", "echo loud; exit 0"])
    wait_until(lambda: not process.is_alive(pid))
    assert capfd.readouterr().out == ""


def test_we_are_alive_and_told_apart_from_a_later_process_of_our_id():
    pid = os.getpid()
    assert process.is_alive(pid)
    assert process.is_alive(pid, process.start_time(pid))
    assert not process.is_alive(pid, "another time")


@pytest.mark.parametrize("pid", [0, -1, 2**22 + 12345, 2**70])
def test_an_id_that_nobody_has_is_not_alive(pid):
    assert not process.is_alive(pid)


def test_a_process_of_another_user_is_alive(monkeypatch):
    def denied(pid, number):
        raise PermissionError

    monkeypatch.setattr(process.os, "kill", denied)
    assert process.is_alive(os.getpid())


def test_a_zombie_is_not_alive():
    child = subprocess.Popen(["true"])
    wait_until(lambda: not process.is_alive(child.pid))
    child.wait()


def test_to_ask_for_the_start_of_nobody_starts_no_program(monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", None)
    assert process.start_time(2**22 + 12345) == ""


def test_where_there_is_no_proc_the_start_time_comes_from_ps(monkeypatch):
    monkeypatch.setattr(process, "_proc_stat", lambda pid: None)
    mine = process.start_time(os.getpid())
    assert mine == process.start_time(os.getpid())
    assert len(mine.split()) == 5
    assert process.start_time(2**22 + 12345) == ""
    assert process.is_alive(os.getpid(), mine)


def test_a_start_time_that_cannot_be_had_is_empty_and_proves_nothing(monkeypatch):
    def broken(*args, **kwargs):
        raise subprocess.TimeoutExpired("ps", 1)

    monkeypatch.setattr(process, "_proc_stat", lambda pid: None)
    monkeypatch.setattr(subprocess, "run", broken)
    assert process.start_time(os.getpid()) == ""
    assert process.is_alive(os.getpid(), "anything")


def test_a_process_name_with_parentheses_does_not_confuse(tmp_path):
    program = tmp_path / "a) Z 1 (b"
    program.symlink_to("/bin/sleep")
    child = subprocess.Popen([str(program), "30"])
    try:
        assert process.is_alive(child.pid, process.start_time(child.pid))
        assert process.start_time(child.pid).isdigit()
    finally:
        child.kill()
        child.wait()


def test_the_start_time_of_nobody_is_empty():
    assert process.start_time(2**22 + 12345) == ""


def test_the_environment_is_a_copy(monkeypatch):
    monkeypatch.setenv("COGNEE_TEST_COPY", "1")
    copy = process.current_environ()
    copy["COGNEE_TEST_COPY"] = "2"
    assert os.environ["COGNEE_TEST_COPY"] == "1"


# -- who called ---------------------------------------------------------------------------------


_REPORT = "import os; print(os.getpid(), os.getppid(), flush=True); input()"


def _started(*argv):
    """Start a program that ends with `_REPORT`, and return it with its and its parent's id."""
    child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    pid, parent = map(int, child.stdout.readline().split())
    return child, pid, parent


def test_a_program_that_is_no_shell_is_its_own_first_program():
    child, pid, _ = _started(PYTHON, "-c", _REPORT)
    with child:
        assert process.first_program(pid) == pid == child.pid
        child.communicate("\n")


@pytest.mark.parametrize("shell", ["sh", "bash", "dash"])
@pytest.mark.parametrize("depth", [1, 3])
def test_shells_between_a_program_and_its_caller_do_not_count(tmp_path, shell, depth):
    script = f"{PYTHON} -c '{_REPORT}'; true"  # a shell gives its place to its last command
    for level in range(depth):
        (tmp_path / str(level)).write_text(script)
        script = f"{shell} {tmp_path / str(level)}; true"
    child, _, parent = _started(shell, tmp_path / str(depth - 1))
    with child:
        assert process.is_alive(parent)
        assert process.first_program(parent) == os.getpid()
        child.communicate("\n")


def _tree(monkeypatch, parents, names):
    """Make up a tree of processes."""

    def stat(pid):
        return ["S", str(parents[pid]), *["0"] * 20] if pid in parents else None

    def read(path, *_):
        pid = int(path.parent.name)
        if names.get(pid) is None:
            raise FileNotFoundError(path)
        return names[pid] + "\n"

    monkeypatch.setattr(process, "_proc_stat", stat)
    monkeypatch.setattr(process.Path, "read_text", read)


@pytest.mark.parametrize(
    ("parents", "names", "found"),
    [
        ({9: 8, 8: 7, 7: 1}, {9: "sh", 8: "zsh", 7: "node"}, 7),
        ({9: 8, 8: 1}, {9: "shell", 8: "node"}, 9),
        ({9: 8}, {9: "sh"}, 8),  # the caller of the shell is gone already
        ({9: 8, 8: 7}, {9: "sh", 8: None}, 8),
        ({}, {}, 9),
        ({9: 1}, {9: "bash"}, 1),  # an agent that is alone in a container
        ({9: 0}, {9: "bash"}, 9),
        ({9: 9}, {9: "bash"}, 9),
        ({n: n - 1 for n in range(2, 10)}, dict.fromkeys(range(2, 10), "sh"), 5),
    ],
)
def test_the_first_program_is_looked_for_a_few_steps_up_only(monkeypatch, parents, names, found):
    _tree(monkeypatch, parents, names)
    assert process.first_program(9) == found


@pytest.mark.parametrize("pid", [0, -1, 1, 2**22 + 12345, 9_999_999_999])
def test_an_id_that_leads_nowhere_is_given_back(pid):
    assert process.first_program(pid) == pid


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
    wait_until(lambda: not process.is_alive(pid), "its end")


def test_a_command_line_is_told_and_nobody_has_none():
    assert "pytest" in (process.command_line(os.getpid()) or "")
    assert process.command_line(2**22 + 12345) == ""


def test_where_there_is_no_proc_the_command_line_comes_from_ps(monkeypatch):
    monkeypatch.setattr(process, "_proc_stat", lambda pid: None)
    monkeypatch.setattr(process.Path, "read_bytes", lambda self: (_ for _ in ()).throw(OSError))
    assert "python" in (process.command_line(os.getpid()) or "")

    def broken(*args, **kwargs):
        raise subprocess.TimeoutExpired("ps", 1)

    monkeypatch.setattr(subprocess, "run", broken)
    assert process.command_line(os.getpid()) is None


async def test_a_process_is_asked_to_end():
    pid = process.spawn_detached([PYTHON, "-c", "import time; time.sleep(600)"])
    assert await process.end(pid, process.start_time(pid), _soon(), _soon())
    assert not process.is_alive(pid)


async def test_a_process_that_does_not_listen_is_ended_with_its_group(tmp_path):
    code = (
        "import pathlib, signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "helper = subprocess.Popen(['sleep', '600'])\n"
        f"pathlib.Path({str(tmp_path / 'helper')!r}).write_text(str(helper.pid))\n"
        "time.sleep(600)"
    )
    pid = process.spawn_detached([PYTHON, "-c", code])
    helper = int(await until(lambda: _text(tmp_path / "helper"), "a helper"))
    assert await process.end(pid, process.start_time(pid), Deadline.after(0.1), _soon())
    await until(lambda: not process.is_alive(helper), "the helper's end")


async def test_another_process_of_the_same_id_is_not_ended():
    pid = process.spawn_detached([PYTHON, "-c", "import time; time.sleep(600)"])
    try:
        assert await process.end(pid, "1", _soon(0.1), _soon(0.1))
        assert process.is_alive(pid)
    finally:
        os.kill(pid, signal.SIGKILL)


def _text(path):
    return path.read_text() if path.exists() else ""


def test_the_processes_above_one_are_told_nearest_first():
    found = process.ancestors(os.getpid())
    assert found[:2] == [os.getpid(), os.getppid()]
    assert len(set(found)) == len(found)
    assert process.ancestors(0) == []
    assert process.ancestors(2**22 + 1) == [2**22 + 1]


def test_where_the_system_has_no_process_folder_ps_tells_the_parents(monkeypatch):
    monkeypatch.setattr(process, "_proc_stat", lambda _: None)
    monkeypatch.setattr(process, "_ps", lambda pid, _: {9: " 8\n", 8: "1"}.get(pid))
    assert process.ancestors(9) == [9, 8, 1]

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.services import process, process_table
from tests.support.waiting import PATIENCE, until, wait_until

PYTHON = sys.executable


def _soon(seconds=PATIENCE):
    return Deadline.after(seconds)


def test_we_are_alive_and_told_apart_from_a_later_process_of_our_id():
    pid = os.getpid()
    assert process_table.is_alive(pid)
    assert process_table.is_alive(pid, process_table.start_time(pid))
    assert not process_table.is_alive(pid, "another time")


@pytest.mark.parametrize("pid", [0, -1, 2**22 + 12345, 2**70])
def test_an_id_that_nobody_has_is_not_alive(pid):
    assert not process_table.is_alive(pid)


def test_a_process_of_another_user_is_alive(monkeypatch):
    def denied(pid, number):
        raise PermissionError

    monkeypatch.setattr(process_table.os, "kill", denied)
    assert process_table.is_alive(os.getpid())


def test_a_zombie_is_not_alive():
    child = subprocess.Popen(["true"])
    wait_until(lambda: not process_table.is_alive(child.pid))
    child.wait()


def test_to_ask_for_the_start_of_nobody_starts_no_program(monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", None)
    assert process_table.start_time(2**22 + 12345) == ""


def test_where_there_is_no_proc_the_start_time_comes_from_ps(monkeypatch):
    monkeypatch.setattr(process_table, "_proc_stat", lambda pid: None)
    mine = process_table.start_time(os.getpid())
    assert mine == process_table.start_time(os.getpid())
    assert len(mine.split()) == 5
    assert process_table.start_time(2**22 + 12345) == ""
    assert process_table.is_alive(os.getpid(), mine)


def test_a_start_time_that_cannot_be_had_is_empty_and_proves_nothing(monkeypatch):
    def broken(*args, **kwargs):
        raise subprocess.TimeoutExpired("ps", 1)

    monkeypatch.setattr(process_table, "_proc_stat", lambda pid: None)
    monkeypatch.setattr(subprocess, "run", broken)
    assert process_table.start_time(os.getpid()) == ""
    assert process_table.is_alive(os.getpid(), "anything")


def test_a_process_name_with_parentheses_does_not_confuse(tmp_path):
    program = tmp_path / "a) Z 1 (b"
    program.symlink_to("/bin/sleep")
    child = subprocess.Popen([str(program), "30"])
    try:
        assert process_table.is_alive(child.pid, process_table.start_time(child.pid))
        assert process_table.start_time(child.pid).isdigit()
    finally:
        child.kill()
        child.wait()


def test_the_start_time_of_nobody_is_empty():
    assert process_table.start_time(2**22 + 12345) == ""


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
        assert process_table.first_program(pid) == pid == child.pid
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
        assert process_table.is_alive(parent)
        assert process_table.first_program(parent) == os.getpid()
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

    monkeypatch.setattr(process_table, "_proc_stat", stat)
    monkeypatch.setattr(process_table.Path, "read_text", read)


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
    assert process_table.first_program(9) == found


@pytest.mark.parametrize("pid", [0, -1, 1, 2**22 + 12345, 9_999_999_999])
def test_an_id_that_leads_nowhere_is_given_back(pid):
    assert process_table.first_program(pid) == pid


def test_a_command_line_is_told_and_nobody_has_none():
    assert "pytest" in (process_table.command_line(os.getpid()) or "")
    assert process_table.command_line(2**22 + 12345) == ""


def test_where_there_is_no_proc_the_command_line_comes_from_ps(monkeypatch):
    monkeypatch.setattr(process_table, "_proc_stat", lambda pid: None)
    monkeypatch.setattr(
        process_table.Path, "read_bytes", lambda self: (_ for _ in ()).throw(OSError)
    )
    assert "python" in (process_table.command_line(os.getpid()) or "")

    def broken(*args, **kwargs):
        raise subprocess.TimeoutExpired("ps", 1)

    monkeypatch.setattr(subprocess, "run", broken)
    assert process_table.command_line(os.getpid()) is None


async def test_a_process_is_asked_to_end():
    pid = process.spawn_detached([PYTHON, "-c", "import time; time.sleep(600)"])
    assert await process_table.end(pid, process_table.start_time(pid), _soon(), _soon())
    assert not process_table.is_alive(pid)


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
    assert await process_table.end(pid, process_table.start_time(pid), Deadline.after(0.1), _soon())
    await until(lambda: not process_table.is_alive(helper), "the helper's end")


async def test_another_process_of_the_same_id_is_not_ended():
    pid = process.spawn_detached([PYTHON, "-c", "import time; time.sleep(600)"])
    try:
        assert await process_table.end(pid, "1", _soon(0.1), _soon(0.1))
        assert process_table.is_alive(pid)
    finally:
        os.kill(pid, signal.SIGKILL)


def _text(path):
    return path.read_text() if path.exists() else ""


def test_the_processes_above_one_are_told_nearest_first():
    found = process_table.ancestors(os.getpid())
    assert found[:2] == [os.getpid(), os.getppid()]
    assert len(set(found)) == len(found)
    assert process_table.ancestors(0) == []
    assert process_table.ancestors(2**22 + 1) == [2**22 + 1]


def test_where_the_system_has_no_process_folder_ps_tells_the_parents(monkeypatch):
    monkeypatch.setattr(process_table, "_proc_stat", lambda _: None)
    monkeypatch.setattr(process_table, "ps", lambda pid, _: {9: " 8\n", 8: "1"}.get(pid))
    assert process_table.ancestors(9) == [9, 8, 1]

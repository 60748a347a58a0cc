from __future__ import annotations

import errno
import json
import os
import signal
import stat
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.deadline import Deadline
from cognee_hooks.services import statefile
from cognee_hooks.services.process_table import start_time
from cognee_hooks.services.statefile import (
    LockFile,
    finite,
    read_bytes,
    read_json,
    read_object,
    update_json,
    write_atomic,
    write_json,
)
from tests.support.waiting import PATIENCE, wait_until


def _mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def _soon():
    """Long enough for whatever has to wait, and to tell that it waits."""
    return Deadline.after(0.05)


# -- reading


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"a": 1',
        b"\xff\xfe\xff",
        b"[" * 100_000,
        b'{"a": ' + b"1" * 5000 + b"}",
        b"\x00" * 100,
    ],
    ids=["empty", "torn", "not utf-8", "too deep", "number too long", "zeros"],
)
def test_a_damaged_file_counts_as_absent(tmp_path, content):
    path = tmp_path / "state.json"
    path.write_bytes(content)
    assert read_json(path) is None
    assert read_object(path) == {}


def test_what_is_no_regular_file_counts_as_absent_and_never_blocks(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    folder = tmp_path / "folder"
    folder.mkdir()
    for path in (pipe, loop, folder, tmp_path / "absent", tmp_path / "nul\0name"):
        assert read_json(path) is None


def test_a_file_that_is_too_long_counts_as_absent(tmp_path):
    path = tmp_path / "state.json"
    path.write_bytes(b"12345")
    assert read_json(path, max_bytes=5) == 12345
    assert read_json(path, max_bytes=4) is None


def test_a_file_that_grows_while_it_is_read_is_still_bounded(tmp_path, monkeypatch):
    path = tmp_path / "state.json"
    path.write_bytes(b"12345")
    small = path.stat()
    path.write_bytes(b"1" * 100)
    monkeypatch.setattr(statefile.os, "fstat", lambda descriptor: small)
    assert read_json(path, max_bytes=50) is None


def test_a_file_that_cannot_be_read_counts_as_absent(tmp_path, monkeypatch):
    path = tmp_path / "state.json"
    path.write_bytes(b"1")

    def broken(descriptor, size):
        raise OSError(errno.EIO, "broken disk")

    monkeypatch.setattr(statefile.os, "read", broken)
    assert read_json(path) is None


def test_a_byte_order_mark_is_no_damage(tmp_path):
    path = tmp_path / "state.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert read_object(path) == {"a": 1}


def test_an_object_is_asked_for_and_a_list_is_none(tmp_path):
    path = tmp_path / "state.json"
    path.write_bytes(b"[1]")
    assert read_json(path) == [1]
    assert read_object(path) == {}


def test_a_private_file_that_others_can_write_counts_as_absent(tmp_path, monkeypatch):
    path = tmp_path / "state.json"
    path.write_bytes(b"1")
    for mode, seen in ((0o600, 1), (0o644, 1), (0o620, None), (0o602, None)):
        path.chmod(mode)
        assert read_json(path, private=True) == seen
        assert read_json(path) == 1
    path.chmod(0o600)
    monkeypatch.setattr(statefile.os, "geteuid", lambda: os.getuid() + 1)
    assert read_bytes(path, private=True) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, 3.0),
        (2.5, 2.5),
        ("abc", 0.0),
        (None, 0.0),
        (True, 0.0),
        (float("nan"), 0.0),
        (float("inf"), 0.0),
        (10**400, 0.0),
    ],
)
def test_only_finite_numbers_count_as_numbers(value, expected):
    assert finite(value) == expected


# -- writing


def test_a_file_is_written_for_its_owner_only_in_folders_for_its_owner_only(tmp_path):
    path = tmp_path / "a" / "b" / "state.json"
    old = os.umask(0)
    try:
        write_json(path, {"k": "é"})
    finally:
        os.umask(old)
    assert path.read_bytes() == '{"k":"é"}'.encode()
    assert _mode(path) == 0o600
    assert _mode(path.parent) == _mode(path.parent.parent) == 0o700


def test_an_indented_file_ends_with_a_newline(tmp_path):
    path = tmp_path / "state.json"
    write_json(path, {"k": 1}, indent=2, mode=0o640)
    assert path.read_text() == '{\n  "k": 1\n}\n'
    assert _mode(path) == 0o640


def test_a_symbolic_link_is_replaced_and_not_followed(tmp_path):
    target = tmp_path / "target"
    target.write_text("theirs")
    path = tmp_path / "state.json"
    path.symlink_to(target)
    write_atomic(path, b"ours")
    assert target.read_text() == "theirs"
    assert not path.is_symlink()
    assert path.read_bytes() == b"ours"


@pytest.mark.parametrize("value", [{"k": "\ud800"}, {"k": float("nan")}, {"k": object()}])
def test_what_is_no_json_leaves_the_old_file_alone(tmp_path, value):
    path = tmp_path / "state.json"
    write_json(path, {"old": True})
    with pytest.raises((ValueError, TypeError)):
        write_json(path, value)
    assert read_object(path) == {"old": True}
    assert [each.name for each in tmp_path.iterdir()] == ["state.json"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_no_rest(tmp_path, monkeypatch, step):
    path = tmp_path / "state.json"
    write_json(path, {"old": True})

    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "no space left")

    if step == "fsync":
        monkeypatch.setattr(statefile.os, "fsync", full)
    else:
        monkeypatch.setattr(statefile.Path, "replace", full)
    with pytest.raises(OSError, match="no space"):
        write_json(path, {"new": True})
    monkeypatch.undo()
    assert read_object(path) == {"old": True}
    assert [each.name for each in tmp_path.iterdir()] == ["state.json"]


def test_a_rest_that_cannot_be_removed_does_not_hide_the_real_error(tmp_path, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "no space left")

    def stuck(*args, **kwargs):
        raise PermissionError(errno.EACCES, "stuck")

    monkeypatch.setattr(statefile.Path, "replace", full)
    monkeypatch.setattr(statefile.Path, "unlink", stuck)
    with pytest.raises(OSError, match="no space"):
        write_atomic(tmp_path / "state.json", b"x")


def test_a_folder_that_cannot_be_flushed_is_no_failure(tmp_path, monkeypatch):
    real = os.fsync

    def files_only(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not for folders")
        real(descriptor)

    monkeypatch.setattr(statefile.os, "fsync", files_only)
    write_atomic(tmp_path / "state.json", b"x")
    assert (tmp_path / "state.json").read_bytes() == b"x"


def test_a_write_that_need_not_survive_a_power_cut_flushes_nothing(tmp_path, monkeypatch):
    flushed = []
    monkeypatch.setattr(statefile.os, "fsync", flushed.append)
    write_atomic(tmp_path / "state.json", b"x", durable=False)
    assert not flushed


def test_a_file_in_the_place_of_a_folder_is_an_error(tmp_path):
    (tmp_path / "a").write_text("")
    with pytest.raises(OSError, match=r"directory|exists"):
        write_atomic(tmp_path / "a" / "state.json", b"x")


def test_a_dangling_link_in_the_place_of_a_folder_is_an_error(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "nowhere")
    with pytest.raises(NotADirectoryError):
        write_atomic(tmp_path / "a" / "state.json", b"x")


@given(st.binary(max_size=2000))
def test_any_content_comes_back(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "file"
    write_atomic(path, content, durable=False)
    assert read_bytes(path) == content


# -- changing


def test_a_change_sees_the_old_object_and_returns_the_new_one(tmp_path):
    path = tmp_path / "state.json"
    assert update_json(path, lambda old: old | {"n": 1}) == {"n": 1}
    assert update_json(path, lambda old: old | {"m": old["n"] + 1}) == {"n": 1, "m": 2}
    assert read_object(path) == {"n": 1, "m": 2}


def test_a_change_that_changes_nothing_writes_nothing(tmp_path):
    path = tmp_path / "state.json"
    assert update_json(path, lambda old: None) == {}
    assert not path.exists()


def test_a_damaged_object_is_replaced(tmp_path):
    path = tmp_path / "state.json"
    path.write_bytes(b"{torn")
    update_json(path, lambda old: old | {"n": 1})
    assert read_object(path) == {"n": 1}


def test_a_change_gives_up_when_the_lock_stays_taken(tmp_path):
    path = tmp_path / "state.json"
    lock = LockFile(tmp_path / "state.json.lock")
    assert lock.try_acquire()
    with pytest.raises(TimeoutError):
        update_json(path, lambda old: {"n": 1}, deadline=_soon())
    lock.release()
    assert not path.exists()


def test_a_change_that_raises_gives_the_lock_back(tmp_path):
    path = tmp_path / "state.json"

    def broken(old):
        raise KeyError("broken")

    with pytest.raises(KeyError):
        update_json(path, broken)
    update_json(path, lambda old: {"n": 1}, deadline=_soon())


_COUNT = """
import sys
from pathlib import Path
from cognee_hooks.deadline import Deadline
from cognee_hooks.services.statefile import update_json
path, name, times = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for _ in range(times):
    update_json(path, lambda old: old | {"n": old.get("n", 0) + 1, name: old.get(name, 0) + 1},
                deadline=Deadline.after(100), durable=False)
"""


def _start(code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _close(process):
    process.stdin.close()
    process.stdout.close()


def test_no_change_of_several_processes_is_lost(tmp_path):
    path = tmp_path / "count.json"
    workers = [_start(_COUNT, path, f"w{each}", 60) for each in range(4)]
    assert [worker.wait(120) for worker in workers] == [0, 0, 0, 0]
    for worker in workers:
        _close(worker)
    assert read_object(path) == {"n": 240, "w0": 60, "w1": 60, "w2": 60, "w3": 60}


def test_p07_a_kill_in_the_middle_of_writing_leaves_whole_files_and_no_dead_lock(tmp_path):
    path = tmp_path / "count.json"
    steady = _start(_COUNT, path, "steady", 150)
    for turn in range(8):
        before = read_object(path).get("victim", 0)
        victim = _start(_COUNT, path, "victim", 100_000)
        wait_until(lambda before=before: read_object(path).get("victim", 0) > before)
        time.sleep(0.013 * turn)
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        _close(victim)
        assert read_json(path) is None or read_object(path)["n"] > 0
    assert steady.wait(120) == 0
    _close(steady)
    final = read_object(path)
    assert final["steady"] == 150
    assert final["n"] == final["steady"] + final.get("victim", 0)


# -- locks


def test_a_lock_is_held_by_one_and_free_after_release(tmp_path):
    path = tmp_path / "deep" / "x.lock"
    first, second = LockFile(path), LockFile(path)
    assert first.try_acquire()
    assert first.held
    assert not second.try_acquire()
    assert not second.held
    second.release()
    assert first.held
    first.release()
    first.release()
    assert not path.exists()
    assert second.acquire(_soon())
    second.release()


def test_a_lock_says_who_holds_it_and_is_private(tmp_path):
    path = tmp_path / "x.lock"
    lock = LockFile(path, owner="doctor")
    assert lock.try_acquire()
    content = read_object(path)
    assert content["owner"] == "doctor"
    assert content["pid"] == os.getpid()
    assert content["start_time"] == start_time(os.getpid())
    assert abs(content["time"] - time.time()) < 60
    assert _mode(path) == 0o600
    lock.release()


def test_waiting_for_a_lock_ends_at_the_deadline(tmp_path):
    path = tmp_path / "x.lock"
    holder = LockFile(path)
    assert holder.try_acquire()
    began = time.monotonic()
    assert not LockFile(path).acquire(_soon())
    assert time.monotonic() - began < PATIENCE
    with pytest.raises(TimeoutError), LockFile(path).holding(_soon()):
        pass
    holder.release()


def _write_lock(path, age=0.0, **content):
    path.write_text(json.dumps(content))
    moment = time.time() - age
    os.utime(path, (moment, moment))


def test_the_lock_of_a_dead_process_is_taken_over(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    path = tmp_path / "x.lock"
    _write_lock(path, pid=dead.pid, start_time="1", owner="old")
    lock = LockFile(path)
    assert lock.try_acquire()
    lock.release()


def test_the_lock_of_a_process_whose_id_was_given_to_another_is_taken_over(tmp_path):
    path = tmp_path / "x.lock"
    _write_lock(path, pid=os.getpid(), start_time="long ago")
    assert LockFile(path).try_acquire()


@pytest.mark.parametrize("age", [31.0, -31.0], ids=["too old", "from the future"])
def test_a_lock_of_an_impossible_age_is_taken_over(tmp_path, age):
    path = tmp_path / "x.lock"
    _write_lock(path, age, pid=os.getpid(), start_time=start_time(os.getpid()))
    assert LockFile(path).try_acquire()


def test_a_lock_of_another_plugin_without_a_start_time_counts_while_its_process_lives(tmp_path):
    path = tmp_path / "x.lock"
    _write_lock(path, pid=os.getpid(), owner="another plugin")
    assert not LockFile(path).try_acquire()


@pytest.mark.parametrize("content", [b"", b"not json", b"[1]", b'{"pid": "7"}'])
def test_a_lock_that_says_nothing_counts_for_five_seconds(tmp_path, content):
    path = tmp_path / "x.lock"
    path.write_bytes(content)
    assert not LockFile(path).try_acquire()
    old = time.time() - 6
    os.utime(path, (old, old))
    assert LockFile(path).try_acquire()


def test_a_lock_that_was_taken_over_is_not_released_by_its_old_holder(tmp_path):
    path = tmp_path / "x.lock"
    slow, quick = LockFile(path), LockFile(path)
    assert slow.try_acquire()
    old = time.time() - 40
    os.utime(path, (old, old))
    assert quick.try_acquire()
    assert not slow.held
    slow.release()
    assert quick.held
    quick.release()


def test_a_child_does_not_release_the_lock_of_its_parent(tmp_path, monkeypatch):
    path = tmp_path / "x.lock"
    lock = LockFile(path)
    assert lock.try_acquire()
    monkeypatch.setattr(statefile.os, "getpid", lambda: -1)
    lock.release()
    assert path.exists()


def test_a_program_that_knows_no_guard_and_is_faster_wins(tmp_path, monkeypatch):
    path = tmp_path / "x.lock"
    lock = LockFile(path)
    _write_lock(path, pid=os.getpid())
    monkeypatch.setattr(LockFile, "_cleared", lambda self: True)
    assert not lock.try_acquire()


def test_while_another_looks_at_the_lock_nobody_acts_on_it(tmp_path, monkeypatch):
    path = tmp_path / "x.lock"
    lock = LockFile(path)
    with statefile._Guard(path) as guarded:
        assert guarded
        assert not lock.try_acquire()
    assert lock.try_acquire()
    with statefile._Guard(path):
        monkeypatch.setattr(statefile, "LOCK_SECONDS", 0.05)
        lock.release()
    monkeypatch.undo()
    assert path.exists()
    lock.release()
    assert not path.exists()


_COMPETE = """
import sys
from pathlib import Path
from cognee_hooks.services.statefile import LockFile
lock = LockFile(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
print("won" if lock.try_acquire() else "lost", flush=True)
sys.stdin.readline()
"""


def test_a_stale_lock_has_one_new_holder_however_many_want_it(tmp_path):
    for turn in range(3):
        path = tmp_path / f"lock{turn}"
        _write_lock(path, 100.0, pid=os.getpid())
        rivals = [_start(_COMPETE, path) for _ in range(6)]
        assert [rival.stdout.readline() for rival in rivals] == ["ready\n"] * 6
        for rival in rivals:
            rival.stdin.write("go\n")
            rival.stdin.flush()
        # The winner holds it until all have tried.
        assert sorted(rival.stdout.readline() for rival in rivals) == ["lost\n"] * 5 + ["won\n"]
        for rival in rivals:
            rival.communicate(timeout=PATIENCE)


_HOLD = """
import sys, time
from pathlib import Path
from cognee_hooks.services.statefile import LockFile
assert LockFile(Path(sys.argv[1])).try_acquire()
print("held", flush=True)
time.sleep(60)
"""


def test_p07_the_lock_of_a_killed_process_is_free_at_once(tmp_path):
    path = tmp_path / "x.lock"
    holder = _start(_HOLD, path)
    assert holder.stdout.readline() == "held\n"
    lock = LockFile(path)
    assert not lock.try_acquire()
    holder.kill()
    holder.wait()
    _close(holder)
    # By its age alone it would be taken over after 30 s only.
    assert lock.acquire(Deadline.after(15.0))
    lock.release()

from __future__ import annotations

import subprocess
import sys

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.services.filelock import KernelLock

HOLD = """
import sys
from pathlib import Path
from cognee_hooks.services.filelock import KernelLock
lock = KernelLock(Path(sys.argv[1]))
print(lock.try_acquire(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "lock"


def test_one_of_two_holds_it(path):
    first, second = KernelLock(path), KernelLock(path)
    assert first.try_acquire()
    assert first.held
    assert not second.try_acquire()
    assert not first.try_acquire()
    first.release()
    first.release()
    assert not first.held
    assert second.try_acquire()


def test_it_is_for_its_owner_alone(path):
    KernelLock(path).try_acquire()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_killed_process_gives_it_back(path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"True\n"
    lock = KernelLock(path)
    assert not lock.acquire(Deadline.after(0.01))
    process.kill()
    process.communicate()
    assert lock.acquire(Deadline.after(60))


def test_whoever_waits_too_long_is_told(path):
    holder = KernelLock(path)
    holder.acquire(Deadline.after(1))
    with pytest.raises(TimeoutError), KernelLock(path).holding(Deadline.after(0)):
        pass
    holder.release()
    with KernelLock(path).holding(Deadline.after(0)):
        assert not holder.try_acquire()


def test_it_can_be_removed_by_its_holder(path):
    lock = KernelLock(path)
    lock.remove()
    assert lock.try_acquire()
    lock.remove()
    assert not path.exists()
    assert not lock.held


def test_a_file_that_was_removed_meanwhile_locks_nothing(path, monkeypatch):
    holder, waiting = KernelLock(path), KernelLock(path)
    assert holder.try_acquire()
    from cognee_hooks.services import filelock

    flock = filelock.fcntl.flock

    def removed_in_between(descriptor, operation):
        holder.remove()
        flock(descriptor, operation)

    monkeypatch.setattr(filelock.fcntl, "flock", removed_in_between)
    assert not waiting.try_acquire()
    monkeypatch.undo()
    assert waiting.try_acquire()


def test_another_file_in_its_place_locks_nothing(path, monkeypatch):
    holder, waiting = KernelLock(path), KernelLock(path)
    assert holder.try_acquire()
    from cognee_hooks.services import filelock

    flock = filelock.fcntl.flock

    def replaced_in_between(descriptor, operation):
        holder.remove()
        path.touch()
        flock(descriptor, operation)

    monkeypatch.setattr(filelock.fcntl, "flock", replaced_in_between)
    assert not waiting.try_acquire()


def test_a_link_is_not_followed(path, tmp_path):
    path.parent.mkdir()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=r"symbolic|loop"):
        KernelLock(path).try_acquire()
    assert not (tmp_path / "elsewhere").exists()

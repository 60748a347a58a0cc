from __future__ import annotations

import asyncio
import errno
import json
import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest

from builtin_plugins.bootstrap.locks import SharedLock, Taken, is_stale, keeping, take
from cognee_hooks.deadline import Deadline
from tests.support.waiting import until

NOW = 1_800_000_000.0
DEAD = 2**22 + 1
OTHERS = 1  # the first process belongs to another user, or is ours in a container


def lock(path: Path, **changes: object) -> SharedLock:
    return SharedLock(path / "a.lock", **({"owner": "t", "stale_after": 60.0} | changes))


def held_by(pid: object, age: float = 0.0, **fields: object) -> bytes:
    return json.dumps({"owner": "x", "pid": pid, "created_at": NOW - age} | fields).encode()


@pytest.mark.parametrize(
    ("content", "modified", "stale"),
    [
        (held_by(os.getpid(), 59), 59, False),
        (held_by(os.getpid(), 61), 61, True),
        (held_by(DEAD, 1), 1, True),
        (held_by(OTHERS, 1), 1, False),
        (b"{not json", 10, True),
        (b"", 0, False),
        (json.dumps({"pid": os.getpid()}).encode(), 1, True),
        (held_by(os.getpid(), -3600), 1, False),
        (held_by(0), 1, True),
    ],
    ids=[f"v{number}" for number in range(47, 56)],
)
def test_when_a_lock_no_longer_counts(content: bytes, modified: float, stale: bool):
    assert is_stale(content, NOW, NOW - modified, 60.0) is stale


@pytest.mark.parametrize("content", [None, b"", b"{torn"])
def test_w1_a_file_that_says_nothing_is_being_written_for_two_seconds(content: bytes | None):
    assert not is_stale(content, NOW, NOW - 1.9, 60.0)
    assert is_stale(content, NOW, NOW - 2.1, 60.0)


def test_a_process_that_got_the_id_of_the_holder_does_not_hold_the_lock():
    assert is_stale(held_by(os.getpid(), start_time="1"), NOW, NOW, 60.0)


def test_w1_the_file_is_never_seen_without_its_content(tmp_path: Path, monkeypatch):
    seen = []
    link = os.link

    def linked(source: Path, target: Path) -> None:
        seen.append((json.loads(Path(source).read_text()), target.exists()))
        link(source, target)

    monkeypatch.setattr(os, "link", linked)
    assert lock(tmp_path).try_acquire()
    assert [(each["pid"], there) for each, there in seen] == [(os.getpid(), False)]
    assert {each.name for each in tmp_path.iterdir()} == {"a.lock", ".a.lock.guard"}


def test_the_file_is_what_other_cognee_plugins_read(tmp_path: Path):
    assert lock(tmp_path, now=lambda: NOW).try_acquire()
    content = json.loads((tmp_path / "a.lock").read_text())
    assert content | {"owner": "t", "pid": os.getpid(), "created_at": NOW} == content


def test_a_lock_is_held_once(tmp_path: Path):
    first, second = lock(tmp_path), lock(tmp_path)
    assert first.try_acquire()
    assert not second.try_acquire()
    assert not first.try_acquire()
    first.release()
    assert not (tmp_path / "a.lock").exists()
    assert second.try_acquire()


def test_w2_a_lock_that_was_taken_over_is_not_released_by_its_old_holder(tmp_path: Path):
    old = lock(tmp_path)
    assert old.try_acquire()
    (tmp_path / "a.lock").unlink()  # as another plugin takes away what it thinks stale
    new = lock(tmp_path)
    assert new.try_acquire()
    before = (tmp_path / "a.lock").read_bytes()
    assert not old.held
    assert not old.refresh()
    old.release()
    assert (tmp_path / "a.lock").read_bytes() == before
    assert new.held


def test_w2_a_holder_that_works_on_keeps_the_lock_fresh(tmp_path: Path):
    moment = NOW
    holder = lock(tmp_path, now=lambda: moment)
    other = lock(tmp_path, now=lambda: moment)
    assert holder.try_acquire()
    for _ in range(5):
        moment += 45
        assert holder.refresh()
        assert not other.try_acquire()
    moment += 61
    assert other.try_acquire()
    assert not holder.held


async def test_w2_a_block_refreshes_its_lock_and_gives_it_back(tmp_path: Path):
    moments = iter(range(10**9))
    holder = lock(tmp_path, now=lambda: NOW + next(moments))
    assert holder.try_acquire()
    first = (tmp_path / "a.lock").read_text()
    async with keeping(holder, seconds=0.005):
        await until(lambda: (tmp_path / "a.lock").read_text() != first)
    assert not (tmp_path / "a.lock").exists()


def _compete(folder: str, together: Any, wins: Any) -> None:
    together.wait()
    mine = SharedLock(Path(folder) / "a.lock", owner="r", stale_after=60.0)
    if mine.try_acquire():
        wins.put(os.getpid())
    # A winner that ended would leave a stale lock behind for who is late.
    together.wait()


def test_w2_of_many_that_find_a_stale_lock_one_wins(tmp_path: Path):
    (tmp_path / "a.lock").write_bytes(held_by(DEAD))
    context = multiprocessing.get_context("spawn")
    wins, together = context.Queue(), context.Barrier(4)
    racers = [
        context.Process(target=_compete, args=(str(tmp_path), together, wins)) for _ in range(4)
    ]
    for each in racers:
        each.start()
    for each in racers:
        each.join(120)
    found = []
    while not wins.empty():
        found.append(wins.get())
    assert len(found) == 1


async def test_v56_who_waits_for_work_that_is_done_leaves_the_lock_alone(tmp_path: Path):
    holder = lock(tmp_path)
    assert holder.try_acquire()
    before = (tmp_path / "a.lock").read_bytes()

    async def done() -> bool:
        return True

    waiting = take(lock(tmp_path), Deadline.after(30), done, 0.5)
    assert await waiting is Taken.NEEDLESS
    assert (tmp_path / "a.lock").read_bytes() == before


async def test_waiting_ends_at_the_deadline_and_with_the_lock(tmp_path: Path):
    async def not_done() -> bool:
        return False

    holder = lock(tmp_path)
    assert holder.try_acquire()
    assert await take(lock(tmp_path), Deadline.after(0.02), not_done, 0.01) is Taken.TIMED_OUT
    waiting = asyncio.ensure_future(take(lock(tmp_path), Deadline.after(30), not_done, 0.01))
    await asyncio.sleep(0.03)
    holder.release()
    assert await waiting is Taken.HELD


@pytest.mark.parametrize(
    "content",
    [
        held_by(os.getpid(), created_at=10**400),
        held_by(os.getpid(), created_at=float("nan")),
        held_by(os.getpid(), created_at=True),
        held_by(10**30),
        held_by(-1),
        held_by("1"),
        b"[]",
        b"1" * 9000,
        b"[" * 5000,
        b"\xff\xfe",
    ],
)
def test_a_file_that_others_filled_with_anything_holds_nobody_up(content: bytes):
    assert is_stale(content, NOW, NOW - 10, 60.0)


def test_a_link_to_nowhere_in_the_place_of_a_lock_is_taken_away(tmp_path: Path):
    path = tmp_path / "a.lock"
    path.symlink_to(path)
    os.utime(path, (1, 1), follow_symlinks=False)
    mine = lock(tmp_path)
    assert mine.try_acquire()
    assert mine.held
    assert not path.is_symlink()


def test_a_pipe_in_the_place_of_a_lock_holds_nobody_up(tmp_path: Path):
    os.mkfifo(tmp_path / "a.lock")
    os.utime(tmp_path / "a.lock", (1, 1))
    assert lock(tmp_path).try_acquire()


def test_w2_a_program_that_knows_no_guard_may_be_faster(tmp_path: Path, monkeypatch):
    def linked(source: Path, target: Path) -> None:
        Path(target).write_bytes(held_by(os.getpid()))
        raise FileExistsError

    monkeypatch.setattr(os, "link", linked)
    mine = lock(tmp_path)
    assert not mine.try_acquire()
    assert not mine.held
    mine.release()
    assert (tmp_path / "a.lock").read_bytes() == held_by(os.getpid())


def test_a_disk_that_is_full_leaves_no_lock_behind(tmp_path: Path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "link", full)
    with pytest.raises(OSError, match="No space left"):
        lock(tmp_path).try_acquire()
    assert {each.name for each in tmp_path.iterdir()} == {".a.lock.guard"}
    monkeypatch.undo()
    assert lock(tmp_path).try_acquire()

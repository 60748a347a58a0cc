from __future__ import annotations

import errno
import logging
import os
import shutil
import time
from pathlib import Path

import pytest

from cognee_hooks.daemon import journal as module
from cognee_hooks.daemon import thin_client
from cognee_hooks.daemon.journal import Journal
from cognee_hooks.daemon.protocol import Opening
from cognee_hooks.services import statefile
from cognee_hooks.services.crypto import Sealer

KEY = bytes(32)
MINUTE_NS = 60 * 10**9


def event(number: int, **changes) -> Opening:
    fields = {
        "version": "1.0",
        "kind": "hook",
        "ident": f"{number:020d}-7",
        "agent": "pi",
        "event": "end",
        "pid": 42,
        "cwd": "/w",
        "environ": {"HOME": "/h"},
    }
    return Opening(**(fields | changes))


class Place:
    """A daemon's folder, as daemons one after the other and clients meanwhile see it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.journal = folder / "journal"
        self.spool = folder / "spool"

    def daemon(self, *, key: bytes = KEY, limit: int = 100) -> Journal:
        return Journal(self.folder, Sealer(key), limit=limit)

    def client(self, number: int, payload: bytes = b'{"spooled": true}') -> Path:
        """Leave an event as the thin client does."""
        thin_client.spool(os.fsencode(self.folder), event(number).kept(), payload)
        return self.spool / f"{number:020d}-7.event"

    def settle(self) -> None:
        """Make the spool look as if nothing had changed there for a while."""
        past = time.time_ns() - MINUTE_NS
        os.utime(self.spool, ns=(past, past))


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path / "daemon")


@pytest.fixture(autouse=True)
def logged(caplog):
    caplog.set_level(logging.INFO)
    return caplog


def numbers(found) -> list[int]:
    return [int(opening.ident.partition("-")[0]) for opening, _ in found]


# -- what was taken ------------------------------------------------------------------------------


def test_an_event_that_was_taken_is_there_for_the_next_daemon(place):
    assert place.daemon().add(event(1), b'{"a": "\xff"}')
    later = place.daemon()
    assert len(later) == 1
    assert list(later.pending()) == [(event(1), b'{"a": "\xff"}')]


def test_an_event_that_is_done_with_is_gone(place):
    journal = place.daemon()
    journal.add(event(1), b"{}")
    journal.discard(event(1).ident)
    assert len(journal) == 0
    assert list(place.daemon().pending()) == []
    assert list(place.journal.iterdir()) == []


def test_events_lie_encrypted_and_private_on_disk(place):
    place.daemon().add(event(1), b'{"prompt": "a thing that only we know"}')
    (file,) = place.journal.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert b"only we know" not in file.read_bytes()
    assert b"HOME" not in file.read_bytes()
    for folder in (place.journal, place.spool):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_events_come_back_in_the_order_of_their_time_whatever_order_they_came_in(place):
    journal = place.daemon()
    for number in (5, 300, 20, 1):
        journal.add(event(number), b"{}")
    assert numbers(place.daemon().pending()) == [1, 5, 20, 300]


def test_an_event_is_new_once_even_after_it_is_done_with(place):
    journal = place.daemon()
    assert journal.add(event(1), b"{}")
    assert not journal.add(event(1), b"{}")
    journal.discard(event(1).ident)
    assert not journal.add(event(1), b"{}")
    assert len(journal) == 0


def test_what_is_done_with_is_remembered_for_a_while_only(place, monkeypatch):
    monkeypatch.setattr(module, "_REMEMBERED", 2)
    journal = place.daemon()
    for number in range(3):
        journal.discard(event(number).ident)
    assert [journal.add(event(number), b"{}") for number in range(3)] == [True, False, False]


def test_an_unknown_event_can_be_discarded(place):
    place.daemon().discard(event(1).ident)


def test_beyond_the_limit_the_oldest_go_and_the_log_says_so(place, logged):
    journal = place.daemon(limit=2)
    for number in range(4):
        assert journal.add(event(number), b"{}")
    assert len(journal) == 2
    assert numbers(place.daemon().pending()) == [2, 3]
    assert [each.message for each in logged.records] == [
        f"the journal is full; event {event(number).ident} is dropped" for number in (0, 1)
    ]


def test_a_journal_that_an_earlier_daemon_left_too_long_shrinks(place):
    earlier = place.daemon()
    for number in range(5):
        earlier.add(event(number), b"{}")
    later = place.daemon(limit=3)
    assert numbers(later.pending()) == [0, 1, 2, 3, 4]
    later.add(event(9), b"{}")
    assert numbers(place.daemon().pending()) == [3, 4, 9]


def test_events_may_be_done_with_while_they_are_taken_up(place, logged):
    earlier = place.daemon()
    for number in range(3):
        earlier.add(event(number), b"{}")
    later = place.daemon()
    for opening, _ in later.pending():
        later.discard(opening.ident)
        later.discard(event(1).ident)
    assert len(later) == 0
    assert list(place.journal.iterdir()) == []


# -- what is damaged or strange ------------------------------------------------------------------


def _torn(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _moved(file: Path) -> None:
    file.write_bytes(Sealer(KEY).seal(event(1).kept() + b"{}", event(8).ident))


def _no_record(file: Path) -> None:
    file.write_bytes(Sealer(KEY).seal(b"something else", event(1).ident))


def _not_sealed(file: Path) -> None:
    file.write_bytes(event(1).kept() + b"{}")


def _huge(file: Path) -> None:
    os.truncate(file, module.MAX_RECORD_BYTES + 1)


def _open_to_others(file: Path) -> None:
    file.chmod(0o666)


def _pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _link_to_nothing(file: Path) -> None:
    file.unlink()
    file.symlink_to("nowhere")


def _link_to_itself(file: Path) -> None:
    file.unlink()
    file.symlink_to(file)


def facts(file: Path) -> tuple[int, ...]:
    """What a file is; when it was last read is no part of that."""
    status = file.lstat()
    return status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns


DAMAGED = [_torn, _empty, _moved, _no_record, _not_sealed]
STRANGE = [_huge, _open_to_others, _pipe, _folder, _link_to_nothing, _link_to_itself]


@pytest.mark.parametrize("damage", DAMAGED + STRANGE)
def test_what_cannot_be_read_stays_and_hinders_nothing(place, damage, logged):
    journal = place.daemon()
    for number in (0, 1, 2):
        journal.add(event(number), b"{}")
    file = place.journal / f"{event(1).ident}.sealed"
    damage(file)
    before = facts(file)
    assert numbers(place.daemon().pending()) == [0, 2]
    assert facts(file) == before
    assert "cannot be taken up again" in logged.text


def test_events_of_another_users_hand_are_not_read(place, monkeypatch):
    place.daemon().add(event(1), b"{}")
    monkeypatch.setattr(statefile.os, "geteuid", lambda: os.getuid() + 1)
    assert list(place.daemon().pending()) == []


def test_an_event_that_its_daemon_is_done_with_meanwhile_is_forgotten(place):
    earlier = place.daemon()
    earlier.add(event(1), b"{}")
    earlier.add(event(2), b"{}")
    journal = place.daemon()
    earlier.discard(event(1).ident)
    assert numbers(journal.pending()) == [2]
    assert len(journal) == 1


def test_events_under_another_key_wait_for_it(place):
    place.daemon().add(event(1), b"{}")
    assert list(place.daemon(key=b"x" * 32).pending()) == []
    assert numbers(place.daemon().pending()) == [1]


@pytest.mark.parametrize(
    "name", [".sealed", "notes.sealed", "1-1.sealed.tmp", "1-1", "\udcff.sealed"]
)
def test_files_whose_names_are_not_ours_are_none_of_our_business(place, name, logged):
    place.daemon()
    (place.journal / name).write_text("theirs")
    journal = place.daemon(limit=1)
    assert len(journal) == 0
    assert list(journal.pending()) == []
    journal.add(event(1), b"{}")
    journal.add(event(2), b"{}")
    assert (place.journal / name).read_text() == "theirs"


def test_a_full_disk_is_told_once_for_an_event_and_leaves_nothing_behind(place, monkeypatch):
    journal = place.daemon()
    _fill_disk(monkeypatch)
    with pytest.raises(OSError, match="No space left"):
        journal.add(event(1), b"{}")
    monkeypatch.undo()
    assert len(journal) == 0
    assert list(place.journal.iterdir()) == []
    # It is worked on from memory, so it is not new when a client brings it again.
    assert not journal.add(event(1), b"{}")
    assert journal.add(event(2), b"{}")


def _fill_disk(monkeypatch) -> None:
    def full(self, target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(statefile.Path, "replace", full)


def test_folders_that_somebody_removes_come_back(place):
    journal = place.daemon()
    journal.add(event(1), b"{}")
    shutil.rmtree(place.folder)
    journal.discard(event(1).ident)
    assert list(journal.spooled()) == []
    assert journal.add(event(2), b"{}")
    place.client(3)
    assert numbers(journal.spooled()) == [3]
    assert numbers(place.daemon().pending()) == [2, 3]


def test_a_file_in_the_place_of_a_folder_is_an_error_at_once(place):
    place.folder.mkdir()
    place.spool.write_text("")
    with pytest.raises(NotADirectoryError):
        place.daemon()


def test_folders_that_cannot_be_listed_are_empty(place, monkeypatch):
    place.daemon().add(event(1), b"{}")
    place.client(2)
    monkeypatch.setattr(Path, "glob", lambda self, pattern: iter(()))
    journal = place.daemon()
    assert len(journal) == 0
    assert list(journal.spooled()) == []


# -- the spool -----------------------------------------------------------------------------------


def test_spooled_events_move_into_the_journal_in_the_order_of_their_time(place):
    journal = place.daemon()
    for number in (30, 4, 200):
        place.client(number)
    assert list(journal.spooled()) == [
        (event(number), b'{"spooled": true}') for number in (4, 30, 200)
    ]
    assert list(place.spool.iterdir()) == []
    assert numbers(place.daemon().pending()) == [4, 30, 200]


def test_an_event_that_was_taken_and_spooled_counts_once(place):
    journal = place.daemon()
    journal.add(event(1), b"{}")
    journal.add(event(2), b"{}")
    journal.discard(event(2).ident)
    for number in (1, 2):
        place.client(number)
    assert list(journal.spooled()) == []
    assert list(place.spool.iterdir()) == []
    assert len(journal) == 1


def test_a_daemon_that_dies_between_journal_and_spool_leaves_one_event(place):
    place.client(1)
    earlier = place.daemon()
    for _ in earlier.spooled():
        place.client(1)  # as if it had not been removed
    later = place.daemon()
    assert numbers([*later.pending(), *later.spooled()]) == [1]


def test_a_spool_that_has_not_changed_is_not_looked_through(place, monkeypatch):
    journal = place.daemon()
    place.settle()
    assert list(journal.spooled()) == []
    monkeypatch.setattr(Path, "glob", None)
    assert list(journal.spooled()) == []


def test_events_of_the_same_tick_of_the_folders_clock_are_not_missed(place):
    journal = place.daemon()
    tick = time.time_ns()
    for number in range(3):
        place.client(number)
        os.utime(place.spool, ns=(tick, tick))
        assert numbers(journal.spooled()) == [number]
        os.utime(place.spool, ns=(tick, tick))


def test_a_clock_that_was_set_back_hides_nothing(place):
    journal = place.daemon()
    future = time.time_ns() + MINUTE_NS
    for number in range(2):
        place.client(number)
        os.utime(place.spool, ns=(future, future))
        assert numbers(journal.spooled()) == [number]
        os.utime(place.spool, ns=(future, future))


def test_events_that_are_still_being_written_are_left_alone(place):
    journal = place.daemon()
    file = place.client(1)
    draft = file.rename(file.with_suffix(".new"))
    assert list(journal.spooled()) == []
    draft.rename(file)
    assert numbers(journal.spooled()) == [1]


@pytest.mark.parametrize("content", [b"", b"{}", b"cognee-hooks 1.0 hook 50\n1-1", b"\xff" * 100])
def test_what_is_no_event_is_put_aside_once(place, content, logged):
    journal = place.daemon()
    file = place.client(1)
    file.write_bytes(content)
    place.client(2)
    assert numbers(journal.spooled()) == [2]
    assert list(journal.spooled()) == []
    assert file.with_suffix(".bad").read_bytes() == content
    assert logged.text.count("is no event") == 1


def test_a_number_without_end_in_place_of_a_process_is_no_event(place):
    journal = place.daemon()
    file = place.client(1)
    block = b"1-1\0pi\0x\0" + b"9" * 5000 + b"\0/\0"
    file.write_bytes(b"cognee-hooks 1.0 hook %d\n" % len(block) + block)
    assert list(journal.spooled()) == []
    assert file.with_suffix(".bad").exists()


@pytest.mark.parametrize("strange", STRANGE)
def test_what_is_no_private_file_stays_in_the_spool(place, strange, logged):
    journal = place.daemon()
    file = place.client(1)
    strange(file)
    before = facts(file)
    place.client(2)
    assert numbers(journal.spooled()) == [2]
    assert facts(file) == before
    assert "stays unread" in logged.text


def test_what_is_no_event_and_cannot_be_put_aside_hinders_nothing(place, monkeypatch):
    journal = place.daemon()
    place.client(1).write_bytes(b"rubbish")
    place.client(2)

    def denied(self, target):
        raise PermissionError(errno.EACCES, "denied")

    monkeypatch.setattr(Path, "rename", denied)
    assert numbers(journal.spooled()) == [2]


def test_on_a_full_disk_events_of_the_spool_are_taken_up_once_and_stay_there(
    place, monkeypatch, logged
):
    journal = place.daemon()
    place.client(1)
    place.client(2)
    place.settle()
    with monkeypatch.context() as patch:
        _fill_disk(patch)
        assert numbers(journal.spooled()) == [1, 2]
        place.client(3)
        place.settle()
        assert numbers(journal.spooled()) == [3]
        assert not journal.add(event(1), b"{}")
    assert len(list(place.spool.iterdir())) == 3
    assert len(journal) == 3
    assert "No space left" in logged.text
    journal.discard(event(2).ident)
    # Whoever comes after a kill finds what is not done with.
    assert numbers(place.daemon().spooled()) == [1, 3]


def test_an_event_that_had_to_stay_in_the_spool_comes_before_later_ones_after_a_kill(
    place, monkeypatch
):
    journal = place.daemon()
    place.client(1)
    with monkeypatch.context() as patch:
        _fill_disk(patch)
        assert numbers(journal.spooled()) == [1]
    assert list(journal.spooled()) == []
    assert list(place.spool.iterdir()) == []
    assert journal.add(event(2), b"{}")
    assert numbers(place.daemon().pending()) == [1, 2]


def test_an_event_that_stays_in_the_spool_and_is_gone_from_there_hinders_nothing(
    place, monkeypatch
):
    journal = place.daemon()
    place.client(1)
    with monkeypatch.context() as patch:
        _fill_disk(patch)
        assert numbers(journal.spooled()) == [1]
    for path in place.spool.iterdir():
        path.unlink()
    place.client(2)
    place.settle()
    assert numbers(journal.spooled()) == [2]
    assert len(journal) == 1


def test_an_event_that_cannot_be_removed_from_the_spool_counts_once(place, monkeypatch):
    journal = place.daemon()
    place.client(1)

    def denied(self):
        raise PermissionError(errno.EACCES, "denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", denied)
        assert numbers(journal.spooled()) == [1]
        assert list(journal.spooled()) == []
    assert len(list(place.spool.iterdir())) == 1


def test_two_requests_that_look_at_once_share_the_events(place, logged):
    journal = place.daemon()
    for number in range(4):
        place.client(number)
    place.settle()
    first = journal.spooled()
    mine = [next(first)]
    others = list(journal.spooled())
    mine += first
    assert numbers(mine) == [0]
    assert numbers(others) == [1, 2, 3]
    assert logged.text == ""


def test_events_that_a_failed_request_did_not_come_to_are_taken_by_the_next(place):
    journal = place.daemon()
    for number in range(3):
        place.client(number)
    place.settle()
    failed = journal.spooled()
    next(failed)
    failed.close()
    place.settle()
    assert numbers(journal.spooled()) == [1, 2]


# -- room --------------------------------------------------------------------------------------


def test_the_oldest_events_go_when_they_take_too_much_room(place, caplog):
    journal = Journal(place.folder, Sealer(KEY), max_bytes=3000)
    for number in range(5):
        journal.add(event(number), b"x" * 1000)
    assert len(journal) == 2
    assert [path.stem for path in sorted(place.journal.iterdir())] == [
        event(number).ident for number in (3, 4)
    ]
    assert "the journal is full" in caplog.text
    # What an earlier daemon left counts as well.
    again = Journal(place.folder, Sealer(KEY), max_bytes=2000)
    again.add(event(5), b"x" * 1000)
    assert len(again) == 1


def test_an_event_that_takes_all_the_room_is_kept(place):
    journal = Journal(place.folder, Sealer(KEY), max_bytes=10)
    assert journal.add(event(1), b"x" * 1000)
    assert len(journal) == 1


def test_what_killed_writers_left_is_swept_once_it_is_old(place):
    daemon = place.daemon()
    left = [
        (place.journal / ".x.sealed.1.ab.tmp", 90),
        (place.spool / "1-1.new", 90),
        (place.spool / "1-1.bad", 8 * 24 * 3600),
    ]
    young = [place.journal / ".y.tmp", place.spool / "2-2.new", place.spool / "2-2.bad"]
    for path in [*young, *(path for path, _ in left)]:
        path.write_bytes(b"")
    for path, age in left:
        os.utime(path, (time.time() - age, time.time() - age))
    daemon.sweep()
    assert not any(path.exists() for path, _ in left)
    assert all(path.exists() for path in young)

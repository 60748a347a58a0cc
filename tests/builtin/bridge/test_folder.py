from __future__ import annotations

import os

import pytest

from builtin_plugins.bridge.folder import STALE_TRACE_SECONDS, BufferFolder
from builtin_plugins.bridge.limits import BufferLimits
from builtin_plugins.bridge.log import Untrusted
from cognee_hooks.services.names import session_file_stem
from tests.support.bridged import URL, payload

DAY = 24 * 3600


@pytest.fixture
def buffers(folder, sealer, clock) -> BufferFolder:
    made = BufferFolder(folder, sealer, BufferLimits(100), now=clock)
    made.prepare()
    return made


def age(path, clock, seconds: float) -> None:
    os.utime(path, (clock.seconds - seconds, clock.seconds - seconds))


def test_the_folder_is_closed_to_others_w26(folder, sealer, clock):
    folder.mkdir()
    folder.chmod(0o775)
    made = BufferFolder(folder, sealer, BufferLimits(100), now=clock)
    made.prepare()
    assert folder.stat().st_mode & 0o777 == 0o700
    made.prepare()


def test_the_folder_of_another_user_is_not_used(folder, sealer, clock, monkeypatch):
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(Untrusted):
        BufferFolder(folder, sealer, BufferLimits(100), now=clock).prepare()


def test_each_session_has_one_buffer_under_the_name_of_pi_cognee(buffers, folder):
    buffer = buffers.of("s1")
    assert buffers.of("s1") is buffer
    assert buffer.path == folder / f"{session_file_stem('s1')}.json"


def test_buffers_with_entries_are_found_and_strangers_are_not(buffers, folder):
    buffers.of("s1").enqueue(payload(1))
    assert buffers.of("empty").count == 0
    (folder / "notes.json").write_text("{}")
    (folder / f"{'a' * 40}.json.123.tmp").write_text("{}")
    assert [*buffers.waiting()] == [buffers.of("s1")]


def test_what_nobody_touched_for_long_is_put_aside_and_counted_w33(buffers, folder, clock):
    for session in ("old", "new"):
        for number in range(3):
            buffers.of(session).enqueue(payload(number, session_id=session))
    age(buffers.of("old").path, clock, 31 * DAY)
    age(buffers.of("new").path, clock, 29 * DAY)
    swept = buffers.sweep(30)
    assert (swept.entries, swept.sessions) == (3, 1)
    assert buffers.of("old").aside == buffers.aside() == 3
    assert [*buffers.waiting()] == [buffers.of("new")]
    assert buffers.of("new").head(URL) is not None


def test_what_cannot_be_put_aside_stays(buffers, folder, clock):
    buffers.of("old").enqueue(payload(1))
    (folder / "quarantine").write_text("in the way")
    age(buffers.of("old").path, clock, 31 * DAY)
    assert buffers.sweep(30).entries == 0
    assert buffers.of("old").count == 1


def test_traces_of_empty_sessions_go_after_a_day(buffers, folder, clock):
    for session in ("fresh", "stale"):
        buffer = buffers.of(session)
        buffer.settle(buffer.enqueue(payload(1)).seq, "", "")
    for path in folder.glob(f"{buffers.of('stale').stem}.*"):
        age(path, clock, STALE_TRACE_SECONDS + 1)
    for path in folder.glob(f"{buffers.of('fresh').stem}.*"):
        age(path, clock, STALE_TRACE_SECONDS - 1)
    buffers.sweep(30)
    assert {path.stem for path in folder.iterdir()} == {buffers.of("fresh").stem}


def test_strangers_in_the_quarantine_are_not_counted(buffers, folder):
    (folder / "quarantine").mkdir()
    (folder / "quarantine" / "notes.json").write_text("{}")
    assert buffers.aside() == 0


def test_a_file_that_vanishes_is_not_old(buffers, folder):
    assert buffers._touched(folder / "gone") == buffers._now()


def test_of_many_buffers_only_ours_stay_in_memory(buffers, monkeypatch):
    from builtin_plugins.bridge import folder as module

    monkeypatch.setattr(module, "MAX_IN_MEMORY", 2)
    own, other = buffers.of("own"), buffers.of("other")
    buffers.forget(keep=[own])
    assert buffers.of("other") is other
    buffers.of("third")
    buffers.forget(keep=[own])
    assert buffers.of("own") is own
    assert buffers.of("other") is not other


def test_a_look_makes_no_folder_and_finds_what_keeps_one_from_being_made(
    folder, sealer, clock, monkeypatch
):
    look = BufferFolder(folder, sealer, BufferLimits(100), now=clock).check
    look()
    assert not folder.exists()
    with monkeypatch.context() as patched:
        patched.setattr(os, "access", lambda *_: False)
        with pytest.raises(PermissionError):
            look()
    folder.mkdir(mode=0o700, parents=True)
    with monkeypatch.context() as patched:
        patched.setattr(os, "geteuid", lambda: 12345)
        with pytest.raises(Untrusted):
            look()
    folder.rmdir()
    folder.write_text("a file")
    with pytest.raises(NotADirectoryError):
        look()

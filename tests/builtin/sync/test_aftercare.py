from __future__ import annotations

import asyncio
import errno
import logging
import os
import time

import pytest

from builtin_plugins.sync import aftercare
from builtin_plugins.sync.aftercare import MOST_SWEPT
from builtin_plugins.sync.files import SyncRecords
from builtin_plugins.sync.record import SyncRecord
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.events import DatasetChanged, SessionEnd, SessionStart
from cognee_hooks.services.names import session_file_stem
from cognee_hooks.services.session_state import KEPT_SECONDS
from tests.support.scripted import fails
from tests.support.sync_session import HERE

K = FailureKind
SESSION = HERE.session_id
DATA = HERE.dataset
RUNNING = {"status": "running", "stages": []}
BUSY = {"stages": [{"stage": "persist_session_qa", "status": "skipped", "reason": "lock_held"}]}
COVERED = {**BUSY, "rerun_requested": True}


async def begin(rig, source="resume"):
    rig.plugin().cognee_session_start(SessionStart(session_id=SESSION, source=source))
    await rig.port.settle()


async def end(rig):
    await rig.plugin().cognee_session_end(SessionEnd(session_id=SESSION), Deadline.after(9))


def turned_away(rig, *sessions, stored=2, records=None, ago=60.0):
    """Sessions, as ``id/dataset``, that found the server busy when they ended, one by one."""
    for number, name in enumerate(sessions):
        session, _, dataset = name.partition("/")
        record = SyncRecord(session_id=session, dataset=dataset or DATA)
        put(rig, record.waits(rig.now - ago + number), records=records)
        rig.store(stored, session_id=session)


def elsewhere(rig):
    """The same records, as a session that works with another server sees them."""
    return SyncRecords(rig.folder, "another server", logging.getLogger("test"))


def put(rig, record, age=60.0, records=None):
    (records or rig.records).write(record)
    path = rig.folder / f"{session_file_stem(record.session_id)}.json"
    os.utime(path, (rig.now - age, rig.now - age))


def asked(rig):
    return [f"{body['session_ids'][0]}/{body['dataset_name']}" for body in rig.improves]


def on_disk(rig, session=SESSION, dataset=DATA):
    return rig.records.read(session, dataset)


# -- the session itself


async def test_an_end_that_is_turned_away_gets_its_turn_behind_it(rig):
    rig.store(2)
    answers = iter([BUSY, BUSY, BUSY, RUNNING])
    rig.answers(lambda _: next(answers))
    await end(rig)
    assert len(rig.improves) == 1  # the end itself waits for nothing
    assert on_disk(rig).waiting_since == rig.now
    await rig.port.settle()
    assert asked(rig) == [f"{SESSION}/{DATA}"] * 4
    assert on_disk(rig).count == 2
    assert not on_disk(rig).waiting_since


async def test_it_is_tried_less_and_less_often_and_not_for_ever(rig, monkeypatch):
    waits = []
    monkeypatch.setattr(aftercare, "PAUSES", (1.0, 2.0, 4.0))
    monkeypatch.setattr(aftercare, "jittered", lambda seconds, *_, **__: waits.append(seconds) or 0)
    rig.store(2)
    rig.answers(BUSY)
    await end(rig)
    await rig.port.settle()
    assert waits == [1.0, 1.0, 2.0, 4.0]
    assert len(rig.improves) == 1 + 4
    assert on_disk(rig).waiting_since  # for the next session


async def test_an_end_that_another_run_covers_is_no_reason_to_try_again(rig):
    rig.store(2)
    rig.answers(COVERED)
    await end(rig)
    assert not rig.port.outlasting
    assert not on_disk(rig).waiting_since


async def test_a_failure_is_left_to_its_own_rules(rig):
    rig.store(2)
    answers = iter([BUSY, ServerFailure(K.SERVER_ERROR, "HTTP 500", status=500)])

    def answer(_):
        following = next(answers)
        if isinstance(following, ServerFailure):
            raise following
        return following

    rig.answers(answer)
    await end(rig)
    await rig.port.settle()
    assert on_disk(rig).failures == 1
    assert not on_disk(rig).waiting_since


async def test_what_a_change_of_the_dataset_leaves_gets_its_turn_at_the_end(rig):
    rig.store(2)
    rig.answers(BUSY)
    plugin = rig.plugin()
    change = DatasetChanged(previous=DATA, current="other", session_id=f"{SESSION}__2")
    plugin.cognee_dataset_changed(change)
    await rig.port.settle()
    assert on_disk(rig).waiting_since
    rig.answers(RUNNING)
    await plugin.cognee_session_end(SessionEnd(session_id=SESSION), Deadline.after(9))
    await rig.port.settle()
    assert asked(rig)[-1] == f"{SESSION}/{DATA}"


@pytest.mark.parametrize("killed", [False, True])
async def test_an_end_that_came_to_nothing_is_made_up_for_by_the_next_session(make, killed):
    rig = make("claude_other")
    rig.store(2)

    def answer(_):
        raise asyncio.CancelledError  # as where the daemon is stopped in the middle of it

    if killed:
        rig.answers(answer)
        with pytest.raises(asyncio.CancelledError):
            await end(rig)
    else:
        rig.client.scripts["/health"] = fails(K.REFUSED)
        await end(rig)
        await rig.port.settle()

    later = make()
    later.client.scripts.pop("/health", None)
    later.answers(RUNNING)
    await begin(later)
    assert asked(later) == [f"claude_other/{DATA}"]


# -- those that come after it


@pytest.mark.parametrize("source", ["startup", "resume"])
async def test_what_was_turned_away_before_is_made_up_for_when_a_session_begins(rig, source):
    rig.now = time.time()  # old records are removed then, by the time of their files
    turned_away(rig, "claude_a")
    rig.answers(RUNNING)
    await begin(rig, source)
    assert asked(rig) == [f"claude_a/{DATA}"]
    assert on_disk(rig, "claude_a").trigger == "sweep"
    await begin(rig, source)
    assert len(rig.improves) == 1


async def test_what_was_turned_away_before_is_made_up_for_when_a_session_ends(rig):
    turned_away(rig, "claude_a")
    rig.answers(RUNNING)
    await end(rig)  # which has nothing of its own
    await rig.port.settle()
    assert asked(rig) == [f"claude_a/{DATA}"]


async def test_of_each_dataset_one_session_is_synced_at_a_time_the_oldest_first(rig, monkeypatch):
    rounds = []
    monkeypatch.setattr(aftercare, "jittered", lambda *_, **__: rounds.append(asked(rig)) or 0)
    turned_away(rig, "claude_a/x", "claude_b/x", "claude_c/y", "claude_d/x")
    rig.answers(RUNNING)
    await begin(rig)
    first, second = rounds
    assert sorted(first) == ["claude_a/x", "claude_c/y"]
    assert second[2:] == ["claude_b/x"]
    assert asked(rig)[3:] == ["claude_d/x"]


async def test_progress_makes_the_waits_short_again(rig, monkeypatch):
    waits = []
    monkeypatch.setattr(aftercare, "PAUSES", (1.0, 2.0))
    monkeypatch.setattr(aftercare, "jittered", lambda seconds, *_, **__: waits.append(seconds) or 0)
    turned_away(rig, "claude_a", "claude_b")
    answers = iter([BUSY, BUSY, RUNNING, BUSY, BUSY, RUNNING])
    rig.answers(lambda _: next(answers))
    await begin(rig)
    assert waits == [1.0, 2.0, 1.0, 1.0, 2.0]
    assert next(answers, None) is None


async def test_only_one_session_at_a_time_sees_to_it(rig):
    turned_away(rig, "claude_a")
    lock = rig.records.line_lock()
    assert lock.try_acquire()
    await begin(rig)
    assert rig.improves == []
    lock.release()
    rig.answers(RUNNING)
    await begin(rig)
    assert len(rig.improves) == 1


async def test_who_sees_to_those_of_another_server_keeps_nobody_from_his_own(rig):
    turned_away(rig, "claude_a")
    assert elsewhere(rig).line_lock().try_acquire()
    rig.answers(RUNNING)
    await begin(rig)
    assert len(rig.improves) == 1


async def test_of_many_that_wait_none_is_passed_over(rig):
    rig.now = time.time()  # what is synced changes its file, and becomes the newest
    many = [f"claude_{number}/data_{number}" for number in range(60)]
    turned_away(rig, *many)
    rig.answers(RUNNING)
    await begin(rig)
    assert sorted(asked(rig)) == sorted(many)


async def test_who_comes_at_last_is_seen_to_as_well(rig, monkeypatch):
    monkeypatch.setattr(aftercare, "PAUSES", (1.0,))
    turned_away(rig, "claude_a")
    waits = []

    def pause(*_, **__):
        waits.append(1)
        if len(waits) == len(aftercare.PAUSES):  # the last one
            turned_away(rig, "claude_b/another", ago=30.0)
        return 0

    monkeypatch.setattr(aftercare, "jittered", pause)
    rig.answers(BUSY)
    await begin(rig)
    assert "claude_b/another" in asked(rig)
    assert len(rig.improves) < 6


@pytest.fixture
async def ledgers(rig, monkeypatch):
    """The sessions whose ledgers are read, with "" wherever others get to run in between."""
    read, totals = [], rig.ledger.totals

    def counted(session_id):
        read.append(session_id)
        return totals(session_id)

    async def others():
        while True:
            read.append("")
            await asyncio.sleep(0)

    monkeypatch.setattr(rig.ledger, "totals", counted)
    task = asyncio.get_running_loop().create_task(others())
    yield read
    task.cancel()


async def test_an_end_reads_no_ledgers_but_of_those_whose_turn_it_is(rig, ledgers):
    turned_away(rig, *(f"claude_{number}" for number in range(40)))
    assert rig.records.line_lock().try_acquire()
    await end(rig)
    assert {*ledgers} - {"", SESSION} == {"claude_0"}


async def test_a_beginning_that_looks_at_many_lets_others_run(rig, ledgers):
    for number in range(40):
        session = f"claude_{number}"
        put(rig, SyncRecord(session_id=session, dataset=DATA), age=7200)
    await begin(rig)
    assert len({*ledgers}) > 40
    together = " ".join(each or "|" for each in ledgers).split("|")
    assert max(len({*each.split()}) for each in together) == 1


async def test_where_no_lock_can_be_made_nobody_sees_to_it(rig, caplog):
    turned_away(rig, "claude_a")
    rig.records.line_lock()._path.symlink_to(rig.folder / "elsewhere")
    await begin(rig)
    assert rig.improves == []
    assert "no lock for syncs" in caplog.text


@pytest.mark.parametrize(
    "why", ["another server", "nothing stored", "needs a person", "busy for a month"]
)
async def test_some_have_to_stay_where_they_are(rig, why):
    match why:
        case "another server":
            turned_away(rig, "claude_a", records=elsewhere(rig))
        case "nothing stored":
            turned_away(rig, "claude_a", stored=0)
        case "busy for a month":
            turned_away(rig, "claude_a", ago=KEPT_SECONDS)
        case "needs a person":
            turned_away(rig, "claude_a")
            failed = SyncRecord(session_id="claude_a", dataset=DATA)
            failed = failed.failed(rig.now - 60, "HTTP 402", "final", needs_user=True)
            put(rig, failed.waits(rig.now))
    rig.answers(RUNNING)
    await begin(rig)
    await end(rig)
    assert rig.improves == []
    assert not rig.port.outlasting


async def test_while_the_server_is_away_it_is_not_asked_and_not_waited_for_for_ever(rig):
    turned_away(rig, "claude_a")
    rig.client.scripts["/health"] = fails(K.REFUSED)
    await begin(rig)
    assert rig.improves == []
    assert on_disk(rig, "claude_a").waiting_since


async def test_a_disk_that_keeps_no_record_ends_it(rig, monkeypatch):
    turned_away(rig, "claude_a")
    rig.answers(RUNNING)

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr("builtin_plugins.sync.files.write_json", full)
    await begin(rig)
    assert 0 < len(rig.improves) < 10


async def test_doctor_says_how_many_wait_for_their_turn(rig):
    turned_away(rig, "claude_a")
    assert "; 1 ended session waits for the server; no sync yet" in told(rig)
    turned_away(rig, "claude_a", "claude_b")
    assert "; 2 ended sessions wait for the server" in told(rig)
    rig.answers(RUNNING)
    await begin(rig)
    assert "for the server" not in told(rig)


def told(rig):
    return rig.plugin().cognee_doctor_checks().detail


# -- those that were left behind in another way


async def test_a_session_that_begins_looks_after_a_few_that_were_left_behind(rig):
    for number in range(MOST_SWEPT + 2):
        session = f"claude_{number}"
        put(rig, SyncRecord(session_id=session, dataset=f"{session}_data"), age=7200 + number)
        rig.store(2, session_id=session)
    rig.answers(RUNNING)
    await begin(rig)
    few = [f"claude_{each}/claude_{each}_data" for each in range(MOST_SWEPT)]
    assert sorted(asked(rig)) == few


@pytest.mark.parametrize(
    ("environ", "source"),
    [
        ({}, "compact"),
        ({"COGNEE_FINAL_SYNC": "false"}, "startup"),
        ({"COGNEE_CAPTURE": "0"}, "resume"),
    ],
)
async def test_a_beginning_that_is_none_or_where_it_is_switched_off_changes_nothing(
    make, environ, source
):
    rig = make(**environ)
    turned_away(rig, "claude_a")
    await begin(rig, source)
    assert rig.improves == []

"""One session's buffer: what it keeps, whatever lies in its files."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from builtin_plugins.bridge import buffer as module
from builtin_plugins.bridge import envelope, log
from builtin_plugins.bridge.buffer import Buffer
from builtin_plugins.bridge.log import Untrusted
from builtin_plugins.bridge.marks import Tail
from cognee_hooks.services.filelock import KernelLock
from tests.support.bridged import STEM, URL, entry, other_sealer, payload, taken_out

PLAIN = {**entry("old"), "sessionId": "s1", "dataset": "d", "_buffered_at": 5}


def names(folder) -> set[str]:
    return {path.name.removeprefix(STEM) for path in folder.iterdir()}


def plain(folder, *elements, **fields) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{STEM}.json"
    path.write_text(json.dumps({"entries": [*elements], "fail_count": 0, "fail_at": 0} | fields))
    path.chmod(0o600)


# -- keeping -----------------------------------------------------------------------------------


def test_an_entry_is_in_both_files_before_enqueue_returns_and_cannot_be_read(buffer, folder):
    buffer.enqueue(payload("find me"))
    for name in ("json", "log"):
        content = (folder / f"{STEM}.{name}").read_bytes()
        assert b"sealed" in content
        assert b"find" not in content
        assert (folder / f"{STEM}.{name}").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


def test_entries_come_out_in_the_order_of_capture_also_in_another_process(buffer, buffer_of):
    for number in range(5):
        buffer.enqueue(payload(number))
    other = buffer_of()
    assert other.count == 5
    assert other.oldest(URL) == 1_700_000_000_000
    assert taken_out(other) == [f"question {number}" for number in range(5)]
    assert (buffer.count, buffer.head(URL), buffer.oldest(URL)) == (0, None, None)


def test_several_processes_add_to_one_file_and_nothing_is_lost(buffer_of):
    first, second = buffer_of(), buffer_of()
    for number in range(20):
        (first if number % 2 else second).enqueue(payload(number))
    assert taken_out(buffer_of()) == [f"question {number}" for number in range(20)]


def test_real_processes_at_the_same_time_lose_nothing(folder, buffer_of, sealer):
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from builtin_plugins.bridge.buffer import Buffer\n"
        "from builtin_plugins.bridge.limits import BufferLimits\n"
        "from cognee_hooks.services.crypto import Sealer\n"
        "from tests.support.bridged import STEM, payload\n"
        "made = Buffer(Path(sys.argv[1]), STEM, Sealer(bytes(range(32))), BufferLimits(1000),"
        " now=time.time)\n"
        "for number in range(20):\n"
        "    while True:\n"
        "        try:\n"
        "            made.enqueue(payload(f'{sys.argv[2]} {number}'))\n"
        "            break\n"
        "        except TimeoutError:\n"
        "            pass\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(folder), name]) for name in ("a", "b")
    ]
    assert [process.wait() for process in running] == [0, 0]
    found = taken_out(buffer_of())
    for name in ("a", "b"):
        mine = [each for each in found if each.startswith(f"question {name} ")]
        assert mine == [f"question {name} {number}" for number in range(20)]


def test_an_entry_is_taken_once_under_its_key(buffer, buffer_of):
    first = buffer.enqueue(payload(1, key="event"))
    assert buffer.enqueue(payload(1, key="event")).seq == 0
    assert buffer_of().enqueue(payload(1, key="event")).seq == 0
    buffer.settle(first.seq, "", "")
    assert buffer_of().enqueue(payload(1, key="event")).seq == 0
    assert buffer.enqueue(payload(1, key="another event")).seq
    assert buffer.enqueue(payload(1)).seq
    assert buffer.enqueue(payload(1)).seq


def test_beyond_the_limit_the_oldest_go_z13(buffer_of):
    buffer = buffer_of(2)
    assert [buffer.enqueue(payload(number)).dropped for number in range(3)] == [0, 0, 1]
    assert taken_out(buffer_of()) == ["question 1", "question 2"]


def test_the_limit_counts_bytes_as_well(buffer_of):
    buffer = buffer_of(size=2000)
    dropped = sum(
        buffer.enqueue(payload(entry(number, answer="x" * 300))).dropped for number in range(9)
    )
    assert dropped == 9 - buffer.count > 0
    with pytest.raises(OSError, match="too long"):
        buffer.enqueue(payload(entry(1, answer="x" * 3000)))


def test_an_entry_that_may_be_on_its_way_is_not_dropped(buffer_of):
    buffer = buffer_of(1)
    sent = buffer.enqueue(payload(1))
    buffer.begin(sent.seq)
    assert buffer.enqueue(payload(2)).dropped == 0
    assert buffer.enqueue(payload(3)).dropped == 1
    assert taken_out(buffer) == ["question 1", "question 3"]


def test_what_was_dropped_is_not_taken_again(buffer_of):
    buffer = buffer_of(1)
    buffer.enqueue(payload(1, key="event 1"))
    buffer.enqueue(payload(2, key="event 2"))
    assert buffer.enqueue(payload(1, key="event 1")).seq == 0


def test_a_full_buffer_is_edited_in_place_and_stays_bounded(buffer_of, monkeypatch):
    monkeypatch.setattr(envelope, "MAX_WASTE", 5000)
    monkeypatch.setattr(module, "MAX_WASTE", 5000)
    buffer = buffer_of(20)
    for number in range(300):
        buffer.enqueue(payload(number))
        assert sum(path.stat().st_size for path in buffer.path.parent.iterdir()) < 100_000
    assert taken_out(buffer_of()) == [f"question {number}" for number in range(280, 300)]


# -- attempts, tails, names --------------------------------------------------------------------


def test_attempts_are_known_to_the_next_process(buffer, buffer_of):
    seq = buffer.enqueue(payload(1)).seq
    assert buffer.head(URL).attempt is None
    buffer.begin(seq)
    assert buffer_of().head(URL).attempt.running
    buffer.doubt(seq, until=99, checks=2)
    attempt = buffer_of().head(URL).attempt
    assert (attempt.running, attempt.until, attempt.checks) == (False, 99, 2)
    buffer.clear(seq)
    assert buffer_of().head(URL).attempt is None


def test_what_the_server_took_is_remembered_when_nothing_waits(buffer, buffer_of, folder):
    for number in range(3):
        buffer.settle(buffer.enqueue(payload(number)).seq, "key", f"print {number}")
    assert buffer_of().tail("key") == Tail(3, ["print 0", "print 1", "print 2"])
    assert names(folder) == {".lock", ".log"}
    assert (folder / f"{STEM}.log").read_bytes().count(b"\n") == 1
    assert buffer_of().complete


def test_other_ids_of_a_session_are_remembered(buffer, buffer_of):
    assert buffer.name("key") == ""
    buffer.rename("key", "s1__2")
    assert buffer_of().name("key") == "s1__2"


@pytest.mark.parametrize("left", ["nothing", "a line"])
def test_a_cut_log_of_an_empty_buffer_is_noticed_and_learnt_anew(buffer, buffer_of, folder, left):
    buffer.settle(buffer.enqueue(payload(1)).seq, "key", "print")
    path = folder / f"{STEM}.log"
    os.truncate(path, 0 if left == "nothing" else 20)
    buffer.enqueue(payload(2))
    assert not buffer_of().complete
    buffer.learn({"key": Tail(1, ["print"])})
    assert buffer_of().complete
    assert buffer_of().tail("key").total == 1


def test_a_log_that_lost_its_last_lines_is_noticed_as_well(buffer, buffer_of, folder):
    path = folder / f"{STEM}.log"
    seq = buffer.enqueue(payload(1)).seq
    buffer.begin(seq)
    before = path.read_bytes()
    buffer.settle(seq, "key", "print")
    path.write_bytes(before)
    other = buffer_of()
    assert other.count == 0
    other.enqueue(payload(2))
    assert not buffer_of().complete


def test_failures_make_a_file_rest_and_any_progress_ends_that_w31(buffer, buffer_of, clock):
    first, second = (buffer.enqueue(payload(number)).seq for number in (1, 2))
    buffer.failed()
    assert buffer_of().resting_until == int(clock.seconds * 1000) + 60_000
    clock.seconds += 61
    assert buffer_of().resting_until == 0
    buffer.failed()
    assert buffer.resting_until == int(clock.seconds * 1000) + 120_000
    buffer.settle(first, "", "")
    assert buffer_of().resting_until == 0
    assert json.loads(buffer.path.read_text())["fail_count"] == 0
    assert buffer.head(URL).seq == second


# -- servers and keys --------------------------------------------------------------------------


def test_an_entry_goes_to_the_server_that_it_was_captured_for(buffer):
    buffer.enqueue(payload("there", url="http://other"))
    buffer.enqueue(payload("here"))
    buffer.enqueue(payload("any", url=""))
    assert buffer.by_server() == {"http://other": 1, URL: 1, "": 1}
    assert taken_out(buffer) == ["question here", "question any"]
    assert taken_out(buffer, "http://other") == ["question there"]


def test_what_only_another_key_opens_is_kept_and_blocks_nobody(buffer, buffer_of, folder):
    here = buffer_of(sealer=other_sealer())
    for number in range(3):
        buffer.enqueue(payload(number))
    here.enqueue(payload("mine"))
    assert here.by_server() == {None: 3, URL: 1}
    assert taken_out(here) == ["question mine"]
    assert here.count == 3
    # With its key back, all of it is there.
    assert taken_out(buffer_of()) == ["question 0", "question 1", "question 2"]


def test_entries_that_only_another_key_opens_are_not_dropped_for_ours(buffer, buffer_of):
    for number in range(3):
        buffer.enqueue(payload(number))
    here = buffer_of(2, sealer=other_sealer())
    here.by_server()
    dropped = [here.enqueue(payload(f"mine {number}")).dropped for number in range(4)]
    assert dropped == [0, 0, 1, 1]
    assert here.by_server() == {None: 3, URL: 2}


def test_the_buffer_of_another_machine_over_our_own_log_is_kept(
    buffer, buffer_of, folder, tmp_path, sealer, clock
):
    # Ours is empty and has given out the same numbers.
    for number in range(3):
        buffer.settle(buffer.enqueue(payload(number)).seq, "", "")
    theirs = Buffer(tmp_path / "theirs", STEM, other_sealer(), module.BufferLimits(9), now=clock)
    theirs.enqueue(payload("theirs"))
    (folder / f"{STEM}.json").write_bytes(theirs.path.read_bytes())
    (folder / f"{STEM}.json").chmod(0o600)
    here = buffer_of()
    here.enqueue(payload("ours"))
    assert here.by_server() == {None: 1, URL: 1}


def test_numbers_that_meet_are_put_aside_and_not_lost(buffer, buffer_of, folder, tmp_path, clock):
    buffer.enqueue(payload("ours"))
    theirs = Buffer(tmp_path / "theirs", STEM, other_sealer(), module.BufferLimits(9), now=clock)
    theirs.enqueue(payload("theirs"))
    (folder / f"{STEM}.json").write_bytes(theirs.path.read_bytes())
    here = buffer_of()
    here.adopt()
    assert (here.count, here.aside) == (1, 1)
    assert taken_out(here) == ["question ours"]


# -- what other programs wrote -----------------------------------------------------------------


def test_entries_of_pi_cognee_are_taken_over_sealed_and_stripped(buffer, buffer_of, folder):
    plain(folder, PLAIN, {**PLAIN, "question": "q2", "_replay_ambiguous": True}, fail_count=3)
    head = buffer.head("http://whatever")
    assert head.payload.entry == entry("old")
    assert (head.payload.session_id, head.payload.dataset) == ("s1", "d")
    assert head.attempt is None
    buffer.adopt()
    assert b"question old" not in (folder / f"{STEM}.json").read_bytes()
    other = buffer_of()
    other.settle(other.head(URL).seq, "", "")
    assert other.head(URL).attempt is not None
    assert taken_out(other) == ["q2"]


def test_a_new_entry_comes_behind_those_of_pi_cognee(buffer, buffer_of, folder):
    plain(folder, PLAIN, {**PLAIN, "dataset": None})
    buffer.enqueue(payload("new"))
    assert taken_out(buffer_of()) == ["question old", "question old", "question new"]


def test_what_pi_cognee_adds_and_what_it_loses_of_ours_is_all_there(buffer, buffer_of, folder):
    first = buffer.enqueue(payload(1)).seq
    stale = json.loads(buffer.path.read_text())["entries"]
    buffer.enqueue(payload(2))
    buffer.settle(first, "", "")
    plain(folder, *stale, PLAIN)  # it read the file before, and writes it now
    assert taken_out(buffer_of()) == ["question 2", "question old"]


def test_junk_is_put_aside_and_never_in_the_way_w31(buffer, buffer_of, folder):
    plain(folder, None, {"a": 1}, PLAIN, "x")
    buffer.adopt()
    assert buffer.aside == 3
    assert taken_out(buffer_of()) == ["question old"]
    assert b"question" not in buffer.aside_path.read_bytes()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"entries": 5}', b"\xff", b"[" * 100_000])
def test_a_torn_or_alien_envelope_is_made_anew_from_the_log(buffer, buffer_of, folder, content):
    for number in range(3):
        buffer.enqueue(payload(number))
    buffer.path.write_bytes(content)
    other = buffer_of()
    assert other.count == 3
    other.adopt()
    if content:
        assert (folder / f"{STEM}.torn").read_bytes() == content
    assert taken_out(buffer_of()) == ["question 0", "question 1", "question 2"]


def test_what_is_whole_in_a_torn_file_of_pi_cognee_is_taken_over_once(
    buffer_of, folder, monkeypatch
):
    plain(folder, PLAIN, PLAIN)
    path = folder / f"{STEM}.json"
    path.write_bytes(path.read_bytes()[:-60])
    buffer = buffer_of()

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(envelope.EnvelopeFile, "store", killed)
    with pytest.raises(KeyboardInterrupt):
        buffer.adopt()
    monkeypatch.undo()
    assert taken_out(buffer_of()) == ["question old"]


def test_without_an_envelope_nothing_waits(buffer, buffer_of, folder):
    buffer.enqueue(payload(1))
    buffer.path.unlink()
    assert buffer_of().count == 0
    assert buffer_of().head(URL) is None
    buffer_of().enqueue(payload(2))
    assert taken_out(buffer_of()) == ["question 2"]


@pytest.mark.parametrize("name", ["json", "log"])
@pytest.mark.parametrize("kind", ["others can write", "pipe", "folder", "huge"])
def test_files_that_are_not_ours_alone_are_neither_read_nor_touched(
    buffer, buffer_of, folder, name, kind, monkeypatch
):
    buffer.enqueue(payload(1))
    path = folder / f"{STEM}.{name}"
    if kind == "others can write":
        path.chmod(0o620)
    elif kind == "huge":
        os.truncate(path, 20_000_000)
    else:
        path.unlink()
        os.mkfifo(path) if kind == "pipe" else path.mkdir()
    facts = path.lstat()
    for act in (lambda each: each.count, lambda each: each.enqueue(payload(2))):
        with pytest.raises(Untrusted):
            act(buffer_of())
    assert path.lstat() == facts


# -- trouble -----------------------------------------------------------------------------------


def test_whoever_holds_the_lock_for_long_is_not_waited_for(buffer, folder):
    buffer.enqueue(payload(1))
    holder = KernelLock(folder / f"{STEM}.lock")
    holder.try_acquire()
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        buffer.enqueue(payload(2))
    assert time.monotonic() - began < 5
    holder.release()
    buffer.enqueue(payload(3))
    assert taken_out(buffer) == ["question 1", "question 3"]


def full(*_arguments, **_options):
    raise OSError(errno.ENOSPC, "no space left")


@pytest.mark.parametrize("waiting", [0, 1, 2])
@pytest.mark.parametrize("what", ["log", "envelope", "both anew"])
def test_on_a_full_disk_an_entry_is_wholly_refused(buffer_of, waiting, what, monkeypatch):
    buffer = buffer_of()
    for number in range(waiting):
        buffer.enqueue(payload(number))
    if what == "both anew" and waiting:
        buffer.path.write_bytes(buffer.path.read_bytes()[:-3])
    with monkeypatch.context() as patch:
        if what == "log":
            patch.setattr(log.SessionLog, "append", full)
            patch.setattr(log.SessionLog, "rewrite", full)
        else:
            patch.setattr(envelope.EnvelopeFile, "store", full)
        with pytest.raises(OSError, match="no space"):
            buffer.enqueue(payload("refused"))
    kept = [f"question {number}" for number in range(waiting)]
    buffer.enqueue(payload("taken"))
    assert taken_out(buffer_of()) == [*kept, "question taken"]


def test_on_a_full_disk_what_the_server_has_is_not_forgotten(buffer, buffer_of, monkeypatch):
    seq = buffer.enqueue(payload(1)).seq
    buffer.enqueue(payload(2))
    with monkeypatch.context() as patch:
        patch.setattr(envelope.EnvelopeFile, "store", full)
        buffer.begin(seq)
        buffer.settle(seq, "key", "print")
    assert taken_out(buffer_of()) == ["question 2"]
    assert buffer.tail("key").total == 1


def test_a_quarantine_that_cannot_be_written_keeps_the_entry(buffer, buffer_of, folder):
    seq = buffer.enqueue(payload(1)).seq
    (folder / "quarantine").write_text("in the way")
    with pytest.raises(NotADirectoryError):
        buffer.set_aside([seq], "refused")
    assert buffer_of().count == 1


def test_what_is_put_aside_is_sealed_counted_and_gone_from_the_buffer(buffer, buffer_of):
    first = buffer.enqueue(payload(1)).seq
    buffer.enqueue(payload(2))
    assert buffer.set_aside([first, 99], "refused") == 0
    assert (buffer.count, buffer.aside) == (1, 1)
    assert buffer.set_aside_all("old") == 1
    assert (buffer_of().count, buffer_of().aside) == (0, 2)
    content = buffer.aside_path.read_bytes()
    assert b"question" not in content
    assert b"refused" not in content


def test_the_quarantine_is_bounded_and_survives_nonsense(buffer, monkeypatch):
    from builtin_plugins.bridge import quarantine

    monkeypatch.setattr(quarantine, "MAX_ENTRIES", 3)
    buffer.aside_path.parent.mkdir(parents=True)
    buffer.aside_path.write_text('{"entries": 5}')
    gone = [buffer.set_aside([buffer.enqueue(payload(n)).seq], "refused") for n in range(5)]
    assert gone == [0, 0, 0, 1, 1]
    monkeypatch.setattr(quarantine, "MAX_BYTES", 10)
    assert buffer.set_aside([buffer.enqueue(payload(9)).seq], "refused") == 3
    assert buffer.aside == 1


def test_flushing_brings_both_files_to_the_disk_where_they_are(buffer, monkeypatch):
    flushed = []
    monkeypatch.setattr(os, "fsync", flushed.append)
    buffer.flush()
    assert flushed == []
    buffer.enqueue(payload(1))
    buffer.flush()
    assert len(flushed) == 2


def test_traces_of_an_empty_buffer_are_removed_and_of_others_not(buffer, buffer_of, folder):
    seq = buffer.enqueue(payload(1)).seq
    buffer.remove_traces()
    assert names(folder) == {".json", ".log", ".lock"}
    buffer.settle(seq, "", "")
    other = buffer_of()
    other.drain_lock.try_acquire()
    buffer.remove_traces()
    assert ".log" in names(folder)
    other.drain_lock.release()
    buffer.remove_traces()
    assert names(folder) == set()
    buffer.enqueue(payload(2))
    assert taken_out(buffer_of()) == ["question 2"]


# -- rewriting -----------------------------------------------------------------------------------


def rewritten(each):
    return replace(each, entry={**each.entry, "question": "other"})


def test_what_can_be_opened_is_rewritten_and_the_rest_stays(buffer_of):
    buffer_of(sealer=other_sealer()).enqueue(payload("theirs"))
    buffer_of().enqueue(payload("ours"))
    buffer_of().rewrite(rewritten)
    assert taken_out(buffer_of()) == ["other"]
    assert buffer_of().count == 1


def test_a_rewriting_that_was_not_written_whole_says_so(buffer_of, monkeypatch):
    buffer_of().enqueue(payload("ours"))

    def full(*_):
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patched:
        patched.setattr(envelope.EnvelopeFile, "store", full)
        with pytest.raises(OSError, match="Input/output"):
            buffer_of().rewrite(rewritten)
    buffer_of().rewrite(rewritten)
    assert taken_out(buffer_of()) == ["other"]

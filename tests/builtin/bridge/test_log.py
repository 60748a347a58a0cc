from __future__ import annotations

import os

import pytest

from builtin_plugins.bridge.items import Vault
from builtin_plugins.bridge.log import LeftBecause, SessionLog, Untrusted, entry_line
from builtin_plugins.bridge.marks import Marks
from tests.support.bridged import STEM, other_sealer, payload


@pytest.fixture
def log(tmp_path, vault) -> SessionLog:
    return SessionLog(tmp_path / "file.log", vault)


@pytest.fixture
def items(vault):
    return {seq: vault.wrap(seq, payload(seq)) for seq in range(1, 4)}


def test_no_log_tells_nothing(log):
    story = log.read()
    assert not story.exists
    assert not story.damaged
    assert story.marks is None


def test_a_log_tells_what_came_and_what_left(log, items):
    log.rewrite(Marks(revision=1, next_seq=2), {1: items[1]}, source="abc")
    log.append([entry_line(items[2]), entry_line(items[3])])
    log.append(
        [log.marks_line(Marks(revision=2), {2: LeftBecause.SETTLED, 3: LeftBecause.DROPPED})]
    )
    story = log.read()
    assert story.waiting == {1: items[1]}
    assert story.marks == Marks(revision=2)
    assert story.source == "abc"
    assert not story.damaged
    assert story.gone(2)
    assert story.gone(3)
    assert not story.gone(3, although=frozenset({LeftBecause.DROPPED}))
    assert not story.gone(1)
    assert not story.gone(4)


def test_what_left_before_the_log_was_begun_anew_is_gone(log, items):
    log.rewrite(Marks(next_seq=3), {2: items[2]})
    story = log.read()
    assert story.gone(1)
    assert not story.gone(2)
    assert not story.gone(3)


def test_a_log_that_is_cut_anywhere_is_a_shorter_log(log, items):
    log.rewrite(Marks(revision=1, next_seq=2), {1: items[1]})
    log.append([entry_line(items[2])])
    log.append([log.marks_line(Marks(revision=2, next_seq=3), {1: LeftBecause.SETTLED})])
    content = log.path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(content) if byte == ord("\n")]
    for size in range(len(content)):
        log.path.write_bytes(content[:size])
        story = log.read()
        assert story.damaged is (size not in ends)
        assert set(story.waiting) <= {1, 2}
        if size >= ends[0]:
            assert story.marks.revision == 1


@pytest.mark.parametrize("junk", [b"junk", b"+{}", b"+{", b"+" + b"[" * 100_000, b"\xff", b""])
def test_junk_in_a_log_is_passed_over_and_noticed(log, items, junk):
    log.rewrite(Marks(next_seq=2), {1: items[1]})
    log.append([junk + b"\n", entry_line(items[2])])
    story = log.read()
    assert story.damaged
    assert set(story.waiting) == {1, 2}


def test_the_log_of_another_machine_tells_only_of_its_entries(log, items, tmp_path):
    log.rewrite(Marks(next_seq=2), {1: items[1]})
    story = SessionLog(log.path, Vault(other_sealer(), STEM)).read()
    assert story.damaged
    assert story.marks is None
    assert set(story.waiting) == {1}


def test_nothing_but_a_file_of_our_own_is_read(log, tmp_path):
    os.mkfifo(log.path)
    with pytest.raises(Untrusted, match="only you can change"):
        log.read()
    log.path.unlink()
    log.path.write_bytes(b"")
    log.path.chmod(0o620)
    with pytest.raises(Untrusted):
        log.read()
    assert isinstance(Untrusted("x"), OSError)


def test_what_was_added_can_be_taken_back(log, items):
    log.rewrite(Marks(next_seq=2), {1: items[1]})
    size = log.append([entry_line(items[2])])
    log.cut(size)
    assert set(log.read().waiting) == {1}
    log.path.unlink()
    log.cut(size)


def test_a_line_that_does_not_fit_on_the_disk_is_not_there_at_all(log, items, monkeypatch):
    log.rewrite(Marks(next_seq=2), {1: items[1]})
    before = log.path.read_bytes()
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:10]))
    with pytest.raises(OSError, match="no room"):
        log.append([entry_line(items[2])])
    assert log.path.read_bytes() == before

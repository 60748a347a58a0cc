from __future__ import annotations

import errno
import json
import os

import pytest

from builtin_plugins.bridge import envelope
from builtin_plugins.bridge.envelope import EnvelopeFile, ending, parse, salvage, signature
from tests.support.bridged import payload

PLAIN = {"type": "qa", "question": "q", "sessionId": "s1", "dataset": "d", "_buffered_at": 5}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "bridge" / "file.json"


@pytest.fixture
def file(path):
    return EnvelopeFile(path)


@pytest.fixture
def items(vault):
    return {seq: vault.wrap(seq, payload(seq)) for seq in range(1, 6)}


TAIL = ending(0, 0, "marks")


def seqs(path) -> list[int]:
    return [*parse(path.read_bytes()).items]


# -- reading -----------------------------------------------------------------------------------


def test_the_file_is_json_that_pi_cognee_reads(file, path, items):
    file.store(items, ending(2, 77, "sealed marks"))
    document = json.loads(path.read_bytes())
    assert document["fail_count"] == 2
    assert document["fail_at"] == 77
    # It passes over elements without a session id.
    assert not any("sessionId" in element for element in document["entries"])
    read = parse(path.read_bytes())
    assert read.items == items
    assert (read.fail_count, read.fail_at, read.marks) == (2, 77, "sealed marks")


def test_entries_of_pi_cognee_are_told_from_ours_and_from_junk(items):
    elements = [PLAIN, json.loads(items[1].encoded), None, {"sessionId": 5}, "text"]
    elements.append(json.loads(items[1].encoded))  # the same number again
    read = parse(json.dumps({"entries": elements, "fail_at": "never", "marks": 7}).encode())
    assert read.plain == [PLAIN]
    assert read.items == {1: items[1]}
    assert len(read.alien) == 4
    assert (read.fail_count, read.fail_at, read.marks) == (0, 0, "")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"entries": {}}',
        b"{}",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"entries": [' + b"9" * 5000 + b"]}",
    ],
)
def test_what_is_no_envelope_is_torn(content):
    assert parse(content) is None
    assert salvage(content).plain == []


def test_what_is_whole_in_a_torn_file_is_found(items):
    content = json.dumps({"entries": [PLAIN, json.loads(items[1].encoded), PLAIN]}).encode()
    whole = content.index(b'"sealed"')
    assert salvage(content[:whole]).plain == [PLAIN]
    assert salvage(content[: len(content) - 10]).items == {1: items[1]}
    for end in range(len(content)):
        assert len(salvage(content[:end]).plain) <= 2


# -- writing -----------------------------------------------------------------------------------


def test_entries_are_added_and_removed_in_place(file, path, items):
    file.store({1: items[1]}, TAIL)
    inode = path.stat().st_ino
    file.store({1: items[1], 2: items[2]}, TAIL)
    file.store({1: items[1], 2: items[2], 3: items[3]}, TAIL)
    assert seqs(path) == [1, 2, 3]
    file.store({3: items[3]}, TAIL)
    assert seqs(path) == [3]
    file.store({3: items[3], 4: items[4]}, ending(1, 2, "m"))
    assert seqs(path) == [3, 4]
    assert parse(path.read_bytes()).marks == "m"
    assert path.stat().st_ino == inode
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_last_entry_on_disk_is_removed_by_writing_anew(file, path, items):
    file.store({1: items[1], 2: items[2]}, TAIL)
    file.store({1: items[1]}, TAIL)
    assert seqs(path) == [1]
    file.store({2: items[2]}, TAIL)
    assert seqs(path) == [2]


def test_without_entries_there_is_no_file(file, path, items):
    file.store({1: items[1]}, TAIL)
    file.store({}, TAIL)
    file.store({}, TAIL)
    assert not path.exists()
    file.store({2: items[2]}, TAIL)
    assert seqs(path) == [2]


def test_an_ending_that_gets_shorter_and_longer_leaves_valid_json(file, path, items):
    for length in (5, 500, 3, 2, 900, 1):
        file.store({1: items[1]}, ending(0, 0, "m" * length))
        assert parse(path.read_bytes()).marks == "m" * length


def test_what_somebody_else_wrote_is_replaced_as_a_whole(file, path, items):
    file.store({1: items[1]}, TAIL)
    path.write_text('{"entries": []}')
    file.store({1: items[1], 2: items[2]}, TAIL)
    assert seqs(path) == [1, 2]


def test_blanks_do_not_pile_up(file, path, items, monkeypatch, vault):
    monkeypatch.setattr(envelope, "MAX_WASTE", 0)
    kept = {}
    sizes = []
    for seq in range(1, 60):
        kept[seq] = vault.wrap(seq, payload(seq))
        if len(kept) > 5:
            del kept[seq - 5]
        file.store(kept, TAIL)
        assert seqs(path) == [*kept]
        sizes.append(path.stat().st_size)
    assert max(sizes) < 4 * len(kept[59].encoded) * 5


def test_a_full_disk_leaves_the_file_as_it_was(file, path, items, monkeypatch):
    file.store({1: items[1]}, TAIL)
    before = path.read_bytes()
    real = os.pwrite
    left = [1]

    def full(descriptor, data, place):
        if left[0]:
            left[0] = 0
            return real(descriptor, data[:20], place)
        if place + len(data) > len(before):
            raise OSError(errno.ENOSPC, "no space")
        return real(descriptor, data, place)

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OSError, match="no space"):
        file.store({1: items[1], 2: items[2]}, TAIL)
    assert path.read_bytes() == before
    monkeypatch.undo()
    file.store({1: items[1], 2: items[2]}, TAIL)
    assert seqs(path) == [1, 2]


def test_a_link_in_its_place_is_replaced_and_never_written_through(file, path, items, tmp_path):
    file.store({1: items[1]}, TAIL)
    target = tmp_path / "target"
    target.write_text("untouched")
    path.unlink()
    path.symlink_to(target)
    file.store({1: items[1], 2: items[2]}, TAIL)
    assert seqs(path) == [1, 2]
    assert target.read_text() == "untouched"


def test_a_file_that_is_not_there_has_no_signature(path):
    assert signature(path) is None

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.services import crypto, statefile
from cognee_hooks.services.crypto import KEY_BYTES, Sealer, Unreadable

KEY = bytes(range(KEY_BYTES))


@pytest.fixture
def key_file(tmp_path):
    return tmp_path / "data" / "key"


@given(data=st.binary(max_size=200), name=st.text(st.characters(exclude_categories=["Cs"])))
def test_what_is_sealed_opens_under_its_name(data, name):
    sealer = Sealer(KEY)
    assert sealer.open(sealer.seal(data, name), name) == data


def test_the_same_text_never_looks_the_same_twice_and_is_not_in_the_sealed_form():
    sealer = Sealer(KEY)
    sealed = {sealer.seal(b"what the agent said", "1") for _ in range(100)}
    assert len(sealed) == 100
    assert not any(b"agent" in each for each in sealed)


def test_a_flip_of_any_bit_is_noticed():
    sealer = Sealer(KEY)
    sealed = sealer.seal(b"text", "name")
    for position in range(len(sealed)):
        for bit in range(8):
            damaged = bytearray(sealed)
            damaged[position] ^= 1 << bit
            with pytest.raises(Unreadable):
                sealer.open(bytes(damaged), "name")


def test_a_torn_or_longer_form_is_noticed():
    sealer = Sealer(KEY)
    sealed = sealer.seal(b"text", "name")
    for length in range(len(sealed)):
        with pytest.raises(Unreadable):
            sealer.open(sealed[:length], "name")
    with pytest.raises(Unreadable):
        sealer.open(sealed + b"\0", "name")


@pytest.mark.parametrize("name", ["", "Name", "name ", "name\0", "\udcff"])
def test_what_was_moved_to_another_name_does_not_open(name):
    sealer = Sealer(KEY)
    with pytest.raises(Unreadable):
        sealer.open(sealer.seal(b"text", "name"), name)


def test_another_key_does_not_open_it():
    with pytest.raises(Unreadable, match="another key"):
        Sealer(bytes(KEY_BYTES)).open(Sealer(KEY).seal(b"text", "name"), "name")


@given(data=st.binary(max_size=100))
def test_anything_else_is_unreadable_and_nothing_worse(data):
    for each in (data, b"chs1" + data):
        with pytest.raises(Unreadable):
            Sealer(KEY).open(each, "name")


def test_what_it_says_of_unreadable_data_does_not_hold_the_data():
    with pytest.raises(Unreadable) as raised:
        Sealer(KEY).open(b"chs1 a secret that was not sealed", "name")
    assert "secret" not in str(raised.value)


# -- the key's file -----------------------------------------------------------------------------


def test_a_missing_key_is_made_private_in_a_private_folder(key_file):
    sealed = Sealer.of(key_file).seal(b"text", "name")
    assert len(key_file.read_bytes()) == KEY_BYTES
    assert key_file.stat().st_mode & 0o777 == 0o600
    assert key_file.parent.stat().st_mode & 0o777 == 0o700
    assert Sealer.of(key_file).open(sealed, "name") == b"text"


def test_an_existing_key_is_never_changed(key_file):
    Sealer.of(key_file)
    before = key_file.read_bytes()
    Sealer.of(key_file)
    assert key_file.read_bytes() == before


_RACE = """
import sys
from pathlib import Path
from cognee_hooks.services.crypto import Sealer
print("ready", flush=True)
sys.stdin.readline()
sys.stdout.write(Sealer.of(Path(sys.argv[1])).seal(b"text", "name").hex())
"""


def test_processes_that_make_the_key_at_once_end_with_one_key(key_file):
    children = [
        subprocess.Popen(
            [sys.executable, "-c", _RACE, key_file],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.stdin.write("\n")
        child.stdin.flush()
    sealed = [child.communicate(timeout=120)[0] for child in children]
    sealer = Sealer.of(key_file)
    assert [sealer.open(bytes.fromhex(each), "name") for each in sealed] == [b"text"] * 4


def test_threads_that_make_the_key_at_once_end_with_one_key(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        for turn in range(10):
            file = tmp_path / str(turn) / "key"
            sealed = list(pool.map(lambda _, file=file: Sealer.of(file).seal(b"x", ""), range(8)))
            assert {Sealer.of(file).open(each, "") for each in sealed} == {b"x"}


def test_a_key_that_another_process_makes_in_the_last_moment_wins(key_file, monkeypatch):
    def locked(descriptor, operation):
        key_file.write_bytes(KEY)
        key_file.chmod(0o600)

    monkeypatch.setattr(fcntl, "flock", locked)
    assert Sealer.of(key_file).open(Sealer(KEY).seal(b"text", "name"), "name") == b"text"


@pytest.mark.parametrize("content", [b"", b"short", KEY[:-1], KEY + b"\n", b"x" * 10_000])
def test_what_is_no_key_is_put_aside_for_one(key_file, content):
    key_file.parent.mkdir()
    key_file.write_bytes(content)
    key_file.chmod(0o600)
    sealed = Sealer.of(key_file).seal(b"text", "name")
    assert len(key_file.read_bytes()) == KEY_BYTES
    assert key_file.with_name(f"{key_file.name}.bad").read_bytes() == content
    assert Sealer.of(key_file).open(sealed, "name") == b"text"


@pytest.mark.parametrize("mode", [0o660, 0o602, 0o666])
def test_a_key_that_others_can_change_is_refused(key_file, mode):
    key_file.parent.mkdir()
    key_file.write_bytes(KEY)
    key_file.chmod(mode)
    with pytest.raises(OSError, match="nobody else can change"):
        Sealer.of(key_file)


def test_a_key_of_another_user_is_refused(key_file, monkeypatch):
    key_file.parent.mkdir()
    key_file.write_bytes(KEY)
    monkeypatch.setattr(statefile.os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(OSError, match="holds no key"):
        Sealer.of(key_file)


def test_a_key_that_cannot_be_read_is_not_replaced(key_file, monkeypatch):
    key_file.parent.mkdir()
    key_file.write_bytes(KEY)
    monkeypatch.setattr(crypto, "read_bytes", lambda path, **_: None)
    with pytest.raises(OSError, match="holds no key"):
        Sealer.of(key_file)
    assert key_file.read_bytes() == KEY


def _pipe(path):
    os.mkfifo(path)


def _folder(path):
    path.mkdir()


def _link_to_nothing(path):
    path.symlink_to(path.parent / "unmounted" / "key")


def _link_to_itself(path):
    path.symlink_to(path)


@pytest.mark.parametrize("put", [_pipe, _folder, _link_to_nothing, _link_to_itself])
def test_something_else_in_the_place_of_the_key_is_refused_and_stays(key_file, put):
    key_file.parent.mkdir()
    put(key_file)
    before = key_file.lstat()
    with pytest.raises(OSError, match="holds no key"):
        Sealer.of(key_file)
    assert key_file.lstat() == before


def test_a_key_behind_a_link_is_used(key_file, tmp_path):
    Sealer.of(tmp_path / "elsewhere")
    key_file.parent.mkdir()
    key_file.symlink_to(tmp_path / "elsewhere")
    sealed = Sealer.of(key_file).seal(b"text", "name")
    assert Sealer.of(tmp_path / "elsewhere").open(sealed, "name") == b"text"


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="Not a directory"):
        Sealer.of(tmp_path / "file" / "key")


def test_a_full_disk_leaves_no_part_of_a_key_behind(key_file, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(statefile.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        Sealer.of(key_file)
    assert [each.name for each in key_file.parent.iterdir()] == [".key.lock"]
    monkeypatch.undo()
    Sealer.of(key_file)

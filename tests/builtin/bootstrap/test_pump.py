from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

from builtin_plugins.bootstrap.pump import MARK, pump


def pumped(path: Path, data: bytes, limit: int) -> bytes:
    source, sink = os.pipe()
    thread = threading.Thread(target=pump, args=(source, str(path), limit))
    thread.start()
    with os.fdopen(sink, "wb") as file:
        file.write(data)
    thread.join(30)
    os.close(source)
    return path.read_bytes()


def test_all_of_a_short_output_is_kept_by_its_owner_alone(tmp_path: Path):
    assert pumped(tmp_path / "c.log", b"hello\n", 100) == b"hello\n"
    assert stat.S_IMODE((tmp_path / "c.log").stat().st_mode) == 0o600


def test_a_long_output_is_cut_and_read_to_its_end(tmp_path: Path):
    kept = pumped(tmp_path / "c.log", b"x" * 1_000_000, 1000)
    assert kept == b"x" * 1000 + MARK
    assert b"console capture cap reached" in MARK


def test_what_an_earlier_start_said_is_put_aside(tmp_path: Path):
    pumped(tmp_path / "c.log", b"first", 100)
    assert pumped(tmp_path / "c.log", b"second", 100) == b"second"
    assert (tmp_path / "c.log.1").read_bytes() == b"first"


def test_where_no_file_can_be_made_the_output_is_read_all_the_same(tmp_path: Path):
    source, sink = os.pipe()
    path = tmp_path / "gone" / "c.log"
    thread = threading.Thread(target=pump, args=(source, str(path), 100))
    thread.start()
    with os.fdopen(sink, "wb") as file:
        file.write(b"x" * 1_000_000)  # more than a pipe holds
    thread.join(30)
    os.close(source)
    assert not thread.is_alive()


def test_a_pipe_or_a_link_in_the_place_of_the_file_is_put_aside(tmp_path: Path):
    os.mkfifo(tmp_path / "c.log")
    assert pumped(tmp_path / "c.log", b"first", 100) == b"first"
    (tmp_path / "d.log").symlink_to(tmp_path / "other")
    assert pumped(tmp_path / "d.log", b"first", 100) == b"first"
    assert not (tmp_path / "other").exists()

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from builtin_plugins.bootstrap.boot import PUMP
from builtin_plugins.bootstrap.pump import (
    LONGEST_KEY,
    LONGEST_LINE,
    MARK,
    TOO_LONG,
    UNSAFE,
    _Lines,
    pump,
)
from builtin_plugins.bootstrap.secrets_out import Cleaner

KEY = "correct" + "-horse-" + "7431"
SHAPED = "sk-ant-" + "api03-" + "a1B2c3D4e5F6g7H8i9J0" * 3
CLEAN = Cleaner({"LLM_API_KEY": KEY})


def pumped(path: Path, *parts: bytes, limit: int, clean: Callable[[str], str] = CLEAN) -> bytes:
    source, sink = os.pipe()
    thread = threading.Thread(target=pump, args=(source, str(path), limit, clean))
    thread.start()
    with os.fdopen(sink, "wb", buffering=0) as file:
        for part in parts:
            file.write(part)
    thread.join(30)
    os.close(source)
    return path.read_bytes()


def test_all_of_a_short_output_is_kept_by_its_owner_alone(tmp_path: Path):
    assert pumped(tmp_path / "c.log", b"hello\n", limit=100) == b"hello\n"
    assert stat.S_IMODE((tmp_path / "c.log").stat().st_mode) == 0o600


def test_a_long_output_is_cut_and_read_to_its_end(tmp_path: Path):
    kept = pumped(tmp_path / "c.log", b"x" * 999 + b"\n" + b"x\n" * 500_000, limit=1000)
    assert kept == b"x" * 999 + b"\n" + MARK
    assert b"console capture cap reached" in MARK


def test_what_an_earlier_start_said_is_put_aside(tmp_path: Path):
    pumped(tmp_path / "c.log", b"first", limit=100)
    assert pumped(tmp_path / "c.log", b"second", limit=100) == b"second"
    assert (tmp_path / "c.log.1").read_bytes() == b"first"


def test_where_no_file_can_be_made_the_output_is_read_all_the_same(tmp_path: Path):
    source, sink = os.pipe()
    path = tmp_path / "gone" / "c.log"
    thread = threading.Thread(target=pump, args=(source, str(path), 100, CLEAN))
    thread.start()
    with os.fdopen(sink, "wb") as file:
        file.write(b"x" * 1_000_000)  # more than a pipe holds
    thread.join(30)
    os.close(source)
    assert not thread.is_alive()


def test_a_pipe_or_a_link_in_the_place_of_the_file_is_put_aside(tmp_path: Path):
    os.mkfifo(tmp_path / "c.log")
    assert pumped(tmp_path / "c.log", b"first", limit=100) == b"first"
    (tmp_path / "d.log").symlink_to(tmp_path / "other")
    assert pumped(tmp_path / "d.log", b"first", limit=100) == b"first"
    assert not (tmp_path / "other").exists()


# -- secrets ---------------------------------------------------------------------------------------


def test_keys_of_the_environment_and_what_looks_like_one_are_not_kept(tmp_path: Path):
    said = f"Incorrect API key provided: {KEY}.\nAnd {SHAPED} is refused\nport 7431\n".encode()
    kept = pumped(tmp_path / "c.log", said, limit=10_000).decode()
    assert KEY not in kept
    assert SHAPED not in kept
    assert "Incorrect API key provided: [redacted:" in kept
    assert kept.endswith("is refused\nport 7431\n")


@pytest.mark.parametrize("cut", range(1, len(KEY), 4))
def test_a_key_that_comes_in_two_parts_is_not_kept(tmp_path: Path, cut: int):
    first, second = KEY[:cut].encode(), KEY[cut:].encode()
    kept = pumped(tmp_path / "c.log", b"bad key ", first, second, b" and an end", limit=10_000)
    assert kept == b"bad key [redacted:CREDENTIAL] and an end"


PEM = "-----BEGIN " + "PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0\n" * 4


@pytest.mark.parametrize("end", ["-----END " + "PRIVATE KEY-----\nafter\n", ""])
def test_a_private_key_that_comes_line_by_line_is_not_kept(end: str):
    lines = _Lines()
    parts = [lines.add(each) for each in f"before\n{PEM}{end}".encode().splitlines(keepends=True)]
    kept = [CLEAN(each.decode()) for each in [*parts, lines.rest]]
    assert kept[0] == "before\n"  # it is kept at once
    assert "MIIE" not in "".join(kept)
    assert "".join(kept).endswith(end[-6:])


def test_what_only_begins_like_a_private_key_is_kept_after_a_while():
    said = b"-----BEGIN " + b"PRIVATE KEY----- is how it begins\n"
    lines = _Lines()
    assert lines.add(b"-----BEGIN CERTIFICATE-----\n") == b"-----BEGIN CERTIFICATE-----\n"
    shown = f"{PEM}-----END PRIVATE KEY-----".encode().replace(b"\n", b"\\n") + b"\n"
    assert lines.add(shown) == shown  # it is whole, on one line
    assert lines.add(said) == b""
    later = b"port 7431\n" * (LONGEST_KEY // 10 + 1)
    assert lines.add(later) == said + later


SPECIAL = "ab\"cd\\ef'gh/" + "é-7431"
TWO_LINES = "first-half-7431\n" + "second-half-7431"


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (SPECIAL, SPECIAL),
        (SPECIAL, repr({"authorization": SPECIAL})),
        (SPECIAL, json.dumps({"say": SPECIAL})),
        (SPECIAL, f"refused: {quote(SPECIAL, safe='')}"),
        ("\ud800-lone-7431", repr("\ud800-lone-7431")),
        (TWO_LINES, TWO_LINES),
        (TWO_LINES, repr(TWO_LINES)),
        (TWO_LINES, "  second-half-7431"),
    ],
)
def test_a_key_is_known_as_programs_spell_it(key: str, said: str):
    cleaned = Cleaner({"LLM_API_KEY": key})(said)
    assert "7431" not in cleaned
    assert "[redacted:" in cleaned


def test_a_line_that_is_too_long_to_be_looked_through_is_left_out(tmp_path: Path):
    long = b"x" * (3 * LONGEST_LINE) + KEY.encode()
    kept = pumped(tmp_path / "c.log", b"before\n" + long + b"\nafter\n", limit=1_000_000)
    assert kept == b"before\n" + TOO_LONG + b"after\n"
    assert pumped(tmp_path / "d.log", long, limit=1_000_000) == TOO_LONG


@pytest.mark.parametrize("error", [RuntimeError, RecursionError, MemoryError])
def test_what_a_rule_stumbles_over_is_left_out_and_the_rest_is_read(
    tmp_path: Path, error: type[Exception]
):
    def stumbles(text: str) -> str:
        if KEY in text:
            raise error
        return text

    path = tmp_path / "c.log"
    assert pumped(path, f"{KEY}\n".encode(), limit=1000, clean=stumbles) == UNSAFE


def test_the_program_knows_the_keys_of_its_environment(tmp_path: Path):
    path = tmp_path / "c.log"
    subprocess.run(
        [sys.executable, "-P", "-m", PUMP, str(path), "1000"],
        env={"LLM_API_KEY": KEY},
        cwd=tmp_path,
        input=f"\xff {KEY}\n".encode("latin-1"),
        check=True,
        timeout=30,
    )
    assert path.read_text() == "\ufffd [redacted:CREDENTIAL]\n"


def test_a_server_is_read_to_its_end_also_where_nothing_can_be_cleaned(tmp_path: Path):
    path = tmp_path / "c.log"
    broken = (
        "import runpy, sys; sys.modules['builtin_plugins.bootstrap.secrets_out'] = None; "
        f"runpy.run_module({PUMP!r}, run_name='__main__')"
    )
    subprocess.run(
        [sys.executable, "-P", "-c", broken, str(path), "1000"],
        env={"LLM_API_KEY": KEY},
        cwd=tmp_path,
        input=f"{KEY}\n".encode() + b"x\n" * 500_000,  # more than a pipe holds
        check=True,
        timeout=30,
    )
    assert path.read_bytes().startswith(UNSAFE)
    assert KEY not in path.read_text()

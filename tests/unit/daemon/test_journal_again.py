"""Events that no daemon survives must not end one daemon after the other."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from cognee_hooks.daemon.journal import BAD_SECONDS, MAX_TRIES, Journal
from cognee_hooks.daemon.protocol import Opening
from cognee_hooks.services.crypto import Sealer

IDENT = f"{1:020d}-7"
OPENING = Opening(
    version="1.0",
    kind="hook",
    ident=IDENT,
    agent="pi",
    event="end",
    pid=42,
    cwd="/w",
    environ={},
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = daemon(tmp_path)
    made.add(OPENING, b"{}")
    return tmp_path


def daemon(folder: Path) -> Journal:
    return Journal(folder, Sealer(b"k" * 32))


def test_an_event_that_ends_every_daemon_is_put_aside(folder, caplog):
    for _ in range(MAX_TRIES):
        journal = daemon(folder)
        assert len(list(journal.pending())) == 1
        assert journal.begin_again(IDENT)
    journal = daemon(folder)
    assert not journal.begin_again(IDENT)
    assert "put aside" in caplog.text
    assert list(journal.pending()) == []
    assert list(daemon(folder).pending()) == []
    assert [path.name for path in (folder / "journal").iterdir()] == [f"{IDENT}.bad"]
    assert not journal.add(OPENING, b"{}")


def test_an_event_that_was_survived_may_wait_for_any_number_of_daemons(folder):
    for _ in range(MAX_TRIES * 2):
        journal = daemon(folder)
        assert journal.begin_again(IDENT)
        journal.survived(IDENT)
    assert len(list(daemon(folder).pending())) == 1


def test_where_nothing_can_be_counted_the_event_is_tried(folder):
    (folder / "journal" / f"{IDENT}.tried").mkdir()
    journal = daemon(folder)
    assert journal.begin_again(IDENT)
    journal.survived(IDENT)


def test_what_was_put_aside_is_swept_once_it_is_old(folder):
    old = [folder / "journal" / name for name in ("1-1.bad", "2-2.tried")]
    young = folder / "journal" / "3-3.bad"
    for path in (*old, young):
        path.write_bytes(b"")
    past = time.time() - BAD_SECONDS - 60
    for path in old:
        os.utime(path, (past, past))
    daemon(folder).sweep()
    assert [path.exists() for path in (*old, young)] == [False, False, True]

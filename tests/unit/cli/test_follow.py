from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cognee_hooks.cli.follow import LedgerTail
from cognee_hooks.results import Act
from cognee_hooks.services import ledger_file
from cognee_hooks.services.ledger_file import LedgerFile, LedgerRow


@pytest.fixture
def file(tmp_path) -> LedgerFile:
    return LedgerFile.of(tmp_path, "pi_1", "pi", 0.0)


def add(file: LedgerFile, *whats: str) -> None:
    for what in whats:
        file.append(LedgerRow(time=1.0, act=Act.INJECTED, what=what))


def whats(tail: LedgerTail) -> list[str]:
    return [row.what for row in tail.take()]


def test_what_was_there_is_shown_only_where_asked(file):
    add(file, "a", "b")
    assert whats(LedgerTail(file, from_end=False)) == ["a", "b"]
    assert whats(LedgerTail(file, from_end=True)) == []


def test_each_row_is_shown_once(file):
    tail = LedgerTail(file, from_end=True)
    assert whats(tail) == []
    add(file, "a")
    assert [whats(tail), whats(tail)] == [["a"], []]
    add(file, "b", "c")
    assert whats(tail) == ["b", "c"]


def test_a_row_that_is_not_whole_is_waited_for(file):
    add(file, "a")
    tail = LedgerTail(file, from_end=True)
    line = b'{"time": 1, "act": "injected", "what": "b"}\n'
    with file.path.open("ab") as opened:
        opened.write(line[:20])
    assert whats(tail) == []
    with file.path.open("ab") as opened:
        opened.write(line[20:])
    assert whats(tail) == ["b"]


def test_a_ledger_that_begins_anew_is_followed_on_both_sides(file, monkeypatch):
    monkeypatch.setattr(ledger_file, "MAX_BYTES", 200)
    add(file, "a")
    tail = LedgerTail(file, from_end=True)
    add(file, *"bcdefg")
    assert file.older.exists()
    assert whats(tail) == [*"bcdefg"]


def test_a_ledger_that_was_cut_or_removed_goes_on(file):
    add(file, "a", "b")
    tail = LedgerTail(file, from_end=True)
    file.path.write_bytes(b"")
    add(file, "c")
    assert whats(tail) == ["c"]
    file.path.unlink()
    assert whats(tail) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(pieces=st.lists(st.integers(0, 4), max_size=12))
def test_no_row_is_missed_or_shown_twice_wherever_one_looks(tmp_path_factory, pieces):
    file = LedgerFile.of(tmp_path_factory.mktemp("ledger"), "pi_1", "pi", 0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ledger_file, "MAX_BYTES", 300)
        add(file, "first")
        tail = LedgerTail(file, from_end=True)
        written: list[str] = []
        seen: list[str] = []
        for number, count in enumerate(pieces):
            fresh = [f"{number}.{each}" for each in range(count)]
            add(file, *fresh)
            written += fresh
            seen += whats(tail)
    assert seen == written

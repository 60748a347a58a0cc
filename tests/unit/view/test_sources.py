from __future__ import annotations

import os

import pytest

from cognee_hooks.results import Act
from cognee_hooks.services.ledger_file import LedgerFile
from cognee_hooks.services.names import session_file_stem
from cognee_hooks.services.paths import Paths
from cognee_hooks.view import sources as module
from cognee_hooks.view.installed import Found
from cognee_hooks.view.sources import Sources
from tests.unit.view.conftest import NOW

ENTRIES = '{"entries": [{"sealed": "x", "_buffered_at": 1}]}'


def ledger_of(session_id: str):
    return Paths.of(os.environ, "claude-code").ledger_dir / f"{session_file_stem(session_id)}.jsonl"


@pytest.fixture
def reads(monkeypatch):
    """The ledgers whose rows were read, in order."""
    read: list[str] = []
    rows = LedgerFile.rows

    def counted(self: LedgerFile):
        read.append(self.path.stem)
        return rows(self)

    monkeypatch.setattr(LedgerFile, "rows", counted)
    return read


def test_what_is_recorded_waits_and_lives_comes_together(sources, record, put, daemon):
    record("claude_1", Act.CAPTURED, at=NOW)
    put("pi_1", ENTRIES)
    daemon.serves("pi_2")
    found = sources.everything().conversations
    assert {each.session_id for each in found.listed} == {"claude_1", "", "pi_2"}
    assert found.recorded[session_file_stem("claude_1")].usage.counts[Act.CAPTURED] == 1
    assert (found.now, len(found.waiting), found.quarantined) == (NOW, 1, [])


def test_a_ledger_is_read_again_only_where_it_has_grown(sources, record, reads):
    record("claude_1", Act.CAPTURED, at=NOW)
    record("claude_2", Act.CAPTURED, at=NOW)
    sources.everything()
    assert len(reads) == 2
    record("claude_2", Act.CAPTURED, at=NOW)
    found = sources.everything().conversations
    assert reads[2:] == [session_file_stem("claude_2")]
    assert found.recorded[session_file_stem("claude_2")].usage.counts[Act.CAPTURED] == 2


def test_a_ledger_that_is_gone_is_forgotten(sources, record):
    record("claude_1", Act.CAPTURED, at=NOW)
    sources.everything()
    ledger_of("claude_1").unlink()
    assert sources.everything().conversations.listed == []


def test_a_ledger_that_goes_while_it_is_read_is_passed_over(sources, record, monkeypatch):
    record("claude_1", Act.CAPTURED, at=NOW)
    monkeypatch.setattr(module, "known_session", lambda _: None)
    assert sources.everything().conversations.listed == []


def test_of_very_many_ledgers_the_latest_are_read_and_the_others_counted(
    sources, record, monkeypatch
):
    monkeypatch.setattr(module, "MAX_LEDGERS", 2)
    for number in range(3):
        record(f"claude_{number}", Act.CAPTURED, at=NOW)
        os.utime(ledger_of(f"claude_{number}"), (number + 1, number + 1))
    found = sources.everything().conversations
    assert [each.session_id for each in found.listed] == ["claude_2", "claude_1"]
    assert found.left_out == 1


def test_a_conversation_comes_with_its_rows_and_where_it_lives_its_prompts(sources, record, daemon):
    record("claude_1", Act.CAPTURED, at=NOW)
    daemon.serves("claude_1")
    daemon.answers["prompts"] = {"prompts": []}
    found = sources.conversation(lambda each: each.session_id == "claude_1")
    assert ([row.act for row in found.rows], found.prompts) == ([Act.CAPTURED], {"prompts": []})
    assert ("prompts", {"session_id": "claude_1"}) in daemon.asked


def test_an_ended_conversation_has_no_prompts_to_ask_for(sources, record, daemon):
    record("claude_1", Act.CAPTURED, at=NOW)
    assert sources.conversation(lambda each: True).prompts is None
    assert [verb for verb, _ in daemon.asked] == ["status"]


def test_a_daemon_that_does_not_answer_is_asked_once(sources, daemon):
    sources.everything()
    sources.facts()
    assert [verb for verb, _ in daemon.asked] == ["status", "status"]


def test_a_live_conversation_without_a_ledger_is_one_too(sources, daemon):
    daemon.serves("pi_1")
    found = sources.conversation(lambda each: each.session_id == "pi_1")
    assert (found.rows, found.recorded) == ([], None)


def test_without_the_conversation_there_is_nothing(sources, record):
    record("claude_1", Act.CAPTURED, at=NOW)
    assert sources.conversation(lambda each: False) is None


def test_nothing_new_is_nothing_new(sources, record, put, daemon):
    record("claude_1", Act.CAPTURED, at=NOW)
    put("pi_1", ENTRIES)
    daemon.serves("pi_1")
    assert sources.facts() == sources.facts()


CHANGES = {
    "a row": lambda record, put, daemon: record("claude_1", Act.CAPTURED, at=NOW),
    "an entry": lambda record, put, daemon: put("pi_1", ENTRIES.replace("1", "20")),
    "one put aside": lambda record, put, daemon: put("pi_1", ENTRIES, "quarantine"),
    "all sent": lambda record, put, daemon: put("pi_1", ENTRIES).unlink(),
    "a session": lambda record, put, daemon: daemon.serves("pi_2"),
    "no daemon": lambda record, put, daemon: daemon.answers.pop("status"),
    "a call": lambda record, put, daemon: daemon.answers.update(plugins={"sessions": []}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_there_is_to_show_makes_a_difference(sources, record, put, daemon, change):
    record("claude_1", Act.CAPTURED, at=NOW)
    put("pi_1", ENTRIES)
    daemon.serves("pi_1")
    before = sources.facts()
    CHANGES[change](record, put, daemon)
    assert sources.facts() != before


def test_other_plugins_make_a_difference(isolated_environment, daemon):
    found = [Found(), Found(problems=["one is broken"])]
    looked = Sources(dict(os.environ), lambda: found.pop(0), ask=daemon.ask)
    assert looked.facts() != looked.facts()


def test_what_lies_beside_ledgers_and_entries_makes_no_difference(sources, record, put):
    record("claude_1", Act.CAPTURED, at=NOW)
    before = sources.facts()
    (ledger_of("claude_1").parent / ".lock").write_text("x")
    (ledger_of("claude_1").parent / "a.tmp").write_text("x")
    assert sources.facts() == before


def test_a_file_that_goes_while_it_is_looked_at_is_passed_over(sources, record):
    record("claude_1", Act.CAPTURED, at=NOW)
    ledger = ledger_of("claude_1")
    ledger.unlink()
    ledger.symlink_to("nowhere")
    assert sources.facts()[0] == []

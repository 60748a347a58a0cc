from __future__ import annotations

import logging

import pytest

from builtin_plugins.compaction.pending import Pending
from cognee_hooks.services.session_state import SessionState

LOG = logging.getLogger("test")


@pytest.fixture
def state(tmp_path):
    return SessionState.of(tmp_path, "claude_s1", "compaction")


def test_an_anchor_is_given_once(state):
    pending = Pending(state, LOG)
    pending.put("anchor", "a")
    assert [pending.give(), pending.give()] == ["anchor", ""]


def test_an_anchor_outlives_the_process(state):
    Pending(state, LOG).put("anchor", "a")
    assert Pending(state, LOG).give() == "anchor"


def test_a_process_that_is_killed_before_the_conversation_goes_on_leaves_it_to_the_next(state):
    first = Pending(state, LOG)
    first.put("anchor", "a")
    first.give()
    assert Pending(state, LOG).give() == "anchor"


@pytest.mark.parametrize("going_on", [Pending.settle, Pending.give])
def test_once_the_conversation_has_gone_on_it_is_forgotten_for_good(state, going_on):
    pending = Pending(state, LOG)
    pending.put("anchor", "a")
    pending.give()
    going_on(pending)
    again = Pending(state, LOG)
    assert (again.give(), again.made_of) == ("", "a")


def test_an_answer_to_an_earlier_prompt_does_not_take_it(state):
    pending = Pending(state, LOG)
    pending.put("anchor", "a")
    pending.settle()
    assert pending.give() == "anchor"


def test_the_newest_anchor_takes_the_place_of_an_older_one(state):
    pending = Pending(state, LOG)
    pending.put("old", "a")
    pending.give()
    pending.put("new", "b")
    assert pending.give() == "new"


def test_a_better_one_replaces_the_one_of_the_same_turns(state):
    pending = Pending(state, LOG)
    pending.put("plain", "a")
    pending.improve("of other turns", "b")
    pending.improve("better", "a")
    assert Pending(state, LOG).give() == "better"


def test_a_better_one_does_not_come_twice(state):
    pending = Pending(state, LOG)
    pending.put("plain", "a")
    pending.give()
    pending.improve("better", "a")
    assert pending.give() == ""


@pytest.mark.parametrize("content", [b"", b"[]", b"nonsense", b'{"anchor": 7, "made_of": []}'])
def test_a_damaged_file_is_no_anchor(state, content):
    state.path.parent.mkdir(parents=True)
    state.path.write_bytes(content)
    assert Pending(state, LOG).give() == ""


def test_without_a_disk_it_is_kept_in_memory(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    pending = Pending(SessionState.of(tmp_path / "file", "s1", "compaction"), LOG)
    pending.put("the anchor", "a")
    assert pending.give() == "the anchor"
    assert "memory only" in caplog.text
    assert "the anchor" not in caplog.text


def test_what_is_dropped_is_gone_for_the_next_process_and_not_made_again(state):
    pending = Pending(state, LOG)
    pending.drop()
    assert not state.path.exists()
    pending.put("an anchor", "turns")
    pending.drop()
    assert (pending.text, pending.give()) == ("", "")
    again = Pending(state, LOG)
    assert (again.text, again.made_of) == ("", "turns")

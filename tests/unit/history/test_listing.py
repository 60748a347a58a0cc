from __future__ import annotations

from pathlib import Path

import pytest

from cognee_hooks.history.listing import Listed, listed
from cognee_hooks.history.sessions import KnownSession
from cognee_hooks.history.waiting import Waiting
from cognee_hooks.services.ledger_file import LedgerFile
from cognee_hooks.services.names import session_file_stem


def known(session_id: str, last: float = 5.0, began: float = 1.0) -> KnownSession:
    ledger = LedgerFile.of(Path("/nowhere"), session_id, "pi", began)
    return KnownSession(session_id=session_id, agent="pi", began=began, last=last, ledger=ledger)


def waits(session_id: str, entries: int, **more: object) -> Waiting:
    file = Path("/nowhere") / f"{session_file_stem(session_id)}.json"
    return Waiting(file=file, agent="pi", session_id="", entries=entries, **more)


def live(session_id: str, **more: object) -> dict[str, object]:
    return {"session_id": session_id, "agent": "pi", "began": 3.0, "last_event": 9.0, **more}


def test_a_conversation_that_has_everything_is_listed_once():
    ledger = known("pi_1")
    (found,) = listed([ledger], [waits("pi_1", 2)], {"sessions": [live("pi_1", waiting=1)]})
    assert found == Listed(
        stem=ledger.stem,
        session_id="pi_1",
        agent="pi",
        live=True,
        began=1.0,
        last=9.0,
        waiting=2,
        known=ledger,
    )


def test_what_only_waits_and_what_only_lives_is_listed_too_the_latest_first():
    found = listed([known("pi_1")], [waits("pi_2", 3)], {"sessions": [live("pi_3")]})
    assert [(each.session_id, each.live, each.waiting) for each in found] == [
        ("pi_3", True, 0),
        ("pi_1", False, 0),
        ("", False, 3),
    ]


def test_entries_of_one_conversation_in_two_folders_are_added_up():
    (found,) = listed([], [waits("pi_1", 2), waits("pi_1", 3)], None)
    assert found.waiting == 5


@pytest.mark.parametrize(
    "status",
    [None, {}, {"sessions": 3}, {"sessions": {"a": 1}}, {"sessions": [None, 3, "x"]}],
)
def test_an_answer_of_another_form_lists_nobody(status):
    assert listed([], [], status) == []


def test_a_row_of_another_form_is_taken_as_far_as_it_is_understood():
    told = {"session_id": 3, "began": "soon", "last_event": 1e999, "waiting": True}
    (found,) = listed([], [], {"sessions": [told]})
    assert (found.session_id, found.agent, found.began, found.last) == ("3", "", None, None)
    assert (found.live, found.waiting) == (True, 0)

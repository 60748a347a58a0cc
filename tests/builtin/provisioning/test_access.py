"""Rights on datasets, shown and given by hand."""

from __future__ import annotations

import uuid

import pytest

from tests.support.asking import Asking

SOMEBODY = "33333333-3333-4333-8333-333333333333"


@pytest.fixture
def pi(agent):
    made = agent()
    made.host.dialogs = Asking()
    return made


async def run(agent, text=""):
    return await agent.host.registered.commands["access"].run(text)


async def test_the_list_says_who_speaks_and_what_may_be_done(pi, sharing):
    sharing.dataset("notes")
    told = await run(pi)
    assert told.startswith(f"This session speaks as account {sharing.owner.id}:")
    assert "notes (" in told
    assert "· read and write" in told


async def test_an_agents_account_may_write_to_what_its_role_was_given(pi, sharing):
    await pi.start()
    told = await run(pi)
    assert f"account {sharing.agents['pi'].id}:" in told
    assert "agent_sessions (" in told
    assert "· read and write · shared with it" in told


async def test_rights_are_given_after_somebody_confirmed_it_and_can_be_taken_back(pi, sharing):
    notes = sharing.dataset("notes")
    told = await run(pi, f"grant notes {SOMEBODY}")
    assert told.startswith("Nothing was shared: nobody confirmed it.")
    assert sharing.grants == {}
    title, text = pi.host.dialogs.asked[0]
    assert title == f"Share the dataset 'notes' with account {SOMEBODY}?"
    assert "read the sessions in it" in text
    pi.host.dialogs.says = True
    assert f"may now read and write 'notes'. It has to name it by its id, {notes}" in await run(
        pi, f"grant notes {SOMEBODY}"
    )
    assert sharing.grants == {(SOMEBODY, "read"): {notes}, (SOMEBODY, "write"): {notes}}
    assert "may no longer write 'notes'" in await run(pi, f"revoke {notes} {SOMEBODY} --write")
    assert sharing.grants == {(SOMEBODY, "read"): {notes}, (SOMEBODY, "write"): set()}


async def test_reading_alone_can_be_given_without_a_question(pi, sharing):
    notes = sharing.dataset("notes")
    assert "may now read 'notes'" in await run(pi, f"grant notes {SOMEBODY} --read --yes")
    assert sharing.grants == {(SOMEBODY, "read"): {notes}}
    assert pi.host.dialogs.asked == []


async def test_rights_are_given_as_the_owner_although_the_agent_has_an_account(pi, sharing):
    await pi.start()
    sharing.seen.clear()
    assert "may now read" in await run(pi, f"grant agent_sessions {SOMEBODY} --read --yes")
    assert {each.who for each in sharing.seen} == {"owner"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("grant notes", "Usage: cognee-access"),
        ("give notes " + SOMEBODY, "Usage: cognee-access"),
        (f"grant notes {SOMEBODY} --everything", "Usage: cognee-access"),
        ("grant notes me", "'me' is no id of an account"),
        (f"grant nots {SOMEBODY} --yes", "Dataset 'nots' not found. Available:"),
        (f"grant twice {SOMEBODY} --yes", "matches 2 datasets"),
        (f"grant theirs {SOMEBODY} --yes", "'theirs' is not yours to share"),
    ],
)
async def test_what_cannot_be_done_is_said_and_changes_nothing(pi, sharing, text, told):
    sharing.dataset("notes")
    sharing.dataset("twice")
    sharing.shared_by_somebody("twice", "2026-01-01T00:00:00")
    sharing.ungrantable.add(sharing.shared_by_somebody("theirs", "2026-01-01T00:00:00"))
    answer = await run(pi, text)
    assert answer.startswith("⚠ ")
    assert told in answer
    assert sharing.grants == {}


async def test_an_account_that_the_server_does_not_know_is_told_from_an_outage(pi, sharing):
    sharing.dataset("notes")
    sharing.refusals["POST", "/api/v1/permissions/datasets"] = (500, "Internal Server Error")
    answer = await run(pi, f"grant notes {uuid.uuid4()} --yes")
    assert "most likely since it knows no such account" in answer
    sharing.refusals["POST", "/api/v1/permissions/datasets"] = (503, {"detail": "busy"})
    assert "or only a part of it" in await run(pi, f"grant notes {SOMEBODY} --yes")
    sharing.refusals["GET", "/api/v1/datasets"] = (503, {"detail": "busy"})
    assert "The server could not be asked (unavailable)" in await run(pi)

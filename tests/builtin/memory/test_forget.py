"""Forgetting, and the questions before it."""

from __future__ import annotations

import pytest

from builtin_plugins.memory.forget import ENTIRE
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind
from cognee_hooks.results import Act
from cognee_hooks.services.bindings import Binding
from tests.support.scripted import fails

FORGET = "/api/v1/forget"
FIRST = "0f8fad5b-d9cb-469f-a165-70867728950e"
SECOND = "1f8fad5b-d9cb-469f-a165-70867728950e"
DATA = "2f8fad5b-d9cb-469f-a165-70867728950e"
ACCOUNT = "11111111-1111-4111-8111-111111111111"
LISTED = f"/api/v1/datasets/{FIRST}/data"


@pytest.fixture
def ours(start, client):
    """A session at a server with one dataset that holds one document."""
    client.scripts |= {
        "/api/v1/datasets": lambda _: [{"id": FIRST, "name": "notes", "ownerId": ACCOUNT}],
        LISTED: lambda _: [{"id": DATA, "name": "plan", "createdAt": "2026-03-01T10:00:00"}],
        f"{LISTED}/{DATA}/raw": lambda _: b"\n  Buy milk.\nMore.\n",
        FORGET: lambda _: {"status": "success"},
    }
    return start(client)


def sent(client):
    return client.bodies(FORGET)


# -- the tool


async def test_without_a_scope_nothing_is_deleted(ours, client):
    told = await ours.tool("forget", dataset="notes")
    assert told.startswith("Nothing deleted.")
    assert client.unsent == []


async def test_w11_the_model_deletes_nothing_that_the_person_did_not_confirm(ours, client):
    told = await ours.tool("forget", dataset="notes", entire_dataset=True)
    assert told.startswith("Nothing deleted: nobody confirmed it")
    assert f"cognee-hooks forget {FIRST} --entire --yes" in told
    told = await ours.tool("forget", dataset="notes", data_id=DATA)
    assert f"cognee-hooks forget {FIRST} {DATA} --yes" in told
    assert sent(client) == []
    titles = [title for title, _ in ours.person.asked]
    assert titles == [
        f"Permanently delete the ENTIRE dataset 'notes' ({FIRST})?",
        f"Permanently delete data item {DATA} of dataset 'notes'?",
    ]


async def test_what_the_person_confirms_is_deleted_by_id(ours, client):
    ours.person.says = True
    told = await ours.tool("forget", dataset="notes", data_id=DATA, entire_dataset=True)
    assert told == f"Deleted data item {DATA} of dataset 'notes'."
    assert ours.person.asked[0][1] == "Content preview: Buy milk.\nThis cannot be undone."
    told = await ours.tool("forget", dataset=FIRST.upper(), entire_dataset=True)
    assert told == f"Deleted the ENTIRE dataset 'notes' ({FIRST})."
    assert [sorted(body) for body in sent(client)] == [
        ["dataId", "data_id", "datasetId", "dataset_id"],
        ["datasetId", "dataset_id"],
    ]
    assert ours.host.ledger.totals("pi_s1")[Act.FORGOTTEN] == 2


async def test_a_preview_shows_no_secret(ours, client):
    secret = "sk-" + "proj-" + "Ab3" * 16
    client.scripts[f"{LISTED}/{DATA}/raw"] = lambda _: f"key = {secret}\n".encode()
    await ours.tool("forget", dataset="notes", data_id=DATA)
    assert secret not in ours.person.asked[0][1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"dataset": "ntoes", "entire_dataset": True}, "Available: notes."),
        ({"dataset": SECOND, "entire_dataset": True}, "not found"),
        ({"dataset": "notes", "data_id": "plan"}, "is no id of a data item"),
        ({"dataset": ""}, "give the dataset"),
        ({}, "give the dataset"),
    ],
)
async def test_what_cannot_be_meant_is_refused(ours, client, arguments, told):
    ours.person.says = True
    assert told in await ours.tool("forget", **arguments)
    assert sent(client) == []


async def test_w11_of_two_datasets_of_one_name_none_is_deleted_by_name(ours, client):
    rows = [{"id": each, "name": "dup", "ownerId": ACCOUNT} for each in (FIRST, SECOND)]
    client.scripts["/api/v1/datasets"] = lambda _: rows
    told = await ours.command("forget", "dup --entire --yes")
    assert f"(dup {FIRST}; dup {SECOND})" in told
    assert sent(client) == []
    assert "Deleted the ENTIRE" in await ours.command("forget", f"{SECOND} --entire --yes")
    assert sent(client)[0]["dataset_id"] == SECOND


async def test_what_is_not_there_is_not_called_deleted(ours, client):
    """The server calls it a success."""
    client.scripts[f"{LISTED}/{SECOND}/raw"] = fails(FailureKind.NOT_FOUND, status=404)
    ours.person.says = True
    told = await ours.tool("forget", dataset="notes", data_id=SECOND)
    assert f"there is no data item {SECOND} of dataset 'notes'. Nothing deleted." in told
    assert "Nothing deleted" in await ours.command("forget", f"notes {SECOND} --yes")
    assert sent(client) == []


async def test_without_a_preview_the_person_is_asked_all_the_same(ours, client):
    for content in (fails(FailureKind.SERVER_ERROR), lambda _: b" \n"):
        client.scripts[f"{LISTED}/{DATA}/raw"] = content
        await ours.tool("forget", dataset="notes", data_id=DATA)
        assert ours.person.asked.pop()[1] == "This cannot be undone."


# -- the command


async def test_the_command_lists_datasets_and_then_their_items(ours, client):
    told = await ours.command("forget")
    assert told.splitlines() == [
        "Datasets:",
        f"  notes  ({FIRST})",
        "Usage: cognee-forget <dataset name or id> [<data id> | --entire] [--yes]",
    ]
    told = await ours.command("forget", "notes --yes")
    assert f"  {DATA} — plan · 2026-03-01" in told
    assert told.startswith("Nothing deleted.")
    client.scripts[LISTED] = lambda _: []
    assert "holds no data items" in await ours.command("forget", "notes")
    assert "Usage:" in await ours.command("forget", "notes a b")
    assert sent(client) == []


@pytest.mark.parametrize("says", [True, False])
async def test_a_person_picks_and_confirms(ours, client, says):
    ours.person.picks = lambda options: options[0]
    ours.person.says = says
    told = await ours.command("forget", "notes")
    assert ours.person.offered == [f"{DATA} — plan · 2026-03-01", ENTIRE]
    assert told.startswith("Deleted data item" if says else "Cancelled — nothing deleted.")
    assert bool(sent(client)) == says


async def test_w11_with_yes_a_whole_dataset_is_deleted_only_where_that_is_said(ours, client):
    assert "Nothing deleted" in await ours.command("forget", "notes --yes")
    assert "Deleted the ENTIRE" in await ours.command("forget", "notes --yes --entire")
    assert len(sent(client)) == 1
    assert [title for title, _ in ours.person.asked] == ["Delete what from 'notes'?"]


async def test_a_failure_is_told(ours, client):
    client.scripts[FORGET] = fails(FailureKind.FORBIDDEN)
    told = await ours.command("forget", f"notes {DATA} --yes")
    assert told.startswith("⚠ Forget failed: forbidden")


async def test_w33_nothing_here_names_a_dataset_that_is_gone(ours):
    bindings = ours.host.services.bindings
    new = Binding(dataset="notes", session_id="pi_x__2")
    bindings.save("pi_x", new, Binding(dataset="a", session_id="pi_x"), synced=True, lasting=True)
    await ours.command("forget", f"notes {DATA} --yes")
    assert bindings.default() == "notes"
    await ours.command("forget", "notes --entire --yes")
    assert bindings.default() == ""


async def test_items_are_shown_with_the_newest_first_whatever_the_server_makes_of_dates(
    ours, client
):
    dates = ["2026-03-01T10:00:00", "9999-12-31T23:59:59-23:59", "nonsense", "2026-04-01T10:00:00"]
    rows = [
        {"id": DATA.replace("2", str(number), 1), "name": f"n{number}", "createdAt": date}
        for number, date in enumerate(dates)
    ]
    client.scripts[LISTED] = lambda _: rows
    told = await ours.command("forget", "notes")
    assert [told.index(f"n{number}") for number in (1, 3, 0, 2)] == sorted(
        told.index(f"n{number}") for number in range(4)
    )
    assert "9999-12-31" in told


async def test_a_session_that_writes_to_a_dataset_by_its_id_is_told_that_it_is_gone(start, client):
    foreign = [{"id": FIRST, "name": "notes", "ownerId": SECOND}]
    client.scripts |= {
        "/api/v1/datasets": lambda _: foreign,
        FORGET: lambda _: {"status": "success"},
    }
    session = start(client)
    await session.command("datasets", "notes --force")
    assert session.host.session.dataset == FIRST
    told = await session.command("forget", "notes --entire --yes")
    assert "its captures can go nowhere now: choose another dataset" in told


async def test_what_is_forgotten_is_gone(session):
    dataset = session.host.session.dataset
    await session.tool("remember", content="OscarService uses the PapaStore.")
    routes = session.host.services.client.documents
    rows = await session.host.services.client.datasets(Deadline.after(5.0))
    (identifier,) = [row.id for row in rows if row.name == dataset]
    (document,) = await routes.documents(identifier, Deadline.after(5.0))
    session.person.says = True
    await session.tool("forget", dataset=dataset, data_id=document.id)
    assert "PapaStore" not in await session.tool("recall", query="OscarService")
    await session.tool("forget", dataset=dataset, entire_dataset=True)
    assert "has no graph yet" in await session.tool("recall", query="OscarService")


async def test_the_dataset_of_the_session_is_made_again_so_that_capture_goes_on(start, client):
    made = []

    def datasets(body):
        made.extend([body["name"]] if body else [])
        found = {"id": FIRST, "name": "agent_sessions", "ownerId": ACCOUNT}
        return found if body else [found]

    client.scripts |= {"/api/v1/datasets": datasets, FORGET: lambda _: {"status": "success"}}
    told = await start(client).command("forget", "agent_sessions --entire --yes")
    assert told.endswith("This session writes to it, so it is there again, empty.")
    assert made == ["agent_sessions"]


async def test_where_it_cannot_be_made_again_that_is_said(start, client):
    def datasets(body):
        if body:
            return fails(FailureKind.UNAVAILABLE)(body)
        return [{"id": FIRST, "name": "agent_sessions", "ownerId": ACCOUNT}]

    client.scripts |= {"/api/v1/datasets": datasets, FORGET: lambda _: {"status": "success"}}
    told = await start(client).command("forget", "agent_sessions --entire --yes")
    assert told.endswith("This session's captures wait until it exists again (unavailable).")

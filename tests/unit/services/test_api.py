"""For a guest's account every route turns names into ids, so that no copy is made by mistake."""

from __future__ import annotations

from typing import Any

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.answers import DatasetRef
from cognee_hooks.services.client import CogneeClient
from cognee_hooks.services.keys import Key
from tests.support.redacted import redacted
from tests.support.scripted import ENTRY, RECALL, ScriptedClient
from tests.support.waiting import PATIENCE

LED = "0f8fad5b-d9cb-469f-a165-70867728950e"
OTHER = "1f8fad5b-d9cb-469f-a165-70867728950e"
NAMED = DatasetRef("notes")
QA = {"type": "qa", "question": "q", "answer": "a"}
REMEMBER = "/api/v1/remember"


class Guest:
    """Keys of a guest's account."""

    shared_ids = (LED,)

    def __init__(self, led: str | None) -> None:
        self.led = led
        self.asked: list[tuple[str, bool]] = []
        self.shared_names = {"notes": LED}

    async def key(self, deadline: Deadline) -> Key:
        return Key("k")

    async def rejected(self, key: Key) -> None:
        raise AssertionError

    async def address(self, name: str, deadline: Deadline, *, write: bool) -> str:
        self.asked.append((name, write))
        if self.led is None:
            raise ServerFailure(FailureKind.UNAVAILABLE, sent=False)
        return self.led


async def recall(client: CogneeClient, ref: DatasetRef) -> Any:
    return await client.recall(redacted("q"), dataset=ref, deadline=Deadline.after(PATIENCE))


async def store(client: CogneeClient, ref: DatasetRef) -> Any:
    soon = Deadline.after(PATIENCE)
    return await client.store_entry(redacted(QA), session_id="s", dataset=ref, deadline=soon)


async def improve(client: CogneeClient, ref: DatasetRef) -> Any:
    return await client.improve(["s"], dataset=ref, deadline=Deadline.after(PATIENCE))


async def remember(client: CogneeClient, ref: DatasetRef) -> Any:
    return await client.documents.remember(
        redacted("t"),
        file_name=redacted("t.txt"),
        dataset=ref,
        deadline=Deadline.after(PATIENCE),
    )


async def index(client: CogneeClient, ref: DatasetRef) -> Any:
    soon = Deadline.after(PATIENCE)
    return await client.code.index(redacted("/repo"), dataset=ref.name or ref.id, deadline=soon)


LANES = {
    RECALL: (recall, False),
    ENTRY: (store, True),
    "/api/v1/improve": (improve, True),
    REMEMBER: (remember, True),
    f"{REMEMBER}?code": (index, True),
}


def client(guest: Guest | None) -> ScriptedClient:
    made = ScriptedClient()
    made.scripts |= {
        REMEMBER: lambda _: {"status": "running"},
        "/api/v1/improve": lambda _: {"status": "running", "stages": []},
    }
    if guest is not None:
        made.use_credentials(guest)
    return made


def said(client: ScriptedClient, path: str) -> str:
    (body,) = client.bodies(path.partition("?")[0])
    return str(body)


@pytest.mark.parametrize("path", LANES)
async def test_w5_a_guest_names_every_dataset_by_its_id(path):
    guest, (lane, write) = Guest(LED), LANES[path]
    asked = client(guest)
    await lane(asked, NAMED)
    assert LED in said(asked, path)
    assert "notes" not in said(asked, path)
    assert guest.asked == [("notes", write)]


@pytest.mark.parametrize("path", LANES)
async def test_w5_where_the_id_is_not_known_nothing_is_sent(path):
    asked = client(Guest(None))
    with pytest.raises(ServerFailure, match="unavailable"):
        await LANES[path][0](asked, NAMED)
    assert asked.unsent == []


@pytest.mark.parametrize("path", LANES)
@pytest.mark.parametrize("guest", [None, Guest("")], ids=["nobody", "not a guest"])
async def test_all_others_send_names_as_they_are(path, guest):
    asked = client(guest)
    await LANES[path][0](asked, NAMED)
    assert "notes" in said(asked, path)
    assert LED not in said(asked, path)


@pytest.mark.parametrize("path", LANES)
async def test_an_id_leads_to_itself(path):
    guest = Guest(LED)
    asked = client(guest)
    await LANES[path][0](asked, DatasetRef(id=OTHER))
    assert OTHER in said(asked, path)
    assert "datasetName" not in said(asked, path)
    assert guest.asked == []


async def test_a_dataset_that_is_to_be_there_is_made_by_whoever_leads_to_it():
    guest = Guest(LED)
    asked = client(guest)
    assert (await asked.ensure_dataset("notes", Deadline.after(PATIENCE))).id == LED
    assert asked.unsent == []
    assert guest.asked == [("notes", True)]

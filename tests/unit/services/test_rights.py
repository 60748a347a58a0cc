"""Which datasets an account can write to."""

from __future__ import annotations

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.catalogue import Catalogue
from cognee_hooks.services.rights import Rights
from tests.support.scripted import ScriptedClient, fails

ME = "11111111-1111-4111-8111-111111111111"
MINE, THEIRS, ROLE = (f"{n}f8fad5b-d9cb-469f-a165-70867728950e" for n in "012")
GRANTED = f"/api/v1/permissions/principals/{ME}/datasets"
ROWS = [
    {"id": MINE, "name": "mine", "ownerId": ME},
    {"id": THEIRS, "name": "theirs", "ownerId": "somebody"},
    {"id": ROLE, "name": "through_a_role", "ownerId": "parent"},
]


class Client(ScriptedClient):
    shared_ids = (ROLE,)


async def rights(answer, account=ME):
    client = Client()
    client.scripts |= {
        "/api/v1/users/me": lambda _: {"id": account},
        "/api/v1/datasets": lambda _: ROWS,
        GRANTED: answer,
    }
    soon = Deadline.after(5.0)
    return await Rights.load(client, await Catalogue.load(client, soon), soon), client


async def test_a_server_that_tells_leaves_no_doubt():
    found, _ = await rights(lambda _: [ROWS[0]])
    assert found.known
    assert found.writable == {MINE: True, THEIRS: False, ROLE: True}


@pytest.mark.parametrize("answer", [fails(FailureKind.NOT_FOUND, status=404), lambda _: {}])
async def test_vector_118_without_the_route_only_what_is_foreign_is_in_doubt(answer):
    found, _ = await rights(answer)
    assert not found.known
    assert found.writable == {MINE: True, THEIRS: None, ROLE: True}


async def test_without_an_account_nobody_is_asked():
    found, client = await rights(lambda _: [], account="not a uuid")
    assert not found.known
    assert not client.bodies(GRANTED)


async def test_a_failure_is_no_answer():
    with pytest.raises(ServerFailure):
        await rights(fails(FailureKind.TIMED_OUT))

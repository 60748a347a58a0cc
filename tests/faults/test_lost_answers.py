"""P06: writes whose answer is lost are recognised; what was not stored is sent, exactly once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.faults.kinds import STATUSES
from tests.faults.rounds import check, recovered
from tests.faults.script import Script
from tests.faults.steps import call, fault, hand_over, turn
from tests.faults.world import World, side_by_side

STORED_FIRST = {
    "stored, then stalls past the timeout": {"after": True, "seconds": 1.5},
    "stored, then 500": {"after": True, "status": 500},
    "stored, then 502": {"after": True, "status": 502},
    "stored, then 504": {"after": True, "status": 504},
    "stored, then reset": {"after": True},
    "stored, then 401 of a proxy": {"after": True, "status": 401},
    "stored, then 429 of a proxy": {"after": True, "status": 429},
    "stored, then 503 of a proxy": {"after": True, "status": 503},
}
NOT_STORED = {
    "500": {"status": 500},
    "502": {"status": 502},
    "503": {"status": 503},
    "504": {"status": 504},
    "401": {"status": 401},
    "403": {"status": 403},
    "429": {"status": 429},
    "429 with Retry-After": {"status": 429, "retry_after": 1},
    "503 with Retry-After": {"status": 503, "retry_after": 1},
    "stalls past the timeout": {"seconds": 1.5},
    "reset": {},
}
SAME = "PASS 3 of 3"


async def at_the_server(world: World, script: Script) -> None:
    await recovered(world, [script])


@pytest.mark.parametrize("kind", ["trace", "qa"])
async def test_an_entry_that_was_stored_is_not_sent_again(kind):
    async def scene(world: World, lost: dict[str, Any]) -> None:
        script = Script("s")
        await hand_over(world, script, call(script, "first"))
        await at_the_server(world, script)
        before = (await world.server.counts())["entry"]
        await world.server.misbehave([fault("entry", **lost)])
        if kind == "qa":
            await hand_over(world, script, *turn(script, "Which port is it?", "It is port 7431."))
        else:
            await hand_over(world, script, call(script, "second"))
        await hand_over(world, script, call(script, "third"))
        await at_the_server(world, script)
        counts = await world.server.counts()
        assert counts["entry"] - before == 2
        assert counts["session"] > 0

    await side_by_side(STORED_FIRST, scene)


async def test_an_entry_that_was_not_stored_is_sent_until_it_is():
    async def scene(world: World, failure: dict[str, Any]) -> None:
        script = Script("s")
        await world.server.misbehave([fault("entry", **failure)])
        await hand_over(world, script, call(script, "first"), call(script, "second"))
        await at_the_server(world, script)
        assert (await world.server.counts())["entry"] == 3

    await side_by_side(NOT_STORED, scene)


async def test_a_status_that_lasts_loses_nothing():
    async def scene(world: World, status: int) -> None:
        script = Script("s")
        await world.server.misbehave([fault("entry", status=status)] * 100)
        for number in range(4):
            await hand_over(world, script, call(script, f"call {number}"))
        await asyncio.sleep(1.0)
        await world.server.behave()
        await at_the_server(world, script)

    await side_by_side({str(status): status for status in STATUSES}, scene)


async def test_a_server_that_refuses_gets_everything_once_when_it_is_there(world):
    script = Script("s")
    await world.server.kill()
    await hand_over(world, script, call(script, "first"), call(script, "second"))
    await asyncio.sleep(0.5)
    await world.server.start()
    await at_the_server(world, script)
    assert (await world.server.counts())["entry"] == 2


async def test_a_check_that_fails_replays_rather_than_loses(world):
    script = Script("s")
    # Not stored, so whoever takes a failed check for a good sign loses it.
    await world.server.misbehave([fault("entry", status=500), *[fault("session", status=500)] * 2])
    await hand_over(world, script, call(script, "first"), call(script, "second"))
    await at_the_server(world, script)


async def test_a_session_that_can_never_be_read_still_gets_its_entries(world):
    script = Script("s")
    await world.server.misbehave([fault("entry", status=500), *[fault("session", status=500)] * 99])
    await hand_over(world, script, call(script, "first"), call(script, "second"))
    await at_the_server(world, script)


async def test_a_check_that_is_not_answered_is_made_again_before_anything_is_sent(world):
    script = Script("s")
    lost = fault("entry", status=500, after=True)
    await world.server.misbehave([lost, *[fault("session", seconds=1.5)] * 2])
    await hand_over(world, script, call(script, "first"), call(script, "second"))
    await at_the_server(world, script)
    assert (await world.server.counts())["entry"] == 2


async def test_of_equal_entries_one_that_was_stored_says_nothing_about_another(world):
    script = Script("s")
    await hand_over(world, script, call(script, SAME))
    await at_the_server(world, script)
    await world.server.misbehave([fault("entry", status=500)])
    await hand_over(world, script, call(script, SAME), call(script, SAME))
    await at_the_server(world, script)


async def test_of_equal_entries_each_that_was_stored_is_recognised(world):
    script = Script("s")
    await hand_over(world, script, call(script, SAME), call(script, SAME))
    await at_the_server(world, script)
    lost = fault("entry", status=504, after=True)
    await world.server.misbehave([lost, lost])
    await hand_over(world, script, call(script, SAME), call(script, SAME))
    await at_the_server(world, script)


async def test_an_entry_is_recognised_in_the_form_that_the_server_keeps(world):
    script = Script("s")
    await world.server.misbehave([fault("entry", status=502, after=True)] * 3)
    many = {f"argument {number}": [*range(30)] for number in range(25)}
    steps = [
        call(script, "a", description="x" * 3000),
        call(script, "b", nested={"deep": [{"text": "y" * 2000}], "number": 1.5}),
        call(script, "c", **many),
    ]
    await hand_over(world, script, *steps)
    await at_the_server(world, script)


async def test_an_entry_beyond_those_that_the_server_lists_is_recognised(world):
    script = Script("s")
    for _ in range(22):
        await hand_over(world, script, call(script, SAME))
    await at_the_server(world, script)
    await world.server.misbehave([fault("entry", status=504, after=True)])
    await hand_over(world, script, call(script, SAME))
    await at_the_server(world, script)
    await world.server.misbehave([fault("entry", status=504)])
    await hand_over(world, script, call(script, SAME))
    await at_the_server(world, script)


async def test_what_is_stored_late_is_not_sent_meanwhile(world):
    script = Script("s")
    await hand_over(world, script, call(script, "first"))
    await at_the_server(world, script)
    world.server.stop()
    await hand_over(world, script, call(script, "second"))
    # The request lies in the socket of the server, and its client gives it up.
    await asyncio.sleep(1.0)
    world.server.go_on()
    await at_the_server(world, script)
    await asyncio.sleep(0.5)
    check(world, [script])

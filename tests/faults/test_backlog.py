"""P05: what waits for the server holds up no prompt, and goes out behind it, in order."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator

import pytest

from tests.faults.rounds import recovered
from tests.faults.script import Script, Step, compare, stored
from tests.faults.steps import call, fault, hand_over, turn
from tests.faults.world import World, opened_world
from tests.support.command import payload

BACKLOG = 50
WRITE = fault("entry", after=True, seconds=1.0)
RECALL = fault("recall", after=True, seconds=0.05)
BUDGET = 4.0
"""The recall budget; sending all that waits first would take ten times as long."""


UNHURRIED = {
    "COGNEE_REQUEST_TIMEOUT_MS": "10000",
    "COGNEE_HEALTH_TIMEOUT_MS": "2500",
    "COGNEE_RECALL_TIMEOUT_MS": "4000",
}
"""The settings that users have: what is waited for is what they wait for."""


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with opened_world(**UNHURRIED) as made:
        yield made


async def backlog(world: World) -> Script:
    """A session whose entries wait on disk, since there was no server."""
    script = Script("s")
    await world.server.kill()
    for number in range(BACKLOG):
        await hand_over(world, script, call(script, f"call {number}"))
    await world.no_daemon()
    await world.server.start()
    await world.server.misbehave([WRITE] * 4 * BACKLOG + [RECALL] * 10)
    return script


async def prompt(world: World, script: Script, question: str) -> tuple[float, str]:
    """Send a prompt; returns how long it took, and the answer."""
    asked, answered = turn(script, question, "It is.")
    began = time.monotonic()
    context = await world.hook(script, asked)
    seconds = time.monotonic() - began
    await hand_over(world, script, answered)
    return seconds, context


@pytest.mark.parametrize("killed", [False, True], ids=["daemon goes on", "daemon starts anew"])
async def test_a_prompt_gets_its_memory_in_time_although_fifty_entries_wait(world, killed):
    script = await backlog(world)
    if not killed:
        await world.hook(script, Step("SessionStart", start_of(script)))
        await asyncio.sleep(1.5)  # it is in the middle of sending
    seconds, context = await prompt(world, script, "What did call 3 print?")
    assert seconds < BUDGET
    assert (await world.server.counts())["recall"] > 0
    assert "recall skipped" not in context
    # Sending goes on behind it, from the head, and the tail it did not reach is kept.
    await asyncio.sleep(1.5)
    found = [stored(each) for each in world.server.entries(()).get(script.session_id, ())]
    assert 0 < len(found) < BACKLOG / 2
    assert compare(script.expected, found, BACKLOG + 1) == BACKLOG + 1 - len(found)
    await world.server.behave()
    await recovered(world, [script])


async def test_each_prompt_of_a_long_drain_is_answered_in_time(world):
    script = await backlog(world)
    times = [(await prompt(world, script, f"Is it done, {number}?"))[0] for number in range(3)]
    assert max(times) < BUDGET
    await world.server.behave()
    await recovered(world, [script])


async def test_a_drain_that_is_killed_goes_on_where_it_was(world):
    script = await backlog(world)
    await world.hook(script, Step("SessionStart", start_of(script)))
    await asyncio.sleep(2.5)
    world.signal_daemons(signal.SIGKILL)
    seconds, _ = await prompt(world, script, "And now?")
    assert seconds < BUDGET
    await world.server.behave()
    await recovered(world, [script])


def start_of(script: Script) -> dict[str, object]:
    return payload("SessionStart.resume", session_id=script.conversation)

"""P07: whoever is killed at whatever moment, the next launch goes on in order and loses nothing."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal

import pytest

from tests.faults.rounds import recovered
from tests.faults.script import Script, Step
from tests.faults.steps import call, fault, hand_over, turn
from tests.faults.world import World
from tests.support.command import payload

PENDING = 6


def end_of(script: Script) -> Step:
    step = Step("SessionEnd", payload("SessionEnd.other", session_id=script.conversation))
    script.steps.append(step)
    return step


async def pending(world: World, conversation: str = "s") -> Script:
    """A session with entries that the server has not taken yet, since each write takes long."""
    script = Script(conversation)
    slow = fault("entry", after=True, seconds=0.4)
    await world.server.misbehave([slow] * 50)
    for number in range(PENDING):
        await hand_over(world, script, call(script, f"call {number}"))
    await hand_over(world, script, *turn(script, "Is it all there?", "Not yet."))
    return script


async def go_on(world: World, script: Script) -> None:
    """The next launch: the same conversation goes on, with new captures."""
    await world.server.behave()
    start = payload("SessionStart.resume", session_id=script.conversation)
    await world.hook(script, Step("SessionStart", start))
    await hand_over(world, script, call(script, "after the kill"))


@pytest.mark.parametrize("daemon", ["goes on", "stands still", "is killed, too", "is ended, too"])
async def test_the_end_of_a_session_that_is_killed_after_200_ms_loses_nothing(world, daemon):
    script = await pending(world)
    signals = {
        "stands still": signal.SIGSTOP,
        "is killed, too": signal.SIGKILL,
        "is ended, too": signal.SIGTERM,
    }
    if daemon == "stands still":  # so that the hook is still there to be killed
        world.signal_daemons(signal.SIGSTOP)
    await world.hook(script, end_of(script), kill_after=0.2)
    if daemon in signals:
        world.signal_daemons(signals[daemon])
    if daemon == "stands still":
        world.signal_daemons(signal.SIGKILL)
    await go_on(world, script)
    await recovered(world, [script])


@pytest.mark.parametrize("milliseconds", range(0, 120, 10))
async def test_a_daemon_that_is_killed_while_it_writes_leaves_nothing_half_done(
    world, milliseconds
):
    script = Script("s")
    await world.daemon_up()
    await world.server.kill()  # so that everything goes to the disk and stays there

    async def kill() -> None:
        await asyncio.sleep(0.05 + milliseconds / 1000)
        world.signal_daemons(signal.SIGKILL)

    steps = [call(script, f"call {number}") for number in range(8)]
    await asyncio.gather(hand_over(world, script, *steps), kill())
    await world.server.start()
    await go_on(world, script)
    await recovered(world, [script])
    # Whatever a writer left unfinished does not pile up.
    assert not [*world.folder.parent.glob("*/bridge/*.tmp")]


async def test_killed_again_and_again_it_gets_there(world):
    script = await pending(world)
    for _ in range(4):
        await asyncio.sleep(0.3)
        world.signal_daemons(signal.SIGKILL)
        await hand_over(world, script, call(script, "once more"))
    await go_on(world, script)
    await recovered(world, [script])


async def test_what_an_ended_session_left_is_sent_by_another_one(world):
    script = await pending(world)
    await world.hook(script, end_of(script))
    world.signal_daemons(signal.SIGKILL)
    await world.server.behave()
    other = Script("other")
    await hand_over(world, other, call(other, "in another session"))
    await recovered(world, [script, other])


async def test_two_sessions_that_end_at_once_are_both_sent(world):
    first, second = await pending(world, "first"), await pending(world, "second")
    await asyncio.gather(world.hook(first, end_of(first)), world.hook(second, end_of(second)))
    await world.server.behave()
    await recovered(world, [first, second])


async def test_locks_of_somebody_who_was_killed_hold_nobody_up(world):
    script = await pending(world)
    world.signal_daemons(signal.SIGKILL)
    await world.no_daemon()
    state = world.folder.parent
    left = [path for path in state.rglob("*") if path.suffix in {".lock", ".drain"}]
    assert left, "whoever was killed has left no locks behind"
    for path in left:
        path.write_text('{"pid": 999999999, "at": 0}')
    await go_on(world, script)
    await recovered(world, [script])


async def test_a_lock_that_somebody_holds_delays_what_waits_and_loses_nothing(world):
    script = await pending(world)
    world.signal_daemons(signal.SIGKILL)
    await world.no_daemon()
    held = [
        os.open(path, os.O_RDWR)
        for path in world.folder.parent.rglob("*")
        if path.suffix in {".lock", ".drain"}
    ]
    for each in held:
        fcntl.flock(each, fcntl.LOCK_EX)
    await go_on(world, script)
    await asyncio.sleep(0.5)
    for each in held:
        os.close(each)
    await recovered(world, [script])

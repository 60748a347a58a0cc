"""A daemon that nobody finds any more takes nothing from the one that works now."""

from __future__ import annotations

import asyncio
import signal
import time

from tests.faults.rounds import recovered
from tests.faults.script import Script, Step
from tests.faults.steps import call, hand_over, turn
from tests.faults.world import World
from tests.support.command import payload

END_SECONDS = 30.0


async def lost_and_followed(world: World, script: Script) -> tuple[int, int]:
    """A daemon that stands still in the middle of a session and is lost, and the next one."""
    await world.daemon_up()
    (lost,) = world.daemons()
    start = payload("SessionStart.startup", session_id=script.conversation)
    await world.hook(script, Step("SessionStart", start))
    await hand_over(world, script, call(script, "while it was there"))
    await recovered(world, [script])
    world.signal_daemon(lost, signal.SIGSTOP)
    world.lose_daemon()
    await world.daemon_up()
    (follower,) = {*world.daemons()} - {lost}
    return lost, follower


async def ended(world: World, pid: int) -> None:
    """Wait until a daemon is gone."""
    until = time.monotonic() + END_SECONDS
    while pid in world.daemons():
        assert time.monotonic() < until, f"daemon {pid} goes on"
        await asyncio.sleep(0.05)


async def test_what_was_spooled_for_the_one_that_followed_is_not_taken_by_the_lost_one(world):
    script = Script("s")
    lost, follower = await lost_and_followed(world, script)
    world.signal_daemon(follower, signal.SIGSTOP)  # so that the event goes to the spool
    prompt, answer = turn(script, "Is it in its place?", "Yes, it is.")
    await hand_over(world, script, prompt, answer)
    world.signal_daemon(lost, signal.SIGCONT)
    await ended(world, lost)
    world.signal_daemon(follower, signal.SIGCONT)
    await hand_over(world, script, call(script, "after it"))
    await recovered(world, [script])

"""P07: whoever is killed at whatever moment, the next launch goes on in order and loses nothing."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal

from tests.faults.rounds import recovered
from tests.faults.script import Script, Step
from tests.faults.steps import call, fault, hand_over, turn
from tests.faults.world import World, side_by_side
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


async def test_the_end_of_a_session_that_is_killed_after_200_ms_loses_nothing():
    async def scene(world: World, then: signal.Signals | None) -> None:
        script = await pending(world)
        if then is signal.SIGSTOP:  # so that the hook is still there to be killed
            world.signal_daemons(then)
        await world.hook(script, end_of(script), kill_after=0.2)
        if then is signal.SIGSTOP:
            world.signal_daemons(signal.SIGKILL)
        elif then is not None:
            world.signal_daemons(then)
        await go_on(world, script)
        await recovered(world, [script])

    await side_by_side(
        {
            "the daemon goes on": None,
            "the daemon stands still": signal.SIGSTOP,
            "the daemon is killed, too": signal.SIGKILL,
            "the daemon is ended, too": signal.SIGTERM,
        },
        scene,
    )


async def test_a_daemon_that_is_killed_while_it_writes_leaves_nothing_half_done():
    async def scene(world: World, seconds: float) -> None:
        script = Script("s")
        await world.daemon_up()
        await world.server.kill()  # so that everything goes to the disk and stays there

        async def kill() -> None:
            await asyncio.sleep(seconds)
            world.signal_daemons(signal.SIGKILL)

        steps = [call(script, f"call {number}") for number in range(8)]
        await asyncio.gather(hand_over(world, script, *steps), kill())
        await world.server.start()
        await go_on(world, script)
        await recovered(world, [script])
        # Whatever a writer left unfinished does not pile up.
        assert not [*world.folder.parent.glob("*/bridge/*.tmp")]

    moments = [0.05 + number / 80 for number in range(10)]
    await side_by_side({f"after {moment:.3f} s": moment for moment in moments}, scene)


async def test_where_hooks_are_killed_no_answer_is_kept_with_an_older_question(world):
    script = Script("s")
    world.scripts.append(script)
    for number in range(6):
        first, answer = turn(script, f"What is first {number}?", f"First {number}.")
        second, other = turn(script, f"What is second {number}?", f"Second {number}.")
        await world.hook(script, first)
        await world.hook(script, answer, kill_after=0)
        await world.hook(script, second, kill_after=0)
        await world.hook(script, other)
    # Pairs are sent in their order, so that all that could be wrong is there before this one.
    await hand_over(world, script, *turn(script, "Is this the last one?", "It is."))
    await recovered(world, [script])


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

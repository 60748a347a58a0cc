"""One round: sessions are played while things go wrong; then all has to be well again."""

from __future__ import annotations

import asyncio
import math
import signal
import time
from collections import Counter
from collections.abc import Collection, Sequence
from random import Random

from tests.faults.kinds import KINDS
from tests.faults.script import Missing, Script, compare, draw_script, stored
from tests.faults.world import UNLIMITED, World

RECOVERY_SECONDS = 90.0
POLL_SECONDS = 0.2
VISIT_SECONDS = 6.0

Tally = Counter[str]
"""Rounds, entries and so on, and how often each kind of fault was drawn."""


class RoundFailed(AssertionError):
    """A round did not end as it has to; the message holds its seed and what happened in it."""


async def play_round(
    world: World, seed: int, tally: Tally, *, kinds: Collection[str] = tuple(KINDS), most: int = 99
) -> None:
    """Play one round.

    Args:
        world: The machine.
        seed: Decides all that is left to chance; the rest is left to the machine.
        tally: Where it is counted.
        kinds: What may go wrong.
        most: Entries that a session has at most.

    Raises:
        RoundFailed: Entries are lost, doubled, foreign or out of order, or something hangs.
    """
    random = Random(seed)
    kinds = random.sample(sorted(kinds), min(len(kinds), random.choice((1, 1, 1, 2, 2, 3))))
    sessions = random.choice((1, 1, 2, 3))
    scripts = [draw_script(random, f"r{seed}-{number}", most) for number in range(sessions)]
    del world.timeline[:]
    world.note(f"round {seed}: {', '.join(kinds)}")
    try:
        await _disturbed(world, random, kinds, scripts)
        world.note("all is well from here on")
        waiting = await recovered(world, scripts)
    except AssertionError as error:
        happened = "\n".join([*world.timeline, world.log_tail()])
        raise RoundFailed(f"round {seed} ({', '.join(kinds)}): {error}\n{happened}") from error
    tally["rounds"] += 1
    tally["sessions"] += len(scripts)
    tally["entries"] += sum(len(script.expected) for script in scripts)
    tally["still buffered"] += waiting
    tally.update({f"fault: {kind}": 1 for kind in kinds})


async def _disturbed(
    world: World, random: Random, kinds: Sequence[str], scripts: Sequence[Script]
) -> None:
    """Play sessions while things go wrong, and set right what can be."""
    # Each has its own chance, so that none of them depends on how far another one has come.
    work = [KINDS[kind](world, Random(random.random())) for kind in kinds]
    work += [world.play(script, Random(random.random())) for script in scripts]
    async with asyncio.TaskGroup() as group:
        for each in work:
            group.create_task(each)
    world.limit_files(UNLIMITED)
    world.doubt_unwritten()
    world.signal_daemons(signal.SIGCONT)
    world.server.go_on()
    await world.server.start()
    await world.server.behave()


async def recovered(world: World, scripts: Sequence[Script]) -> int:
    """Wait until everything is at the server, and return how many entries still wait.

    Raises:
        Mismatch: Something is lost, doubled, foreign, or out of order.
    """
    until = time.monotonic() + RECOVERY_SECONDS
    visit = time.monotonic()
    while True:
        if time.monotonic() >= visit:
            await world.come_back()
            visit = time.monotonic() + VISIT_SECONDS
        status = await world.ask() or {}
        try:
            check(world, scripts)
            if status.get("kept", math.inf) <= _never_done(world):
                await world.leave()
                return 0
        except Missing:
            if time.monotonic() > until:
                world.note(f"status: {status}")
                raise
        assert time.monotonic() < until, f"events are kept for ever: {status}"
        await asyncio.sleep(POLL_SECONDS)


def _never_done(world: World) -> int:
    """Return how many events stay in the journal at most, because nobody can be done with them."""
    unreadable = sum(path.suffix == ".sealed" and path.exists() for path in world.torn)
    # A prompt whose answer was killed on its way waits for it.
    unanswered = sum(
        not all(step.certain for step in script.steps if step.event == "Stop")
        for script in world.scripts
    )
    return unreadable + unanswered


def check(world: World, scripts: Sequence[Script]) -> None:
    """Compare what is at the server with what was captured.

    Raises:
        Mismatch: Something is lost, doubled, foreign, or out of order.
    """
    held = world.server.entries(script.session_id for script in scripts)
    for script in scripts:
        found = [stored(entry) for entry in held.get(script.session_id, [])]
        for kinds in (("qa", "trace"),) if world.server.in_one_order else (("qa",), ("trace",)):
            compare(
                [step for step in script.expected if step.entry and step.entry[0] in kinds],
                [entry for entry in found if entry[0] in kinds],
                0,
            )
    ours = {script.session_id for script in world.scripts}
    foreign = [name for name in held if name not in ours]
    assert not foreign, f"sessions that nobody had: {foreign}"

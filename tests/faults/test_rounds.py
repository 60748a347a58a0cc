"""Whatever happens to daemon, server, hooks and disk: nothing is lost, and nothing is there twice.

``COGNEE_HOOKS_FAULT_SEED=4711`` plays that round alone, ``COGNEE_HOOKS_FAULT_ROUNDS=5000`` plays
more of them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence

import pytest

from tests.faults.rounds import RoundFailed, Tally, check, play_round
from tests.faults.world import opened_world

ROUNDS = int(os.environ.get("COGNEE_HOOKS_FAULT_ROUNDS", "500"))
ALONE = os.environ.get("COGNEE_HOOKS_FAULT_SEED", "")
FIRST_SEED = 20_000
WORLDS = 8
"""Machines that are at work at once; each of them waits most of the time."""
EACH = 3
"""Rounds that follow each other on one machine."""


def groups() -> list[Sequence[int]]:
    """Seeds of the rounds of each test."""
    if ALONE:
        return [[int(ALONE)]]
    step = WORLDS * EACH
    last = FIRST_SEED + ROUNDS
    return [range(first, min(first + step, last)) for first in range(FIRST_SEED, last, step)]


async def play(seeds: Sequence[int], tally: Tally) -> None:
    """Play rounds one after the other on one machine, and look at all of them again at the end."""
    async with opened_world() as world:
        for seed in seeds:
            await play_round(world, seed, tally)
        check(world, world.scripts)
        tally.update({f"ledger: {act}": count for act, count in world.acts().items()})
        tally["server starts"] += world.server.starts


@pytest.mark.parametrize("seeds", groups(), ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}")
async def test_all_that_was_captured_is_in_memory_once_and_in_order(seeds, tally):
    shares = [seeds[number::WORLDS] for number in range(WORLDS)]
    done = await asyncio.gather(
        *(play(share, tally) for share in shares if share), return_exceptions=True
    )
    failed = [each for each in done if isinstance(each, BaseException)]
    for each in failed:
        if not isinstance(each, RoundFailed):
            raise each
    assert not failed, "\n\n".join(map(str, failed))

"""A smaller part of the suite, against real cognee."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest

from tests.faults.kinds import KINDS
from tests.faults.rounds import check, play_round, recovered
from tests.faults.script import Script, draw_script
from tests.faults.server_process import ServerProcess
from tests.faults.world import World
from tests.support.real_cognee import RealCognee
from tests.support.servers import mint_key

pytestmark = pytest.mark.real_cognee

ROUNDS = 16
WORLDS = 4
FIRST_SEED = 70_000
MOST = 20
"""Entries of a kind that cognee lists of a session."""
UNHURRIED = {"COGNEE_REQUEST_TIMEOUT_MS": "1000", "COGNEE_HEALTH_TIMEOUT_MS": "1500"}
"""A request takes cognee 40 to 200 ms, and several times as long on a machine that is busy."""


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="ch-", ignore_cleanup_errors=True) as made:
        yield Path(made)


def world_before(folder: Path, url: str, key: str) -> World:
    """A machine whose server stands in front of a real one."""
    folder.mkdir()
    return World(folder, server=ServerProcess(folder, (url, key)), **UNHURRIED)


async def play(world: World, seeds: Sequence[int], tally) -> None:
    try:
        await world.open()
        for seed in seeds:
            await play_round(world, seed, tally, kinds=KINDS, most=MOST)
        check(world, world.scripts)
    finally:
        await world.close()


async def test_rounds_against_real_cognee(real_cognee_165, folder, tally):
    url, key = real_cognee_165.url, real_cognee_165.key
    worlds = [world_before(folder / str(number), url, key) for number in range(WORLDS)]
    seeds = range(FIRST_SEED, FIRST_SEED + ROUNDS)
    done = await asyncio.gather(
        *(play(world, seeds[number::WORLDS], tally) for number, world in enumerate(worlds)),
        return_exceptions=True,
    )
    failed = [each for each in done if isinstance(each, BaseException)]
    assert not failed, "\n\n".join(map(str, failed))


async def test_a_cognee_that_is_killed_in_the_middle_has_everything_once(
    model_endpoint, folder, tally
):
    random = Random(FIRST_SEED)
    with RealCognee("1.6.5", folder / "cognee", model_endpoint.url) as cognee:
        key = await asyncio.to_thread(mint_key, cognee.url)
        world = world_before(folder / "world", cognee.url, key)
        try:
            await world.open()
            for number in range(2):
                scripts = [draw_script(random, f"killed-{number}-{each}", MOST) for each in "ab"]
                await asyncio.gather(
                    *(world.play(script, random) for script in scripts),
                    kill(cognee, random.uniform(0.2, 1.0)),
                )
                world.signal_daemons(signal.SIGKILL)
                await again(world, random, scripts)
                await asyncio.to_thread(cognee.start)
                await recovered(world, scripts)
                tally["rounds"] += 1
        finally:
            await world.close()


async def kill(cognee: RealCognee, seconds: float) -> None:
    """Kill a server after some time."""
    await asyncio.sleep(seconds)
    os.kill(cognee.pid, signal.SIGKILL)
    await asyncio.to_thread(cognee.stop)


async def again(world: World, random: Random, scripts: list[Script]) -> None:
    """Work on without a server."""
    script = draw_script(random, f"{scripts[0].conversation}-again", MOST)
    scripts.append(script)
    await world.play(script, random)

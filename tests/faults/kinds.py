"""What goes wrong in a round."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

from tests.faults.steps import fault
from tests.faults.world import UNLIMITED, World

STATUSES = (401, 403, 429, 500, 502, 503, 504)
SPAN = 0.7
"""Seconds within which a fault begins; a script takes about as long."""
STANDSTILL = 2.5
"""Longest that a process stands still: longer than the client waits for the daemon, and the daemon
for the server."""
LATE = 1.0
"""Longest that a server stands still, and so takes to store what its client has given up."""

Fault = Callable[[World, Random], Awaitable[None]]


async def _soon(random: Random, span: float = SPAN) -> None:
    await asyncio.sleep(random.uniform(0, span))


# -- the daemon ----------------------------------------------------------------------------------


async def daemon_killed(world: World, random: Random) -> None:
    """SIGKILL for the daemon, once or twice."""
    for _ in range(random.randint(1, 2)):
        await _soon(random)
        world.signal_daemons(signal.SIGKILL)


async def daemon_terminated(world: World, random: Random) -> None:
    """SIGTERM for the daemon, in the middle of its work."""
    await _soon(random)
    world.signal_daemons(signal.SIGTERM)


async def daemon_stopped(world: World, random: Random) -> None:
    """SIGSTOP for the daemon, and SIGCONT later."""
    await _soon(random)
    world.signal_daemons(signal.SIGSTOP)
    await _soon(random, STANDSTILL)
    world.signal_daemons(signal.SIGCONT)


async def daemons_meet(world: World, random: Random) -> None:
    """Other daemons are started while one runs, and one of them takes over."""
    for _ in range(random.randint(1, 3)):
        await world.start_daemon()
    await _soon(random)
    if random.random() < 0.5 and (pids := world.daemons()):
        world.note(f"one of {len(pids)} daemons is killed")
        world.signal_daemon(random.choice(pids), signal.SIGKILL)


async def daemon_lost(world: World, random: Random) -> None:
    """The daemon's socket and lock are gone, so a second one works beside it for a while."""
    await _soon(random)
    world.lose_daemon()


async def hook_killed(world: World, random: Random) -> None:
    """SIGKILL for some of the agent's hooks: what they hand over may be lost, but not doubled."""
    world.kill_hooks = 0.4
    await asyncio.sleep(SPAN)
    world.kill_hooks = 0.0


# -- the server ----------------------------------------------------------------------------------


async def server_killed(world: World, random: Random) -> None:
    """SIGKILL for the server, which is started again."""
    await _soon(random)
    world.note("the server is killed")
    await world.server.kill()
    await _soon(random, 1.0)
    await world.server.start()
    world.note("the server is back")


async def server_stopped(world: World, random: Random) -> None:
    """SIGSTOP for the server, and SIGCONT later."""
    await _soon(random)
    world.note("the server stands still")
    world.server.stop()
    await _soon(random, LATE)
    world.server.go_on()
    world.note("the server goes on")


async def server_refuses(world: World, random: Random) -> None:
    """No server before the session, and for some time into it."""
    await world.server.kill()
    world.note("the server is down")
    await _soon(random, 2 * SPAN)
    await world.server.start()
    world.note("the server is up")


async def _misbehave(world: World, random: Random, *, most: int = 3, **changes: Any) -> None:
    count = random.randint(1, most)
    await _soon(random, SPAN / 2)
    world.note(f"the next {count} writes: {changes}")
    await world.server.misbehave([fault("entry", **changes)] * count)


def answers(status: int, *, after: bool) -> Fault:
    """The server answers with a status, before or after it stores an entry."""

    async def happens(world: World, random: Random) -> None:
        # cognee itself sends no such header, what stands before it may.
        retry_after = random.choice((0, 1)) if status in {429, 503} else 0
        await _misbehave(world, random, status=status, after=after, retry_after=retry_after)

    return happens


def stalls(*, after: bool) -> Fault:
    """The server says nothing for longer than it is waited for, and then resets or answers."""

    async def happens(world: World, random: Random) -> None:
        await _misbehave(world, random, most=2, seconds=random.uniform(0.3, LATE), after=after)

    return happens


def resets(*, after: bool) -> Fault:
    """The server resets the connection, before or after it stores an entry."""

    async def happens(world: World, random: Random) -> None:
        await _misbehave(world, random, after=after)

    return happens


async def check_fails(world: World, random: Random) -> None:
    """An entry is stored and its answer lost, and the session cannot be read just then."""
    status = random.choice((500, 502, 504))
    world.note(f"a write is answered with {status}, and so are the next looks at its session")
    looks = [fault("session", status=500)] * random.randint(1, 2)
    await world.server.misbehave([fault("entry", status=status, after=True), *looks])


# -- the disk ------------------------------------------------------------------------------------


async def disk_full(world: World, random: Random) -> None:
    """Nothing, or nothing but the first bytes of a file, can be written for a while."""
    await _soon(random)
    size = random.choice((0, 0, random.randrange(1, 8000)))
    world.note(f"the disk is full, {size} bytes of a file fit")
    world.limit_files(size)
    await _soon(random, SPAN)
    world.limit_files(UNLIMITED)
    world.note("the disk has room")


async def file_cut(world: World, random: Random) -> None:
    """Everything is killed, and a file that holds entries ends at some byte from then on."""
    await world.server.kill()
    world.note("the server is down")
    await _soon(random, SPAN)
    # Whoever starts a daemon now would read what is not cut yet.
    await world.hooks_rest()
    try:
        await world.no_daemon()
        if files := world.files():
            path = random.choice(files)
            world.cut(path, random.randrange(max(path.stat().st_size, 1)))
    finally:
        world.hooks_go_on()
    await world.server.start()


KINDS: dict[str, Fault] = {
    "daemon killed": daemon_killed,
    "daemon terminated": daemon_terminated,
    "daemon stopped": daemon_stopped,
    "daemons meet": daemons_meet,
    "daemon lost": daemon_lost,
    "hook killed": hook_killed,
    "server killed": server_killed,
    "server stopped": server_stopped,
    "server refuses": server_refuses,
    **{f"{each} before storing": answers(each, after=False) for each in STATUSES},
    **{f"{each} after storing": answers(each, after=True) for each in STATUSES},
    "stall before storing": stalls(after=False),
    "stall after storing": stalls(after=True),
    "reset before storing": resets(after=False),
    "reset after storing": resets(after=True),
    "check fails": check_fails,
    "disk full": disk_full,
    "file cut": file_cut,
}
"""All faults by name."""

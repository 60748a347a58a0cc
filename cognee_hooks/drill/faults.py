"""What goes wrong in a drill, one after the other."""

from __future__ import annotations

import asyncio
import random
import resource
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from cognee_hooks.drill.script import DrillConversation
from cognee_hooks.drill.server import ENTRY, Spoiled
from cognee_hooks.drill.world import Reply, World

UNLIMITED = resource.RLIM_INFINITY
_ON_DISK_SECONDS = 2.0
_POLL_SECONDS = 0.05
_KILL_WITHIN = 0.03
"""Seconds that a hook works for about; the daemon is killed at some moment of them."""
_STATUSES = {
    401: "key refused",
    403: "access denied",
    429: "too many requests",
    500: "server fails",
    503: "server not ready",
}
_JUNK = b'{"entries": [{"sealed": "'

Happens = Callable[[World, DrillConversation], Awaitable[list[Reply]]]


@dataclass(frozen=True, slots=True)
class DrillFault:
    """Something that goes wrong during one turn of the agent.

    Attributes:
        name: What happens.
        proves: What it shows if all is well.
        happens: Plays the turn meanwhile.
    """

    name: str
    proves: str
    happens: Happens


async def nothing(world: World, conversation: DrillConversation) -> list[Reply]:
    """Play a turn while all is well."""
    return await world.play(conversation.turn())


def answered(spoiled: Spoiled) -> Happens:
    """Play a turn while the server misbehaves."""

    async def happens(world: World, conversation: DrillConversation) -> list[Reply]:
        world.server.spoiled = spoiled
        try:
            return await world.play(conversation.turn())
        finally:
            world.server.spoiled = None

    return happens


async def server_away(world: World, conversation: DrillConversation) -> list[Reply]:
    """Play a turn while nobody listens at the server's address."""
    await asyncio.to_thread(world.server.stop)
    try:
        return await world.play(conversation.turn())
    finally:
        await asyncio.to_thread(world.server.start)


async def daemon_killed(world: World, conversation: DrillConversation) -> list[Reply]:
    """Kill the daemon while it takes a tool call, and again while it takes the answer."""
    prompt, call, answer = conversation.turn()
    replies = [await world.hook(prompt)]
    for payload in (call, answer):
        pid = await world.daemon_pid()
        hook = asyncio.create_task(world.hook(payload))
        await asyncio.sleep(random.SystemRandom().uniform(0, _KILL_WITHIN))
        await world.kill(pid)
        replies.append(await hook)
    return [*replies, await world.hook(conversation.start())]


async def daemon_stalls(world: World, conversation: DrillConversation) -> list[Reply]:
    """Let the daemon stand still while the agent hands over a tool call."""
    prompt, call, answer = conversation.turn()
    replies = [await world.hook(prompt)]
    pid = await world.daemon_pid()
    world.send(pid, signal.SIGSTOP)
    try:
        replies.append(await world.hook(call))
    finally:
        world.send(pid, signal.SIGCONT)
    return [*replies, await world.hook(answer)]


async def state_corrupted(world: World, conversation: DrillConversation) -> list[Reply]:
    """Damage state files while no daemon runs and the server is away."""
    await asyncio.to_thread(world.server.stop)
    try:
        replies = await world.play(conversation.turn())
        async with asyncio.timeout(_ON_DISK_SECONDS):
            # What has not been written yet is not what this fault is about.
            while not world.buffers() and await world.waiting():  # noqa: ASYNC110 - other process
                await asyncio.sleep(_POLL_SECONDS)
    except TimeoutError:
        pass
    finally:
        await world.kill(await world.daemon_pid())
        for path in world.buffers():
            _cut(path)
        for name in ("breaker.json", "active-dataset.json"):
            (world.state / name).write_bytes(_JUNK)
        await asyncio.to_thread(world.server.start)
    return [*replies, await world.hook(conversation.start())]


async def disk_full(world: World, conversation: DrillConversation) -> list[Reply]:
    """Let the daemon write nothing to disk for a turn."""
    pid = await world.daemon_pid()
    _limit(pid, 0)
    try:
        return await world.play(conversation.turn())
    finally:
        _limit(pid, UNLIMITED)


def all_faults() -> list[DrillFault]:
    """Return what goes wrong, in order."""
    kept = "captures are kept and sent later, once"
    refused = [
        DrillFault(f"{text} ({status})", kept, answered(Spoiled(status=status)))
        for status, text in _STATUSES.items()
    ]
    faults = [
        *refused,
        DrillFault("garbage", kept, answered(Spoiled(status=200, garbage=True, health=True))),
        DrillFault(
            "lost answers",
            "what was stored unsaid is not sent again",
            answered(Spoiled(status=500, only=ENTRY, after=True)),
        ),
        DrillFault("server away", kept, server_away),
        DrillFault(
            "server stalls", "the agent does not wait for it", answered(Spoiled(health=True))
        ),
        DrillFault("daemon killed", "what a hook handed over survives a kill", daemon_killed),
        DrillFault("daemon stalls", "the agent goes on, and the event is kept", daemon_stalls),
        DrillFault("files damaged", "what waits has a second file", state_corrupted),
    ]
    if hasattr(resource, "prlimit"):
        faults.append(DrillFault("disk full", "memory goes on without the disk", disk_full))
    return faults


def _cut(path: Path) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(size // 2)


def _limit(pid: int, size: int) -> None:
    if pid:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, UNLIMITED))

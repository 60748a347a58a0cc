"""Talks with a program in lines of JSON, within a deadline."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from asyncio.subprocess import Process

    from cognee_hooks.deadline import Deadline

MAX_LINE = 4 * 1024 * 1024
"""Longest line that a program may answer, in bytes."""

_GRACE_SECONDS = 2.0


class JsonLines:
    """A conversation with a program that runs.

    Args:
        process: The program.
    """

    def __init__(self, process: Process) -> None:
        self._process = process
        # The program is started with pipes for both.
        self._input = cast("StreamWriter", process.stdin)
        self._output = cast("StreamReader", process.stdout)

    async def send(self, message: Mapping[str, Any]) -> None:
        """Send a message.

        Raises:
            OSError: The program does not listen any more.
        """
        self._input.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        await self._input.drain()

    async def receive(self) -> dict[str, Any]:
        """Return the next message; lines that are no JSON objects are passed over.

        Raises:
            EOFError: The program says no more.
            ValueError: A line is too long.
        """
        while line := await self._output.readline():
            with suppress(ValueError, RecursionError):
                message = json.loads(line)
                if isinstance(message, dict):
                    return message
        raise EOFError("the program ended")

    async def close(self) -> None:
        """Tell the program that nothing more comes, and wait a little for its end."""
        import asyncio

        self._input.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_SECONDS):
                await self._process.wait()


@asynccontextmanager
async def talking_to(
    argv: Sequence[str], *, deadline: Deadline, env: Mapping[str, str], cwd: Path
) -> AsyncIterator[JsonLines]:
    """Start a program for the length of a block; it and all that it started end with the block.

    What it writes as errors is thrown away.

    Args:
        argv: Program and arguments; no shell is involved.
        deadline: When to give up.
        env: Its whole environment.
        cwd: Its working directory.

    Raises:
        OSError: The program cannot be started.
        TimeoutError: The deadline passed.
    """
    import asyncio
    from asyncio.subprocess import DEVNULL, PIPE, Process, SubprocessStreamProtocol

    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(
        lambda: SubprocessStreamProtocol(limit=MAX_LINE, loop=loop),
        *argv,
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env=dict(env),
        cwd=cwd,
        start_new_session=True,
    )
    process = Process(transport, protocol, loop)
    try:
        async with asyncio.timeout(deadline.remaining()):
            talk = JsonLines(process)
            yield talk
            await talk.close()
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        # Output that nobody read would keep `wait` waiting, and so would a helper in a session of
        # its own; closing our end does not.
        transport.close()
        await process.wait()

"""The memory server of a world as a process: to be killed, stopped, and started again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

START_SECONDS = 30.0
CONTROL_SECONDS = 10.0


class ServerProcess:
    """A memory server; it may run or not.

    Its port is reserved for it meanwhile, so that no other process of the machine takes it: who
    connects is refused, as nobody listens.

    Attributes:
        url: Base URL.
        key: An API key, known once it has run.
        starts: How often it was started.
    """

    def __init__(self, folder: Path) -> None:
        self._data = folder / "memory.db"
        self._reserved = socket.socket()
        self._reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._reserved.bind(("127.0.0.1", 0))
        self._port: int = self._reserved.getsockname()[1]
        self._process: asyncio.subprocess.Process | None = None
        self.url = f"http://127.0.0.1:{self._port}"
        self.key = ""
        self.starts = 0

    @property
    def running(self) -> bool:
        """Whether the process is there; it may be stopped."""
        return self._process is not None

    async def start(self) -> None:
        """Start it, if it does not run, and wait until it listens."""
        if self._process is not None:
            return
        self.starts += 1
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.faults.memory_server",
            str(self._port),
            str(self._data),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        assert self._process.stdout is not None
        async with asyncio.timeout(START_SECONDS):
            line = await self._process.stdout.readline()
        self.key = json.loads(line)["key"]

    async def kill(self) -> None:
        """Kill it, as the system does when memory is short."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    def stop(self) -> None:
        """Stop it: connections are taken by the system, and nothing is answered."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it go on; what came in meanwhile is done now."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)

    def close(self) -> None:
        """Give the port back."""
        self._reserved.close()

    # -- faults ----------------------------------------------------------------------------------

    async def misbehave(self, faults: Sequence[dict[str, Any]]) -> None:
        """Let these go wrong next; see `tests.faults.memory_server`."""
        await self._control("POST", json.dumps(faults).encode())

    async def behave(self) -> None:
        """Let nothing go wrong any more."""
        await self._control("DELETE")

    async def _control(self, method: str, body: bytes = b"") -> None:
        """Send a request to the front; nobody is there while the server is down or stopped."""
        head = f"{method} /faults HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n"
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(CONTROL_SECONDS):
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
                with closing(writer):
                    writer.write(head.encode() + body)
                    await reader.readuntil(b"}")

    # -- what it holds ---------------------------------------------------------------------------

    def entries(self) -> dict[str, list[dict[str, Any]]]:
        """All entries that are stored, by session, in the order in which they were stored."""
        with closing(sqlite3.connect(self._data, timeout=30)) as database:
            found = database.execute(
                "SELECT session_id, kind, body FROM entries ORDER BY seq"
            ).fetchall()
        entries: dict[str, list[dict[str, Any]]] = {}
        for session, kind, body in found:
            entries.setdefault(session, []).append({"type": kind, **json.loads(body)})
        return entries

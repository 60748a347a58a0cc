"""The memory server of a world as a process: to be killed, stopped, and started again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sqlite3
import sys
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx

START_SECONDS = 30.0
CONTROL_SECONDS = 10.0

Held = dict[str, list[dict[str, Any]]]
"""What a server holds, by session."""


class ServerProcess:
    """A memory server; it may run or not.

    Its port is reserved for it meanwhile, so that no other process of the machine takes it: who
    connects is refused, as nobody listens.

    Args:
        folder: Where its data lie.
        behind: Address of another server that this one stands in front of, and a key for it.

    Attributes:
        url: Base URL.
        key: An API key, known once it has run.
        starts: How often it was started.
    """

    def __init__(self, folder: Path, behind: tuple[str, str] | None = None) -> None:
        self._data = folder / "memory.db"
        self._behind, self.key = behind or (str(self._data), "")
        self._reserved = socket.socket()
        self._reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._reserved.bind(("127.0.0.1", 0))
        self._port: int = self._reserved.getsockname()[1]
        self._process: asyncio.subprocess.Process | None = None
        self.url = f"http://127.0.0.1:{self._port}"
        self.starts = 0

    @property
    def in_one_order(self) -> bool:
        """Whether it can be told which of two entries of different kinds was stored first."""
        return not self._behind.startswith("http")

    async def start(self) -> None:
        """Start it, if it does not run, and wait until it listens."""
        if self._process is not None:
            return
        self.starts += 1
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.faults.memory_server",
            str(self._port),
            self._behind,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        self._process = process
        assert process.stdout is not None
        async with asyncio.timeout(START_SECONDS):
            line = await process.stdout.readline()
        if not line and self._process is not process:
            return  # another fault of the round killed it before it listened, and starts it again
        self.key = json.loads(line)["key"] or self.key

    async def kill(self) -> None:
        """Kill it, as the system does when memory is short."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
            await process.wait()

    def stop(self) -> None:
        """Stop it: connections are taken by the system, and nothing is answered."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it go on; what came in meanwhile is done now."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            os.kill(self._process.pid, number)

    def close(self) -> None:
        """Give the port back."""
        self._reserved.close()

    # -- faults ----------------------------------------------------------------------------------

    async def misbehave(self, faults: Sequence[dict[str, Any]]) -> None:
        """Let these go wrong next; see `tests.faults.memory_server`."""
        await self._control("POST", json.dumps(faults).encode())

    async def counts(self) -> dict[str, int]:
        """Return how many requests of each kind there were since it was started."""
        return await self._control("POST", b"[]")

    async def behave(self) -> None:
        """Let nothing go wrong any more."""
        await self._control("DELETE")

    async def _control(self, method: str, body: bytes = b"") -> dict[str, int]:
        """Send a request to the front; nobody is there while the server is down or stopped."""
        head = f"{method} /faults HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n"
        with suppress(OSError, EOFError, TimeoutError):
            async with asyncio.timeout(CONTROL_SECONDS):
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
                with closing(writer):
                    writer.write(head.encode() + body)
                    answer = await reader.readuntil(b"}")
                    counts: dict[str, int] = json.loads(answer.partition(b"\r\n\r\n")[2])
                    return counts
        return {}

    # -- what it holds ---------------------------------------------------------------------------

    def entries(self, sessions: Iterable[str]) -> Held:
        """Return what is stored, by session, in the order in which it was.

        Args:
            sessions: Sessions to look at. The embedded server is asked for all that there are.
        """
        if self._behind.startswith("http"):
            return _listed(self._behind, self.key, sessions)
        with closing(sqlite3.connect(self._data, timeout=30)) as database:
            found = database.execute(
                "SELECT session_id, kind, body FROM entries ORDER BY seq"
            ).fetchall()
        entries: Held = {}
        for session, kind, body in found:
            entries.setdefault(session, []).append({"type": kind, **json.loads(body)})
        return entries


def _listed(url: str, key: str, sessions: Iterable[str]) -> Held:
    """Ask a server for sessions, as a client does; it lists the latest entries of each kind."""
    entries: Held = {}
    for session in sessions:
        answer = httpx.get(
            f"{url}/api/v1/sessions/{session}", headers={"X-Api-Key": key}, timeout=60
        )
        document = answer.json() if answer.status_code == 200 else {}
        rows = [{"type": "trace", **each} for each in document.get("traces", ())]
        rows += [{"type": "qa", **each} for each in document.get("qas", ())]
        assert document.get("msg_count", 0) + document.get("tool_calls", 0) == len(rows)
        entries[session] = rows
    return entries

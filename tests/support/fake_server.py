"""A server on loopback that misbehaves on demand, down to single bytes and segments.

By default it answers the routes that the client uses as a cognee server would. `FakeServer.on` puts
a behaviour in the place of an answer; a behaviour gets the connection and does what it likes.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

KEY = "c3" * 32


@dataclass(frozen=True)
class Request:
    """What arrived.

    Attributes:
        method: HTTP method.
        path: Path without query.
        headers: Headers, names in lower case.
        body: Body.
        connection: Number of the connection, counted from 1.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Connection:
    """One connection, as a behaviour sees it."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._writer.write(data)
        await self._writer.drain()

    async def answer(
        self,
        status: int,
        document: object = None,
        *,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        """Send a well-formed answer."""
        content = json.dumps(document).encode() if body is None else body
        lines = {"Content-Type": "application/json", "Content-Length": str(len(content))}
        lines |= headers or {}
        head = f"HTTP/1.1 {status} Whatever\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        await self.send(head.encode() + b"\r\n" + content)

    def close(self) -> None:
        """End the connection in order."""
        self._writer.close()

    def reset(self) -> None:
        """End the connection with a reset."""
        linger = struct.pack("ii", 1, 0)
        sock: socket.socket = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self._writer.transport.abort()


Behaviour = Callable[[Connection, Request], Awaitable[None]]


class FakeServer:
    """An HTTP server whose answers a test writes.

    Args:
        port: Port to listen on; 0 takes a free one.
        reuse_port: Whether somebody else may keep the port for it while it does not run.
    """

    def __init__(self, port: int = 0, *, reuse_port: bool = False) -> None:
        self.requests: list[Request] = []
        self.connections = 0
        self._behaviours: dict[str, Behaviour] = {}
        self._always: Behaviour | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.port = port
        self._reuse_port = reuse_port or None

    @property
    def url(self) -> str:
        """Base URL."""
        return f"http://127.0.0.1:{self.port}"

    def on(self, path: str, behaviour: Behaviour) -> None:
        """Behave like this on one path."""
        self._behaviours[path] = behaviour

    def always(self, behaviour: Behaviour | None) -> None:
        """Behave like this everywhere; None ends it."""
        self._always = behaviour

    def paths(self) -> list[str]:
        """Paths that were asked for, in order."""
        return [request.path for request in self.requests]

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._accept, "127.0.0.1", self.port, reuse_port=self._reuse_port
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        number = self.connections
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while request := await _read(reader, number):
                    self.requests.append(request)
                    behaviour = self._always or self._behaviours.get(request.path, _cognee)
                    await behaviour(Connection(writer), request)
                    if writer.is_closing():
                        break
        finally:
            writer.close()
            self._tasks.discard(task)


async def _read(reader: asyncio.StreamReader, connection: int) -> Request | None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, target.partition("?")[0], headers, body, connection)


async def _cognee(connection: Connection, request: Request) -> None:
    session = {"qas": [], "traces": [], "msg_count": 0, "tool_calls": 0, "dataset_id": None}
    good: dict[str, object] = {
        "/health": {"status": "ready", "health": "healthy", "version": "1.6.5"},
        "/api/v1/recall": [{"source": "graph", "text": "memory", "dataset_name": "d"}],
        "/api/v1/remember/entry": {"status": "session_stored", "entry_id": "e1"},
        "/api/v1/datasets": [] if request.method == "GET" else {"id": "d1", "name": "n"},
        "/api/v1/users/me": {"id": "u1", "email": "u@example.com"},
        "/api/v1/auth/login": {"access_token": "t" * 20},
        "/api/v1/auth/api-keys": [{"key": KEY}],
        "/api/v1/sessions/s1": session,
    }
    if request.path in good:
        await connection.answer(200, good[request.path])
    elif request.path == "/api/v1/auth/me":
        await connection.answer(401, {"detail": "Unauthorized"})
    elif request.path.startswith("/api/v1/sessions/"):
        await connection.answer(404, {"detail": "session not found"})
    else:
        await connection.answer(404, {"detail": "Not Found"})


# -- behaviours --------------------------------------------------------------------------------


def status(code: int, document: object = None, **headers: str) -> Behaviour:
    """Answer with a status and a JSON body; ``retry_after="3"`` becomes a header."""

    async def behave(connection: Connection, _: Request) -> None:
        spelled = {name.replace("_", "-"): value for name, value in headers.items()}
        await connection.answer(code, document, headers=spelled)

    return behave


def body(content: bytes, code: int = 200, kind: str = "text/html") -> Behaviour:
    """Answer with a body that need not be JSON."""

    async def behave(connection: Connection, _: Request) -> None:
        await connection.answer(code, body=content, headers={"Content-Type": kind})

    return behave


async def stall(_: Connection, __: Request) -> None:
    """Take the request and never answer."""
    await asyncio.sleep(60)


def slow(seconds: float) -> Behaviour:
    """Answer as a cognee server does, late."""

    async def behave(connection: Connection, request: Request) -> None:
        await asyncio.sleep(seconds)
        await _cognee(connection, request)

    return behave


async def half_a_header(connection: Connection, _: Request) -> None:
    """Begin an answer and stop within its header."""
    await connection.send(b"HTTP/1.1 200 OK\r\nContent-Ty")
    await asyncio.sleep(60)


async def drip(connection: Connection, _: Request) -> None:
    """Send a proper answer, one byte every 20 ms, without an end."""
    await connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    for _each in range(3000):
        await connection.send(b" ")
        await asyncio.sleep(0.02)


async def endless_headers(connection: Connection, _: Request) -> None:
    """Send headers without an end."""
    await connection.send(b"HTTP/1.1 200 OK\r\n")
    for number in range(1_000_000):
        await connection.send(b"X-%d: %s\r\n" % (number, b"x" * 1000))


async def half_a_body(connection: Connection, _: Request) -> None:
    """Announce more than is sent, and close."""
    await connection.send(b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"status": ')
    connection.close()


async def short_length(connection: Connection, _: Request) -> None:
    """Announce less than is sent."""
    await connection.send(b'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{"status": "x"}')
    connection.close()


async def close_at_once(connection: Connection, _: Request) -> None:
    """Close without a word."""
    connection.close()


async def reset(connection: Connection, _: Request) -> None:
    """Reset the connection."""
    connection.reset()


async def no_http(connection: Connection, _: Request) -> None:
    """Speak another protocol."""
    await connection.send(b"220 mail.example.com ESMTP ready\r\n")
    connection.close()


async def huge(connection: Connection, _: Request) -> None:
    """Send 200 MB of JSON in chunks."""
    await connection.send(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    part = b" " * 1_000_000
    for _each in range(200):
        await connection.send(b"%x\r\n%s\r\n" % (len(part), part))
    await connection.send(b"0\r\n\r\n")


def bomb() -> Behaviour:
    """Send 100 kB that unpack to 100 MB."""
    content = gzip.compress(b" " * 100_000_000)

    async def behave(connection: Connection, _: Request) -> None:
        await connection.answer(200, body=content, headers={"Content-Encoding": "gzip"})

    return behave


def redirect(target: str, code: int = 307) -> Behaviour:
    """Send elsewhere."""

    async def behave(connection: Connection, _: Request) -> None:
        await connection.answer(code, body=b"", headers={"Location": target})

    return behave

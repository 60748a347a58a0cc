"""The drill's memory server: the embedded one, with somebody in front who spoils its answers."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cognee_hooks.embedded import EmbeddedServer

ENTRY = "/api/v1/remember/entry"
HEALTH = "/health"
_MAX_KEPT = 32 * 1024 * 1024
"""Bytes of requests that are kept to be searched for secrets."""
_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoiled:
    """How requests are answered instead.

    Attributes:
        status: The status; 0 for none, so that the request waits.
        garbage: Whether the answer is no JSON.
        health: Whether the health route is spoiled, too.
        only: Only this route is spoiled; "" for all.
        after: Whether the request is carried out first.
    """

    status: int = 0
    garbage: bool = False
    health: bool = False
    only: str = ""
    after: bool = False

    def meets(self, path: str) -> bool:
        """Tell whether a route is spoiled."""
        if self.only:
            return path == self.only
        return self.health or path != HEALTH


class SpoilingApp:
    """An ASGI application that passes requests on or spoils them, and remembers what they held.

    Args:
        app: The application behind.
        server: Says what to do, and is told what came.
    """

    def __init__(self, app: ASGIApp, server: DrillServer) -> None:
        self._app = app
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = await _body(receive)
        self._server.saw(scope, body)
        spoiled = self._server.spoiled
        if spoiled is None or not spoiled.meets(scope["path"]):
            await self._app(scope, _replayed(body, receive), send)
            return
        if spoiled.after:
            await self._app(scope, _replayed(body, receive), _nowhere)
        if spoiled.status:
            await _answer(send, spoiled)
            return
        while self._server.spoiled is spoiled:  # noqa: ASYNC110 - another thread changes it
            await asyncio.sleep(_POLL_SECONDS)
        # Whoever asked has given up long ago; nothing is carried out for them any more.
        await _answer(send, Spoiled(status=503))


class DrillServer:
    """A memory server that can be stopped, started and made to misbehave.

    Args:
        data: Its data file.

    Attributes:
        url: Its address, which stays the same when it is stopped and started.
        spoiled: How it misbehaves; None while it is well.
    """

    def __init__(self, data: Path) -> None:
        self._data = data
        self._requests: list[bytes] = []
        self._kept = 0
        self.spoiled: Spoiled | None = None
        self._server = self._make(0)
        self.url = ""

    def __enter__(self) -> Self:
        self._server.start()
        self.url = self._server.url
        return self

    def __exit__(self, *_: object) -> None:
        self.spoiled = None
        self._server.stop()

    def stop(self) -> None:
        """Let nobody listen at the address."""
        self._server.stop()

    def start(self) -> None:
        """Listen at the address again, with what was stored.

        Raises:
            UsageError: Another program took the port meanwhile.
        """
        self._server = self._make(urlsplit(self.url).port or 0)
        self._server.start()

    def saw(self, scope: Scope, body: bytes) -> None:
        """Keep what a request held, to be searched later."""
        head = b" ".join(
            [
                scope["path"].encode(),
                scope.get("query_string", b""),
                *(b"%s: %s" % pair for pair in scope["headers"] if pair[0] != b"x-api-key"),
            ]
        )
        self._kept += len(head) + len(body)
        if self._kept <= _MAX_KEPT:
            self._requests += [head, body]

    def received(self) -> bytes:
        """Return what all requests held; strings in JSON are unescaped, too."""
        return b"\n".join([*self._requests, *map(_unescaped, self._requests)])

    def _make(self, port: int) -> EmbeddedServer:
        return EmbeddedServer(self._data, port, auth=False, wrap=self._wrapped)

    def _wrapped(self, app: ASGIApp) -> ASGIApp:
        return SpoilingApp(app, self)


def _unescaped(body: bytes) -> bytes:
    try:
        return json.dumps(json.loads(body), ensure_ascii=False).encode(errors="replace")
    except (ValueError, RecursionError):
        return b""


async def _body(receive: Receive) -> bytes:
    data = bytearray()
    more = True
    while more:
        message = await receive()
        data += message.get("body", b"")
        more = message.get("more_body", False)
    return bytes(data)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a channel that gives a body that was read already, and then what else comes."""
    first = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def again() -> Message:
        message = next(first, None)
        return message if message is not None else await receive()

    return again


async def _nowhere(_: Message) -> None:
    """Drop an answer."""


async def _answer(send: Send, spoiled: Spoiled) -> None:
    content = (
        b"<html>It works!</html>" if spoiled.garbage else b'{"detail": "spoiled by the drill"}'
    )
    kind = b"text/html" if spoiled.garbage else b"application/json"
    headers = [(b"content-type", kind), (b"content-length", str(len(content)).encode())]
    await send({"type": "http.response.start", "status": spoiled.status, "headers": headers})
    await send({"type": "http.response.body", "body": content})

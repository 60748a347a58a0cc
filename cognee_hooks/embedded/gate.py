"""What every request passes first: is it meant for this server, and is its body small enough?"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cognee_hooks.embedded.errors import ApiError, detail

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})


class Gate:
    """Refuses foreign hosts and origins, and stops reading a body that is too large.

    A web page can make a browser send requests to a loopback port. Without the check of ``Origin``
    it could write into an open server, and without the check of ``Host`` a name that resolves to
    this machine (DNS rebinding) would let it read.
    """

    def __init__(self, app: ASGIApp, *, max_body: int, any_host: bool) -> None:
        """Guard an application.

        Args:
            app: The application.
            max_body: Most bytes of a request's body.
            any_host: Accept every ``Host``: for a server that others reach by a name.
        """
        self._app = app
        self._max_body = max_body
        self._any_host = any_host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if not self._meant_for_us(headers.get("host", ""), headers.get("origin")):
            refused = detail(403, "This request was made for another host or by another site.")
            await JSONResponse(refused.body, refused.status)(scope, receive, send)
            return
        await self._app(scope, _Bounded(receive, self._max_body), send)

    def _meant_for_us(self, host: str, origin: str | None) -> bool:
        name = urlsplit(f"//{host}").hostname
        same_site = origin is None or urlsplit(origin).netloc == host
        return same_site and (self._any_host or name in LOOPBACK_NAMES)


class _Bounded:
    """The receive channel of one request, counting."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._seen = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self._seen += len(message.get("body", b""))
        if self._seen > self._limit:
            await self._drain(message)
            raise too_large(self._limit)
        return message

    async def _drain(self, message: Message) -> None:
        """Take in some more, or the client would see a reset connection instead of the answer."""
        while message.get("more_body") and self._seen <= 4 * self._limit:
            message = await self._receive()
            self._seen += len(message.get("body", b""))


def too_large(limit: int) -> ApiError:
    """The 413 answer."""
    return detail(413, f"The request body is larger than {limit} bytes.")

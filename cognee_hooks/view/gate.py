"""What every request passes first, and what every answer carries.

A web page can make a browser send requests to a loopback port, and other programs of this machine
serve pages there, too. So a request has to be made for this server by its own page, in the browser
that opened the printed address, below a path that only that browser knows; and what is answered may
not be framed, stored, read by other pages, or run anything that did not come with us.
"""

from __future__ import annotations

from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cognee_hooks.view.access import OPEN_PATH, PageAccess
from cognee_hooks.view.pages import refusal

SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}

_OURS = frozenset({"same-origin", "none"})


class PageGate:
    """Refuses what is not meant for the page, and protects what is answered.

    Args:
        app: The application.
        access: Who may see it.
        touched: Called with each request that is let through.
    """

    def __init__(self, app: ASGIApp, access: PageAccess, *, touched: Callable[[], None]) -> None:
        self._app = app
        self._access = access
        self._touched = touched
        self._hosts = [[host] for host in access.hosts]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request; what is no HTTP request gets no answer."""
        if scope["type"] != "http":
            return

        async def send_protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(SECURITY_HEADERS)
            await send(message)

        refused = self._refused(scope)
        if refused is None:
            self._touched()
            scope = {**scope, "path": self._access.inside(scope["path"])}
        await (refused or self._app)(scope, receive, send_protected)

    def _refused(self, scope: Scope) -> Response | None:
        connection, path = HTTPConnection(scope), scope["path"]
        inside = self._access.inside(path)
        headers = connection.headers
        if [each.lower() for each in headers.getlist("host")] not in self._hosts:
            return refusal(
                path, 403, "Another name", "This request was made for a server of another name."
            )
        if scope["method"] != "GET":
            answer = refusal(path, 405, "Only to be read", "Nothing can be changed here.")
            answer.headers["allow"] = "GET"
            return answer
        if self._is_foreign(headers, inside):
            return refusal(path, 403, "Another site", "Another site made this request.")
        admitted = inside == OPEN_PATH or self._access.admits(connection.cookies)
        if inside is None or not admitted:
            return refusal(
                path,
                401,
                "Not opened here",
                "This browser did not open the address that `cognee-hooks view` printed, or the "
                "program was started anew since. Start `cognee-hooks view` again.",
            )
        return None

    def _is_foreign(self, headers: Headers, inside: str | None) -> bool:
        if not self._access.origins.issuperset(headers.getlist("origin")):
            return True
        if _OURS.issuperset(headers.getlist("sec-fetch-site")):
            return False
        # A file or a page with a terminal may lead to the address: nobody guesses its token.
        leads = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
        return inside != OPEN_PATH or leads != ("navigate", "document")

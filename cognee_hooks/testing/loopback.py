"""A cognee server on loopback that is well, empty, slow, or refuses every key."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

FACT = "Refunds are paid out by hand on Fridays."
"""What the server remembers."""
SLOW_SECONDS = 60.0
"""Longer than everybody's patience, on the busiest machine."""

_WELL: dict[str, Any] = {
    "/health": {"status": "ready", "health": "healthy", "version": "1.6.5"},
    "/api/v1/remember/entry": {"status": "session_stored", "entry_id": "e1"},
    "/api/v1/datasets": [],
    "/api/v1/users/me": {"id": "u1", "email": "kit@example.com"},
}


def _hit(body: bytes) -> dict[str, Any]:
    """Return the fact inside the prompt that cognee 1.6 puts around what it recalls."""
    query = json.loads(body)["query"]
    text = (
        f"The question is: `{query}`\nAnswer using this sectioned context. Keep the answer brief "
        "and do not use information outside the context.\n\nContext:\n"
        f"`## Relevant passages\n{FACT}`"
    )
    return {"source": "graph", "search_type": "HYBRID_COMPLETION", "text": text}


class LoopbackServer:
    """Answers the routes that a session uses, each connection on a thread of its own.

    Args:
        mood: ``well``, ``empty`` (nothing is remembered), ``refusing`` (every request but health
            is answered with 401), or ``slow`` (every answer comes after a minute).
    """

    def __init__(self, mood: str) -> None:
        self.mood = mood
        self._ending = threading.Event()
        handler = type("Handler", (_Handler,), {"owner": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def url(self) -> str:
        """Base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, path: str, body: bytes) -> tuple[int, Any]:
        """Return status and document of a route.

        Args:
            path: Its path.
            body: What was sent.
        """
        if self.mood == "slow":
            self._ending.wait(SLOW_SECONDS)
        if self.mood == "refusing" and path != "/health":
            return 401, {"detail": "Unauthorized"}
        if path == "/api/v1/recall":
            return 200, [] if self.mood == "empty" else [_hit(body)]
        return (200, _WELL[path]) if path in _WELL else (404, {"detail": "Not Found"})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ending.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    """Reads a request whole, so that connections can be used again, and answers it."""

    protocol_version = "HTTP/1.1"
    owner: LoopbackServer

    def handle(self) -> None:
        """Serve a connection until the client leaves, in whatever way."""
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True

    def do_GET(self) -> None:
        """Answer a request."""
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, document = self.owner.answer(urlsplit(self.path).path, sent)
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET  # noqa: N815 - the base class chooses the names
    do_PUT = do_GET  # noqa: N815 - same
    do_DELETE = do_GET  # noqa: N815 - same

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Keep quiet."""

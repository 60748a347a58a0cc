"""What the scripted HTTP servers of the tests have in common."""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

OwnerT = TypeVar("OwnerT")
_POLL_SECONDS = 0.02


class HttpServer:
    """A server on a free loopback port, each connection on a thread, as a context manager.

    Attributes:
        root: Its URL, without a path.
    """

    def __init__(self, handler: type[Handler[Self]]) -> None:
        self._server = _Server(handler, self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL_SECONDS,), daemon=True
        )
        self.root = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, handler: type[BaseHTTPRequestHandler], owner: HttpServer) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.owner = owner

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay quiet about a client that was killed in the middle of an answer, and only that."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler, Generic[OwnerT]):
    """Answers the requests of one connection for the server that owns it."""

    protocol_version = "HTTP/1.1"

    def post(self) -> None:
        """Answer a request with a body."""
        raise NotImplementedError

    def get(self) -> None:
        """Answer a request without one: nothing is there."""
        error = {"type": "not_found_error", "message": "nothing here"}
        self.send_json({"error": error}, 404)

    def do_POST(self) -> None:
        """Answer a request with a body."""
        self.post()

    def do_GET(self) -> None:
        """Answer a request without one."""
        self.get()

    def do_HEAD(self) -> None:
        """Say that somebody is here, which some clients ask first."""
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    @property
    def owner(self) -> OwnerT:
        """The server, as a test sees it."""
        owner: OwnerT = self.server.owner  # type: ignore[attr-defined]
        return owner

    def document(self) -> Any:
        """The request's body as JSON; an object where there is none."""
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")

    def send(self, status: int, kind: str, content: bytes) -> None:
        """Send an answer."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def send_json(self, document: Any, status: int = 200) -> None:
        """Send a document."""
        self.send(status, "application/json", json.dumps(document).encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Stay quiet: the test's output is not the place for an access log."""

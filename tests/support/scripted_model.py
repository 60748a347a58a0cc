"""A model that does what the prompt tells it, behind whichever wire format an agent speaks.

A prompt holds directives; the model carries them out in order, one per request, and then answers:

``{{tool: command}}``
    Call the agent's shell tool with this command.
``{{agent: task}}``
    Hand this task to a sub-agent; the task may hold directives in square brackets instead of
    braces, ``[[tool: command]]``.
``{{say: text}}``
    The answer; without it the model says ``Done.``
``{{tokens: count}}``
    Report this many input tokens, which makes an agent compact its conversation.

What injected context says is never taken for a directive: a memory may quote an old prompt.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Protocol, Self

from tests.support.waiting import PATIENCE

ANSWER = "Done."

_DIRECTIVE = re.compile(r"\{\{(tool|agent|say|tokens): *(.*?)\}\}", re.DOTALL)
_HOLD_SECONDS = 120.0
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Turn:
    """Where a conversation stands.

    Attributes:
        prompt: The last thing that the user (or the agent for its own purposes) asked.
        results: Tool results that came back since.
    """

    prompt: str
    results: int


@dataclass(frozen=True)
class Move:
    """What the model does next: call the shell, start a sub-agent, or else answer.

    Attributes:
        number: Number of the request, for ids that never repeat.
        command: Shell command to call.
        task: Task of a sub-agent to start.
        text: The answer.
        tokens: Input tokens to report.
    """

    number: int
    command: str = ""
    task: str = ""
    text: str = ANSWER
    tokens: int = 10


def next_move(turn: Turn, number: int) -> Move:
    """What the prompt's directives say to do after so many tool results."""
    found = _DIRECTIVE.findall(turn.prompt)
    tokens = next((int(value) for kind, value in found if kind == "tokens"), 10)
    calls = [(kind, value) for kind, value in found if kind in {"tool", "agent"}]
    if turn.results < len(calls):
        kind, value = calls[turn.results]
        if kind == "tool":
            return Move(number, command=value, tokens=tokens)
        return Move(number, task=value.replace("[[", "{{").replace("]]", "}}"), tokens=tokens)
    said = next((value for kind, value in found if kind == "say"), ANSWER)
    return Move(number, text=said, tokens=tokens)


def server_sent(events: list[dict[str, Any]]) -> str:
    """Events in their form on the wire, named by their ``type`` where they have one."""
    names = [f"event: {each['type']}\n" if "type" in each else "" for each in events]
    lines = [f"data: {json.dumps(each)}\n\n" for each in events]
    return "".join(name + line for name, line in zip(names, lines, strict=True))


class Wire(Protocol):
    """One provider's wire format.

    Attributes:
        path: How the path of a model request ends.
    """

    path: str

    def turn(self, body: dict[str, Any]) -> Turn:
        """Where the conversation in a request stands."""

    def stream(self, move: Move) -> str:
        """The answer as server-sent events."""

    def document(self, move: Move) -> dict[str, Any]:
        """The answer as one JSON document."""

    def other(self, path: str) -> dict[str, Any] | None:
        """The answer to another path, or None where the provider has no such path."""

    def injected(self, body: dict[str, Any]) -> list[str]:
        """Texts in a request that hooks put there."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: ScriptedModel) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay quiet about a client that was killed in the middle of an answer, and only that."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        """Answer a model request, or something the agent asks beside it."""
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        model = self.server.model
        path = self.path.partition("?")[0]
        if not path.endswith(model.wire.path):
            self._send_json(model.wire.other(path))
            return
        move = model.take(body)
        if move is None:
            message = "the test's request cap is reached"
            self._send_json({"error": {"type": "invalid_request_error", "message": message}}, 400)
        elif body.get("stream") or path.endswith(":streamGenerateContent"):
            self._send(200, "text/event-stream", model.wire.stream(move).encode())
        else:
            self._send_json(model.wire.document(move))

    def do_GET(self) -> None:
        """Nothing is offered but model requests."""
        self._send_json(self.server.model.wire.other(self.path.partition("?")[0]))

    def do_HEAD(self) -> None:
        """Say that somebody is here, which some clients ask first."""
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send_json(self, document: dict[str, Any] | None, status: int = 200) -> None:
        if document is None:
            document, status = (
                {"error": {"type": "not_found_error", "message": "nothing here"}},
                404,
            )
        self._send(status, "application/json", json.dumps(document).encode())

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Stay quiet: the test's output is not the place for an access log."""


class ScriptedModel:
    """A scripted model on a free loopback port, as a context manager.

    Args:
        wire: The wire format to speak.
        cap: Model requests that are answered; more are refused, so that an agent that runs in
            circles comes to an end.

    Attributes:
        wire: The wire format.
        url: Base URL, without a path.
        requests: Bodies of all model requests, in the order of their arrival.
        refused: Requests beyond the cap.
    """

    def __init__(self, wire: Wire, cap: int = 60) -> None:
        self.wire = wire
        self.requests: list[dict[str, Any]] = []
        self.refused = 0
        self._cap = cap
        self._changed = threading.Condition()
        self._held: tuple[re.Pattern[str], int] | None = None
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL_SECONDS,), daemon=True
        )
        self.url = f"http://127.0.0.1:{self._server.server_port}"

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

    def take(self, body: dict[str, Any]) -> Move | None:
        """Record a request and say what to do; None beyond the cap. Waits while it is held."""
        turn = self.wire.turn(body)
        with self._changed:
            if len(self.requests) >= self._cap:
                self.refused += 1
                return None
            self.requests.append(body)
            number = len(self.requests)
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._holds(turn), _HOLD_SECONDS)
        return next_move(turn, number)

    @contextmanager
    def held(self, pattern: str = "", results: int = 0) -> Iterator[Callable[[], None]]:
        """Leave matching requests unanswered, until what this yields is called, or the body ends.

        Args:
            pattern: Regular expression that the prompt of a held request contains.
            results: Tool results that came back since that prompt.
        """

        def release() -> None:
            with self._changed:
                self._held = None
                self._changed.notify_all()

        with self._changed:
            self._held = (re.compile(pattern), results)
        try:
            yield release
        finally:
            release()

    def wait_for(
        self, pattern: str, results: int = 0, seconds: float = 2 * PATIENCE
    ) -> dict[str, Any]:
        """The body of a request whose prompt matches and that holds so many tool results.

        Raises:
            AssertionError: None arrived in time.
        """
        deadline = time.monotonic() + seconds
        with self._changed:
            while True:
                for body in self.requests:
                    turn = self.wire.turn(body)
                    if re.search(pattern, turn.prompt) and turn.results == results:
                        return body
                left = deadline - time.monotonic()
                assert left > 0, f"no request for {pattern!r} with {results} results arrived"
                self._changed.wait(left)

    def prompts(self) -> list[str]:
        """What was asked in each request."""
        return [self.wire.turn(body).prompt for body in self.requests]

    def context_texts(self, index: int = -1) -> list[str]:
        """Texts that hooks put into a request, by default the last one."""
        return self.wire.injected(self.requests[index])

    def _holds(self, turn: Turn) -> bool:
        if self._held is None:
            return False
        pattern, results = self._held
        return pattern.search(turn.prompt) is not None and turn.results == results

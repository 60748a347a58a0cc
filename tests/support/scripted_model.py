"""A model that does what the prompt tells it, behind whichever wire format an agent speaks.

A prompt holds directives; the model carries them out in order, one per request, and then answers:

``{{tool: command}}``
    Call the agent's shell tool with this command.
``{{agent: task}}``
    Hand this task to a sub-agent; the task may hold directives in square brackets instead of
    braces, ``[[tool: command]]``.
``{{mcp: tool {...}}}``
    Call a tool of our MCP server with these arguments.
``{{say: text}}``
    The answer; without it the model says ``Done.``
``{{tokens: count}}``
    Report this many input tokens, which makes an agent compact its conversation.

What injected context says is never taken for a directive: a memory may quote an old prompt.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.support.http_server import Handler, HttpServer
from tests.support.waiting import PATIENCE

ANSWER = "Done."

_DIRECTIVE = re.compile(r"\{\{(tool|agent|mcp|say|tokens): *(.*?)\}\}(?!\})", re.DOTALL)
_HOLD_SECONDS = 120.0


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
    """What the model does next: call the shell or our server, start a sub-agent, or else answer.

    Attributes:
        number: Number of the request, for ids that never repeat.
        command: Shell command to call.
        task: Task of a sub-agent to start.
        tool: Tool of our MCP server to call.
        arguments: Its arguments.
        text: The answer.
        tokens: Input tokens to report.
    """

    number: int
    command: str = ""
    task: str = ""
    tool: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    text: str = ANSWER
    tokens: int = 10


def next_move(turn: Turn, number: int) -> Move:
    """What the prompt's directives say to do after so many tool results."""
    found = _DIRECTIVE.findall(turn.prompt)
    tokens = next((int(value) for kind, value in found if kind == "tokens"), 10)
    calls = [(kind, value) for kind, value in found if kind in {"tool", "agent", "mcp"}]
    if turn.results < len(calls):
        kind, value = calls[turn.results]
        if kind == "tool":
            return Move(number, command=value, tokens=tokens)
        if kind == "mcp":
            name, _, arguments = value.partition(" ")
            return Move(number, tool=name, arguments=json.loads(arguments or "{}"), tokens=tokens)
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


class _Handler(Handler["ScriptedModel"]):
    def post(self) -> None:
        """Answer a model request, or something the agent asks beside it."""
        body = self.document()
        model = self.owner
        path = self.path.partition("?")[0]
        if not path.endswith(model.wire.path):
            self._send_other(path)
            return
        move = model.take(body)
        if move is None:
            message = "the test's request cap is reached"
            self.send_json({"error": {"type": "invalid_request_error", "message": message}}, 400)
        elif body.get("stream") or path.endswith(":streamGenerateContent"):
            self.send(200, "text/event-stream", model.wire.stream(move).encode())
        else:
            self.send_json(model.wire.document(move))

    def get(self) -> None:
        """Nothing is offered but model requests."""
        self._send_other(self.path.partition("?")[0])

    def _send_other(self, path: str) -> None:
        document = self.owner.wire.other(path)
        if document is None:
            super().get()
        else:
            self.send_json(document)


class ScriptedModel(HttpServer):
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
        super().__init__(_Handler)
        self.url = self.root

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

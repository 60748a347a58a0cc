"""A scripted model behind the OpenAI chat completions format, always streamed, as pi asks for it.

A prompt holds directives; the model carries them out in order, one a request, then it answers:

``{{call: name {"argument": 1}}}``
    Call this tool of the agent.
``{{say: text}}``
    The answer; without it the model says ``Done.``
``{{hold: seconds}}``
    Keep the request open for so long before the answer begins.
``{{fail: status}}``
    Refuse the request with this status, once.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from typing import Any

from tests.support.http_server import Handler, HttpServer
from tests.support.waiting import PATIENCE

_DIRECTIVE = re.compile(r"\{\{(call|say|hold|fail): *(.*?)\}\}(?!\})", re.DOTALL)
_CAP = 40
"""Requests after which the model refuses, so that an agent that runs in circles comes to an end."""


def text_of(message: dict[str, Any]) -> str:
    """The text of a chat message, whichever of its two shapes it has."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content)
    return str(content or "")


class ChatEndpoint(HttpServer):
    """The model on a free loopback port, as a context manager.

    Attributes:
        url: Base URL, ending in ``/v1``.
        requests: Bodies of all requests in the order of arrival.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self._failed: set[str] = set()
        self._arrived = threading.Condition()
        super().__init__(_Handler)
        self.url = f"{self.root}/v1"

    def texts(self, index: int = -1) -> list[str]:
        """All texts of a request, by default of the last one."""
        return [text_of(message) for message in self.requests[index]["messages"]]

    def tools(self, index: int = -1) -> dict[str, dict[str, Any]]:
        """The tools that a request declares, by name."""
        declared = (tool["function"] for tool in self.requests[index].get("tools", []))
        return {function["name"]: function for function in declared}

    def wait_for(self, count: int, seconds: float = PATIENCE) -> None:
        """Wait until so many requests have arrived.

        Raises:
            AssertionError: They did not in time.
        """
        with self._arrived:
            came = self._arrived.wait_for(lambda: len(self.requests) >= count, seconds)
        assert came, f"{len(self.requests)} of {count} requests arrived"

    def take(self, body: dict[str, Any]) -> tuple[int, list[dict[str, Any]]]:
        """Record a request; returns the status, and the chunks of the answer."""
        with self._arrived:
            self.requests.append(body)
            number = len(self.requests)
            self._arrived.notify_all()
        prompt, results = _turn(body["messages"])
        # A request without tools is one for a summary, which quotes what was said before.
        directives = _DIRECTIVE.findall(prompt) if body.get("tools") else []
        for kind, value in directives:
            if kind == "fail" and prompt not in self._failed:
                self._failed.add(prompt)
                return int(value), []
            if kind == "hold" and not results:
                time.sleep(float(value))
        if number > _CAP:
            return 400, []
        calls = [value for kind, value in directives if kind == "call"]
        if results < len(calls):
            name, _, arguments = calls[results].partition(" ")
            return 200, _called(number, name, arguments or "{}")
        said = next((value for kind, value in directives if kind == "say"), "Done.")
        return 200, _said(said)


def _turn(messages: list[dict[str, Any]]) -> tuple[str, int]:
    """The last prompt with directives or else the last one, and how many results came since."""
    prompt, results = "", 0
    for message in messages:
        if message["role"] == "user" and (_DIRECTIVE.search(text_of(message)) or not prompt):
            prompt, results = text_of(message), 0
        elif message["role"] == "tool":
            results += 1
    return prompt, results


def _called(number: int, name: str, arguments: str) -> list[dict[str, Any]]:
    head = {"index": 0, "id": f"call_{number}", "type": "function"}
    return [
        {"role": "assistant", "content": None},
        {"tool_calls": [{**head, "function": {"name": name, "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]},
        {"finish": "tool_calls"},
    ]


def _said(text: str) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": ""}, {"content": text}, {"finish": "stop"}]


def _frames(model: str, deltas: list[dict[str, Any]]) -> Iterator[str]:
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model}
    for delta in deltas:
        finish = delta.pop("finish", None)
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        yield f"data: {json.dumps({**base, 'choices': [choice]})}\n\n"
    usage = {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105}
    yield f"data: {json.dumps({**base, 'choices': [], 'usage': usage})}\n\n"
    yield "data: [DONE]\n\n"


class _Handler(Handler[ChatEndpoint]):
    def post(self) -> None:
        """Answer a model request."""
        body = self.document()
        status, deltas = self.owner.take(body)
        if status == 200:
            self.send(200, "text/event-stream", "".join(_frames(body["model"], deltas)).encode())
        else:
            self.send_json({"error": {"message": "scripted"}}, status)

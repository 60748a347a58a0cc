"""``python -m tests.faults.memory_server PORT DATA``: a memory server that misbehaves on demand.

Behind it is the embedded server, which contract tests hold to what real cognee servers do: it
stores what they store, lists what they list, and its data file survives its process. In front of it
requests come in one connection at a time under our own control, so that an answer can be replaced,
held back or cut off before or after the entry was stored.

``POST /faults`` adds to what goes wrong next, ``DELETE /faults`` takes all of it back. The process
prints its API key when it listens, and ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections import defaultdict, deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cognee_hooks.embedded.app import create_app
from cognee_hooks.embedded.memory import Memory
from tests.support.fake_server import Connection, FakeServer, Request

PASSWORD = "default_password"
ENTRY = "/api/v1/remember/entry"
SESSION = "/api/v1/sessions/"
ROUTES = {ENTRY: "entry", "/api/v1/recall": "recall", "/health": "health"}

Answer = tuple[int, bytes]


class Misbehaving:
    """Answers requests with an application, except for those that a fault is meant for.

    A fault is an object with the members ``route`` (``entry``, ``session``, ``recall``, ``health``),
    ``after`` (whether the request is carried out), ``status`` (answered instead; 0 for a reset),
    ``seconds`` (waited before), and ``retry_after``.
    """

    def __init__(self, app: Any) -> None:
        self._app = app
        self._faults: dict[str, deque[Mapping[str, Any]]] = defaultdict(deque)

    async def __call__(self, connection: Connection, request: Request) -> None:
        if request.path == "/faults":
            await connection.answer(200, self._plan(request))
            return
        route = "session" if request.path.startswith(SESSION) else ROUTES.get(request.path, "")
        faults = self._faults[route]
        if not faults:
            status, content = await self._carried_out(request)
            await connection.answer(status, body=content)
            return
        fault = faults.popleft()
        answer = await self._carried_out(request) if fault["after"] else None
        await asyncio.sleep(fault["seconds"])
        await _misbehave(connection, fault, answer)

    def _plan(self, request: Request) -> dict[str, int]:
        if request.method == "DELETE":
            self._faults.clear()
        else:
            for fault in request.json:
                self._faults[fault["route"]].append(fault)
        return {route: len(faults) for route, faults in self._faults.items()}

    async def _carried_out(self, request: Request) -> Answer:
        """Pass a request on to the application."""
        sent: list[Mapping[str, Any]] = []
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "path": request.path,
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in request.headers.items()],
        }

        async def receive() -> Mapping[str, Any]:
            return {"type": "http.request", "body": request.body, "more_body": False}

        async def send(message: Mapping[str, Any]) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        return sent[0]["status"], b"".join(each.get("body", b"") for each in sent[1:])


async def _misbehave(
    connection: Connection, fault: Mapping[str, Any], answer: Answer | None
) -> None:
    if fault["status"]:
        headers = {"Retry-After": str(fault["retry_after"])} if fault["retry_after"] else {}
        document = {"detail": "as the test asked for"}
        await connection.answer(fault["status"], document, headers=headers)
    elif answer is not None and fault["seconds"]:
        await connection.answer(answer[0], body=answer[1])
    else:
        connection.reset()


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(0)


async def _serve(port: int, memory: Memory) -> None:
    async with FakeServer(port, reuse_port=True) as front:
        front.always(Misbehaving(create_app(memory)))
        keys = memory.accounts.keys() or [memory.accounts.create_key("tests")]
        print(json.dumps({"key": keys[0]["key"]}), flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    asyncio.run(_serve(int(sys.argv[1]), Memory(Path(sys.argv[2]), PASSWORD)))

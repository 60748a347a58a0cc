"""``python -m tests.faults.memory_server PORT BEHIND``: a memory server that misbehaves on demand.

Behind it is another server, given by its address, or the embedded one, given by its data file.
Contract tests hold that one to what real cognee servers do: it stores what they store, lists what
they list, and its data file survives its process. What is in front passes requests on, so an answer
can be replaced, held back or cut off before or after the entry was stored.

``POST /faults`` adds to what goes wrong next, ``DELETE /faults`` takes all of it back; both answer
how many requests there were of each kind. The process prints an API key of the embedded server when
it listens, and ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from cognee_hooks.embedded.app import create_app
from cognee_hooks.embedded.memory import EmbeddedMemory
from tests.support.fake_server import Connection, FakeServer, Request

PASSWORD = "default_password"
ENTRY = "/api/v1/remember/entry"
SESSION = "/api/v1/sessions/"
ROUTES = {ENTRY: "entry", "/api/v1/recall": "recall", "/health": "health"}

Answer = tuple[int, bytes]

_PASSED = ("x-api-key", "authorization", "content-type")


class Misbehaving:
    """Has requests carried out, except for those that a fault is meant for.

    A fault is an object with the members ``route`` (``entry``, ``session``, ``recall``,
    ``health``), ``after`` (whether the request is carried out), ``status`` (answered instead; 0 for
    a reset), ``seconds`` (waited before), and ``retry_after``.

    Args:
        carry_out: Carries out a request.
    """

    def __init__(self, carry_out: Callable[[Request], Awaitable[Answer]]) -> None:
        self._carry_out = carry_out
        self._faults: dict[str, deque[Mapping[str, Any]]] = defaultdict(deque)
        self._counts: Counter[str] = Counter()

    async def __call__(self, connection: Connection, request: Request) -> None:
        if request.path == "/faults":
            await connection.answer(200, self._plan(request))
            return
        route = "session" if request.path.startswith(SESSION) else ROUTES.get(request.path, "")
        self._counts[route] += 1
        faults = self._faults[route]
        if not faults:
            status, content = await self._carry_out(request)
            await connection.answer(status, body=content)
            return
        fault = faults.popleft()
        answer = await self._carry_out(request) if fault["after"] else None
        await asyncio.sleep(fault["seconds"])
        await _misbehave(connection, fault, answer)

    def _plan(self, request: Request) -> dict[str, int]:
        if request.method == "DELETE":
            self._faults.clear()
        else:
            for fault in request.json:
                self._faults[fault["route"]].append(fault)
        return dict(self._counts)


class Embedded:
    """The embedded server, without a socket of its own.

    Args:
        memory: What it keeps.
    """

    def __init__(self, memory: EmbeddedMemory) -> None:
        self._app: Any = create_app(memory)

    async def __call__(self, request: Request) -> Answer:
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


class Distant:
    """A server at an address.

    Args:
        url: Its base URL.
    """

    def __init__(self, url: str) -> None:
        import httpx  # only for this one, since the other one is started so often

        self._lost = httpx.HTTPError
        limits = httpx.Limits(max_keepalive_connections=0)
        self._client = httpx.AsyncClient(base_url=url, timeout=60, limits=limits)

    async def __call__(self, request: Request) -> Answer:
        headers = {name: request.headers[name] for name in _PASSED if name in request.headers}
        try:
            answer = await self._client.request(
                request.method, request.path, content=request.body, headers=headers
            )
        except self._lost:
            # What a proxy says when there is nobody behind it.
            return 502, b'{"detail": "nobody is there"}'
        return answer.status_code, answer.content


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


async def _serve(port: int, behind: str) -> None:
    if behind.startswith("http"):
        carry_out: Embedded | Distant = Distant(behind)
        key = ""
    else:
        memory = EmbeddedMemory(Path(behind), PASSWORD)
        carry_out = Embedded(memory)
        key = (memory.accounts.keys() or [memory.accounts.create_key("tests")])[0]["key"]
    async with FakeServer(port, reuse_port=True) as front:
        front.always(Misbehaving(carry_out))
        print(json.dumps({"key": key}), flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    asyncio.run(_serve(int(sys.argv[1]), sys.argv[2]))

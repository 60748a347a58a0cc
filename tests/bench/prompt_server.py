"""``python -m tests.bench.prompt_server``: a server that answers every request at once.

It prints its port. Bare sockets, one answer for each path, so that its own time is as good as none.
"""

from __future__ import annotations

import asyncio
import json

from tests.support.scripted import remembers

RECALL = b"/api/v1/recall"
_ANSWERS = {
    b"/health": {"status": "ready", "health": "healthy", "version": "1.6.5"},
    b"/api/v1/remember/entry": {"status": "session_stored", "entry_id": "e1"},
    b"/api/v1/auth/me": None,
}


class _Protocol(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._data = b""

    def data_received(self, data: bytes) -> None:
        self._data += data
        while (end := self._data.find(b"\r\n\r\n")) >= 0:
            head = self._data[:end].lower()
            _, _, length = head.partition(b"content-length:")
            size = end + 4 + int(length.split(b"\r\n")[0] or 0)
            if len(self._data) < size:
                return
            path = head.split(b" ")[1].partition(b"?")[0]
            content, self._data = self._data[end + 4 : size], self._data[size:]
            self._answer(path, content)

    def _answer(self, path: bytes, content: bytes) -> None:
        if path == RECALL:
            document = remembers("Billing listens on port 7431.")(json.loads(content))
        else:
            document = _ANSWERS.get(path, {})
        status = b"200 OK" if document is not None else b"401 Unauthorized"
        body = json.dumps(document).encode()
        self._transport.write(
            b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
            % (status, len(body), body)
        )


async def main() -> None:
    """Serve until the process ends."""
    server = await asyncio.get_running_loop().create_server(_Protocol, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())

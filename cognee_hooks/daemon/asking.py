"""Questions to a person at the other end of a line of JSON messages.

The daemon sends ``{"ask", "kind": "confirm" | "select", "title", "text" | "options", "seconds"}``,
answered by ``{"reply", "value"}``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cognee_hooks.deadline import Deadline
from cognee_hooks.printable import clean


class Asking:
    """Asks the person at the other end.

    Args:
        send: Sends a message; tells whether it may arrive.
    """

    def __init__(self, send: Callable[[Mapping[str, Any]], bool]) -> None:
        self._send = send
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._asked = 0

    async def confirm(self, title: str, text: str, deadline: Deadline) -> bool:
        """Ask a yes-or-no question."""
        question = {"kind": "confirm", "title": clean(title), "text": clean(text)}
        return await self._ask(question, deadline) is True

    async def select(self, title: str, options: Sequence[str], deadline: Deadline) -> str | None:
        """Let the person choose."""
        shown = [clean(each) for each in options]
        question = {"kind": "select", "title": clean(title), "options": shown}
        chosen = await self._ask(question, deadline)
        return options[shown.index(chosen)] if chosen in shown else None

    def settle(self, ask: int, value: Any) -> None:
        """Take an answer; one that nobody waits for is passed over."""
        future = self._waiting.pop(ask, None)
        if future is not None and not future.done():
            future.set_result(value)

    def close(self) -> None:
        """Answer whatever is open with silence."""
        for ask in list(self._waiting):
            self.settle(ask, None)

    async def _ask(self, question: Mapping[str, Any], deadline: Deadline) -> Any:
        self._asked += 1
        ask = self._asked
        future = asyncio.get_running_loop().create_future()
        self._waiting[ask] = future
        try:
            seconds = deadline.remaining()
            if not self._send({"ask": ask, **question, "seconds": round(seconds, 1)}):
                return None
            async with asyncio.timeout(seconds):
                return await future
        except TimeoutError:
            return None
        finally:
            self._waiting.pop(ask, None)

"""A server client that sends nothing and notes down exactly what would have been sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cognee_hooks.services.client import CogneeClient
from cognee_hooks.services.wire import ServerAnswer

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.services.keys import Key
    from cognee_hooks.services.wire import ServerCall

_ANSWERS: Mapping[str, Any] = {
    "/health": {"status": "ready", "health": "healthy", "version": "dry run"},
    "/api/v1/recall": [],
    "/api/v1/remember/entry": {"status": "session_stored", "entry_id": "dry-run"},
}


@dataclass(frozen=True, slots=True)
class Unsent:
    """One request that was not made.

    Attributes:
        method: HTTP method.
        path: Path below the server's address.
        body: What it carries.
    """

    method: str
    path: str
    body: Mapping[str, Any] = field(default_factory=dict)


class _NoKeys:
    async def key(self, deadline: Deadline) -> Key | None:  # noqa: ARG002 - the protocol's
        """Return no key, since nobody is asked."""
        return None

    async def rejected(self, key: Key) -> None:
        """Do nothing: nothing is sent, so nothing is refused."""


class DryRunClient(CogneeClient):
    """Answers like a healthy, empty server.

    Attributes:
        unsent: The requests, in order.
    """

    def __init__(self) -> None:
        super().__init__("http://dry-run.invalid", _NoKeys())
        self.unsent: list[Unsent] = []

    async def _ask(self, call: ServerCall, deadline: Deadline) -> ServerAnswer:
        return await self._exchange(call, deadline)

    async def _exchange(
        self,
        call: ServerCall,
        deadline: Deadline,  # noqa: ARG002 - nothing waits
        key: Key | None = None,  # noqa: ARG002 - nothing is sent
    ) -> ServerAnswer:
        self.unsent.append(Unsent(call.method, call.path, _body(call)))
        return ServerAnswer(200, {}, _ANSWERS.get(call.path, {}))


def _body(call: ServerCall) -> Mapping[str, Any]:
    """Return what a request carries; a file stands as its name and its text."""
    if call.parts is None:
        return call.json if isinstance(call.json, Mapping) else {"": call.json} if call.json else {}
    return {
        part.name: {part.filename: part.content.decode(errors="replace")}
        if part.filename
        else part.content.decode(errors="replace")
        for part in call.parts
    }

"""A server that is a script: it answers what a test says, and nothing is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from cognee_hooks.deadline import Deadline
from cognee_hooks.dryrun import DryRunClient
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.failures import Body
from cognee_hooks.services.keys import Key
from cognee_hooks.services.wire import ServerAnswer, ServerCall

RECALL = "/api/v1/recall"
ENTRY = "/api/v1/remember/entry"

_FRAME = (
    "The question is: `{query}`\nAnswer using this sectioned context. Keep the answer brief and do "
    "not use information outside the context.\n\nContext:\n`## Relevant passages\n{passages}`"
)

Script = Callable[[dict[str, Any]], Any]
"""Gets a request's body and returns the document that is answered, or raises."""


class ScriptedClient(DryRunClient):
    """Answers by path.

    Attributes:
        scripts: What is answered on a path; other paths answer as a healthy, empty server.
        delays: Seconds before an answer, by path.
        single: What the server says about access control being off.
    """

    def __init__(self) -> None:
        super().__init__()
        self.scripts: dict[str, Script] = {}
        self.delays: dict[str, float] = {}
        self.single = False

    async def single_user(self, deadline: Deadline) -> bool:  # noqa: ARG002 - the route's
        """Answer what `single` says."""
        return self.single

    async def _exchange(
        self, call: ServerCall, deadline: Deadline, key: Key | None = None
    ) -> ServerAnswer:
        answer = await super()._exchange(call, deadline, key)
        if call.path in self.delays:
            try:
                async with asyncio.timeout(deadline.remaining()):
                    await asyncio.sleep(self.delays[call.path])
            except TimeoutError:
                raise ServerFailure(FailureKind.TIMED_OUT) from None
        script = self.scripts.get(call.path) or self.scripts.get(call.path.partition("?")[0])
        if script is None:
            return answer
        document = script(dict(self.unsent[-1].body))
        if isinstance(document, bytes):
            return ServerAnswer(200, {}, Body.NOT_JSON, document)
        return ServerAnswer(200, {}, document)

    def bodies(self, path: str) -> list[dict[str, Any]]:
        """What was sent to a path, with or without what stands behind its question mark."""
        return [
            dict(each.body)
            for each in self.unsent
            if path in {each.path, each.path.partition("?")[0]}
        ]

    @property
    def queries(self) -> list[str]:
        """Queries of all recalls."""
        return [body["query"] for body in self.bodies(RECALL)]

    @property
    def entries(self) -> list[dict[str, Any]]:
        """Entries that were stored."""
        return [body["entry"] for body in self.bodies(ENTRY)]


def remembers(*passages: str, **item: Any) -> Script:
    """Answer with passages inside the frame that a cognee server puts around them."""

    def answer(body: dict[str, Any]) -> list[dict[str, Any]]:
        text = _FRAME.format(query=body["query"], passages="\n---\n".join(passages))
        return [{"source": "graph", "search_type": "HYBRID_COMPLETION", "text": text, **item}]

    return answer


def fails(kind: FailureKind, **fields: Any) -> Script:
    """Fail."""

    def answer(_: dict[str, Any]) -> Any:
        raise ServerFailure(kind, "why", **fields)

    return answer

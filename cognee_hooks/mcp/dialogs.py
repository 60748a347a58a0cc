"""Asks the person through an MCP client, by what the protocol calls elicitation.

The form has one field, and accepting it is not enough: some clients accept forms by a key that is
pressed without reading, so the field says no until the person changes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from cognee_hooks.deadline import Deadline

_FIELD = "answer"


class ClientDialogs:
    """Shows questions as forms of the client; whatever is no clear answer is no.

    Args:
        context: The call on whose behalf is asked.
    """

    def __init__(self, context: ServerRequestContext[Any]) -> None:
        self._context = context

    @classmethod
    def of(cls, context: ServerRequestContext[Any]) -> ClientDialogs | None:
        """Return the dialogs of the client that made a call; None where it shows no forms."""
        capabilities = context.session.client_capabilities
        can = capabilities.elicitation if capabilities is not None else None
        # A client that names no mode knows forms, which came first.
        if can is None or (can.form is None and can.url is not None):
            return None
        return cls(context)

    async def confirm(self, title: str, text: str, deadline: Deadline) -> bool:
        """Ask a yes-or-no question."""
        field = {"type": "boolean", "title": title, "default": False}
        return await self._answer(f"{title}\n{text}", field, deadline) is True

    async def select(self, title: str, options: Sequence[str], deadline: Deadline) -> str | None:
        """Let the person choose."""
        answer = await self._answer(title, {"type": "string", "enum": [*options]}, deadline)
        return answer if isinstance(answer, str) and answer in options else None

    async def _answer(self, message: str, field: dict[str, Any], deadline: Deadline) -> object:
        schema = {"type": "object", "properties": {_FIELD: field}, "required": [_FIELD]}
        session = self._context.session
        try:
            async with asyncio.timeout(deadline.remaining()):
                given: types.ElicitResult = await session.elicit_form(
                    message, schema, self._context.request_id
                )
        except (MCPError, TimeoutError, ValueError):  # the last: an answer of another shape
            return None
        return (given.content or {}).get(_FIELD) if given.action == "accept" else None

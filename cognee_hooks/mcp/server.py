"""An MCP server on standard input and output, by the official Python SDK."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

import cognee_hooks
from cognee_hooks.caller import Caller
from cognee_hooks.errors import CallFailed
from cognee_hooks.mcp.dialogs import ClientDialogs
from cognee_hooks.mcp.proxy import Proxy
from cognee_hooks.printable import clean
from cognee_hooks.reach import Whereabouts

NAME = "cognee"
INSTRUCTIONS = (
    "Lasting memory across sessions, kept by a cognee server: remember preferences, decisions and "
    "conventions; recall and search what earlier sessions stored; forget; sync the session into "
    "memory; look code up in the code graph (who calls what, what a change may break)."
)
"""Agents that load tools only when they look for them show this instead."""
READS = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
"""Of tools that only look things up; Codex asks before it uses any other one in its sandbox."""


async def serve(where: Whereabouts) -> None:
    """Serve the client until it closes standard input or tells us to end.

    Standard output carries the protocol only: the SDK turns the descriptor over to standard error
    for everybody else.

    Args:
        where: What is known about the session of the agent behind the client.
    """
    proxy = Proxy(where)
    proxy.start_daemon()
    loop = asyncio.get_running_loop()
    ending: set[asyncio.Task[None]] = set()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, lambda: ending.add(asyncio.create_task(_end(proxy))))
    server = make_server(proxy)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
    await proxy.left()
    await proxy.close()


def make_server(proxy: Proxy) -> Server[Any]:
    """Return the server for a proxy."""

    async def list_tools(
        _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        try:
            offer = await proxy.offer()
        except CallFailed:
            return types.ListToolsResult(tools=[])  # without tools the agent works on
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=str(each["name"]),
                    description=clean(str(each.get("description", ""))),
                    input_schema={"type": "object", **dict(each.get("parameters") or {})},
                    annotations=READS if each.get("read_only") is True else None,
                )
                for each in offer.tools
            ]
        )

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        shown = _CallProgress(context)
        meta = dict(params.meta or {})
        caller = Caller(dialogs=ClientDialogs.of(context), progress=shown.show)
        answer = await proxy.call(params.name, params.arguments or {}, meta, caller)
        content: list[types.ContentBlock] = [types.TextContent(type="text", text=answer.text)]
        return types.CallToolResult(content=content, is_error=answer.failed)

    return Server(
        NAME,
        version=cognee_hooks.__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


class _CallProgress:
    """Tells the client how far a call is, where it asked for that."""

    def __init__(self, context: ServerRequestContext[Any]) -> None:
        self._context = context
        self._count = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()

    def show(self, text: str) -> None:
        """Tell it, from whatever thread."""
        self._loop.call_soon_threadsafe(self._tell, text)

    def _tell(self, text: str) -> None:
        # The steps are counted, since nobody knows how many there will be.
        self._count += 1
        work = self._context.session.report_progress(self._count, message=text)
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _end(proxy: Proxy) -> None:
    await proxy.left()
    # The SDK reads standard input on a thread that only the client could wake.
    os._exit(0)

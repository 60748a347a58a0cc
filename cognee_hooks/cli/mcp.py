"""``cognee-hooks mcp``: the model's tools for agents that speak MCP."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from cognee_hooks.errors import CogneeHooksError
from cognee_hooks.reach import Whereabouts
from cognee_hooks.reach.reaching import parent_process
from cognee_hooks.services.process import current_environ


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--agent", default="", help="the agent that starts this (default: any)")


def run(options: argparse.Namespace) -> int:
    """Serve an MCP client until it ends.

    Raises:
        CogneeHooksError: The MCP SDK is not installed.
    """
    try:
        from cognee_hooks.mcp.server import serve
    except ImportError as error:
        raise CogneeHooksError(
            "this needs the MCP SDK, which is not installed "
            f"(missing: {error.name}). Install it with: pip install 'cognee-hooks[mcp]'"
        ) from error
    where = Whereabouts(
        environ=current_environ(), cwd=str(Path.cwd()), pid=parent_process(), agent=options.agent
    )
    asyncio.run(serve(where))
    return 0

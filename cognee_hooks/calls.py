"""Calls of the tools and commands that plugins registered, alike for everybody who makes them.

Agents on a channel, the command line, MCP clients and programs that embed a host all come through
here, so that a call ends in time, says what went wrong in words that may be shown, and never shows
what the redactor would not let out.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from cognee_hooks.core_commands import commands_of, offered
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import CallFailed, RedactionFailed, UsageError
from cognee_hooks.guard import attempt, attempt_await
from cognee_hooks.printable import clean
from cognee_hooks.redaction import cut
from cognee_hooks.results import WARNING_SIGN, Command, Failure

if TYPE_CHECKING:
    from cognee_hooks.host import Host

MAX_ANSWER_BYTES = 256 * 1024
"""UTF-8 bytes of an answer that are passed on."""
WITHHELD = (
    "The answer could not be made safe to show, so it is withheld. What was asked for is done; see "
    "`cognee-hooks doctor` for why redaction is closed."
)

_LOG = logging.getLogger(__name__)


async def use_tool(host: Host, name: str, arguments: Mapping[str, Any], deadline: Deadline) -> str:
    """Have a tool do its work.

    Args:
        host: The session.
        name: The tool's registered name.
        arguments: As its schema says; the tool itself checks them.
        deadline: When to give it up.

    Returns:
        What it says, safe to show; a `Failure` where it says that it failed.

    Raises:
        CallFailed: There is no such tool, it did not end in time, or it broke.
    """
    tool = host.registered.tools.get(name)
    if tool is None:
        raise CallFailed(f"There is no tool {clean(name)} in this session.")
    return await _called(host, name, lambda: tool.run(arguments), deadline)


async def run_command(host: Host, name: str, text: str, deadline: Deadline) -> str:
    """Run a command.

    Args:
        host: The session.
        name: Its registered name, or the one under which agents offer it.
        text: What the person wrote behind it.
        deadline: When to give it up.

    Returns:
        As `use_tool`.

    Raises:
        CallFailed: As `use_tool`.
    """
    command = find_command(host, name)
    if command is None:
        raise CallFailed(f"There is no command {clean(name)} in this session.")
    return await _called(host, name, lambda: command.run(text), deadline)


def find_command(host: Host, name: str) -> Command | None:
    """Return a command by its registered name, or the one under which agents offer it."""
    commands = commands_of(host)
    return commands.get(name) or commands.get(offered(name))


def tools_of(host: Host) -> list[dict[str, Any]]:
    """Return the session's tools as JSON: name, description, parameters, and what only reads."""
    rows: list[dict[str, Any]] = [
        {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
            **({"read_only": True} if tool.read_only else {}),
        }
        for tool in host.registered.tools.values()
    ]
    # A schema that a plugin built from objects of its own must not cost the other tools.
    return [each for each in rows if attempt(json.dumps, each).error is None]


async def _called(
    host: Host, name: str, work: Callable[[], Awaitable[str]], deadline: Deadline
) -> str:
    name = clean(name)
    allowed = deadline.remaining()
    try:
        async with asyncio.timeout(allowed):
            done = await attempt_await(_begun(work))
    except TimeoutError as error:
        # What is left of a deadline is never a round number.
        spent = f"{round(allowed, 1):g} s"
        raise CallFailed(f"{name} took more than {spent} and was given up.") from error
    if isinstance(done.error, UsageError):
        raise CallFailed(await _shown(host, str(done.error)))
    if not isinstance(done.result, str):
        # An exception's own text may hold what must not be shown.
        fault = type(done.result if done.error is None else done.error).__name__
        _LOG.warning("%s failed: %s", name, fault)
        raise CallFailed(f"{name} failed ({fault}); see `cognee-hooks doctor`.")
    text = await _shown(host, done.result)
    failed = isinstance(done.result, Failure) or text.startswith(WARNING_SIGN)
    return Failure(text) if failed else text


async def _begun(work: Callable[[], Awaitable[str]]) -> str:
    # Called in here, so that what a plugin raises before it returns an awaitable is caught too.
    return await work()


async def _shown(host: Host, text: str) -> str:
    """Return an answer as it may leave the session: redacted, cleaned, and of a sane length."""
    try:
        redacted = await host.redact(cut(text, MAX_ANSWER_BYTES))
    except RedactionFailed:
        return WITHHELD
    return clean(redacted.value)

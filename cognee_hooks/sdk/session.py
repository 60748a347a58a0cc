"""The life of a host inside somebody's program, and calls into it that cannot hurt a run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from cognee_hooks.calls import use_tool
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import CallFailed
from cognee_hooks.events import SessionEnd, SessionStart
from cognee_hooks.faults import innermost
from cognee_hooks.guard import Attempt, attempt, attempt_await
from cognee_hooks.host import Host
from cognee_hooks.results import Failure

T = TypeVar("T")

CALL_SECONDS = 60.0
"""Longest that a tool of the model's may take."""
CLOSE_SECONDS = 9.0
"""Longest that the end of a session may take: the budget of ``cognee_session_end``."""
EVENT_SECONDS = 1.0
"""Longest that a run waits for an event to be taken, far beyond the budgets of the hooks."""
PROMPT_MARGIN_SECONDS = 0.5
"""What the recall of a prompt may take beyond its own budget."""

_LOG = logging.getLogger(__name__)


@asynccontextmanager
async def running(host: Host, *, close_seconds: float = CLOSE_SECONDS) -> AsyncIterator[Host]:
    """Start a host, and end its session when the block is left, in whatever way.

    What was captured is sent before the block is left, as far as the time allows. What could not
    be sent is logged as a warning.

    Args:
        host: A host that was not started yet. It serves one conversation.
        close_seconds: Longest that leaving the block may take.

    Yields:
        The same host.
    """
    session = host.session
    common: dict[str, Any] = {
        "session_id": session.session_id,
        "agent": session.agent,
        "cwd": session.cwd,
    }
    await host.start()
    await host.session_start(SessionStart(**common))
    try:
        yield host
    finally:
        deadline = Deadline.after(close_seconds)
        try:
            await host.session_end(SessionEnd(**common), deadline)
        finally:
            lost = await host.close(deadline)
            tell(host)
            if lost:
                _LOG.warning(
                    "Cognee memory: %d captured entries could not be sent and are gone; see "
                    "`cognee-hooks doctor`.",
                    lost,
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTool:
    """A tool for the model, as a callable: ``await tool(query="…")``.

    Attributes:
        name: Its name.
        description: When to use it, for the model.
        parameters: JSON schema of its arguments.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    _host: Host
    _seconds: float

    async def __call__(self, **arguments: Any) -> str:
        """Do it; see `call`."""
        return await self.call(arguments)

    async def call(self, arguments: Mapping[str, Any]) -> str:
        """Do it.

        Args:
            arguments: As the schema says.

        Returns:
            Text for the model. What goes wrong is told there, too, as a `Failure`; nothing is
            raised.
        """
        try:
            limit = Deadline.after(self._seconds)
            return await use_tool(self._host, self.name, arguments, limit)
        except CallFailed as error:
            return Failure(str(error))


def tools(host: Host, *, seconds: float = CALL_SECONDS) -> list[MemoryTool]:
    """Return the tools that the plugins of a host registered for the model.

    Args:
        host: A started host.
        seconds: Longest that a call may take.
    """
    return [
        MemoryTool(
            name=tool.name,
            description=tool.description,
            parameters=tool.parameters,
            _host=host,
            _seconds=seconds,
        )
        for tool in host.registered.tools.values()
    ]


async def contained(
    host: Host, owner: str, where: str, work: Callable[[], Awaitable[T]], deadline: Deadline
) -> T | None:
    """Do work for a run that neither its faults nor its slowness may reach.

    A fault is counted under the owner's name like that of a plugin, and as with a plugin, five in
    a row switch the owner off there.

    Args:
        host: The host that counts them.
        owner: Name of the adapter.
        where: What it was called for.
        work: Makes the awaitable; called here, so that its own faults are contained, too.
        deadline: When the run goes on without it.

    Returns:
        What the work returned; None where it failed.
    """
    if host.faults.is_quarantined(owner, where):
        return None

    async def bounded() -> T:
        async with asyncio.timeout(deadline.remaining()):
            return await work()

    return _result(host, owner, where, await attempt_await(bounded()))


def contained_call(host: Host, owner: str, where: str, work: Callable[[], T]) -> T | None:
    """Do the same for work that needs no waiting.

    Args:
        host: The host that counts them.
        owner: Name of the adapter.
        where: What it was called for.
        work: Called at once.

    Returns:
        What the work returned; None where it failed.
    """
    if host.faults.is_quarantined(owner, where):
        return None
    return _result(host, owner, where, attempt(work))


def tell(host: Host) -> None:
    """Log what the host has to say to a person, where the SDK has no place to show it."""
    for notice in host.notices.take():
        _LOG.warning("%s", notice.text)


def missing(package: str, extra: str, error: ImportError) -> ImportError:
    """Return the error that says how to install an SDK.

    Args:
        package: Name of the package for people.
        extra: The extra of this project that brings it.
        error: What importing it raised.
    """
    return ImportError(
        f"This module needs the {package}, which is not installed (missing: {error.name}). "
        f"Install it with: pip install 'cognee-hooks[{extra}]'",
        name=error.name,
    )


def _result(host: Host, owner: str, where: str, done: Attempt) -> T | None:
    if done.error is None:
        host.faults.success(owner, where)
        result: T = done.result
        return result
    place = innermost(done.error.__traceback__)
    host.faults.record(owner, where, type(done.error).__name__, place)
    return None

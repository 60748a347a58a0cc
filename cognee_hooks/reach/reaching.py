"""Finds out which session is meant, and opens the way to it."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from cognee_hooks.caller import Caller
from cognee_hooks.daemon.protocol import Opening
from cognee_hooks.daemon.thin_client import VERSION, identify
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import CallFailed, UsageError
from cognee_hooks.reach.live import open_line
from cognee_hooks.reach.session import About, Answer, Call, Offer
from cognee_hooks.services.paths import Paths

SHUT_OFF = (
    "This shell may not open connections, as in a sandbox, so memory cannot be reached from it. "
    "Run the command outside of the sandbox, or give the agent its tools by an MCP server: "
    "`cognee-hooks install codex --mcp`."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """What is known about the session that is meant.

    Attributes:
        environ: The caller's environment.
        cwd: The caller's working directory.
        pid: The process that started the caller.
        agent: Name of the session's agent; "" for any.
        session: Its id, or the beginning of one; "" to find it.
        plugins: Values of ``-p``; with any, it is a session of one's own.
    """

    environ: Mapping[str, str]
    cwd: str
    pid: int
    agent: str = ""
    session: str = ""
    plugins: Sequence[str] = ()

    def opening(self, kind: str) -> Opening:
        """Return how a request to the daemon opens."""
        return Opening(
            version=VERSION,
            kind=kind,
            ident=identify(),
            agent=self.agent,
            event=self.session,
            pid=self.pid,
            cwd=self.cwd,
            environ=self.environ,
        )


class Reached(Protocol):
    """A session that can be called.

    Attributes:
        about: Which one it is.
        offer: What can be called in it.
    """

    about: About
    offer: Offer

    async def call(self, call: Call, caller: Caller, deadline: Deadline) -> Answer:
        """Have the session do something; cancelling the task gives it up.

        Args:
            call: What to do.
            caller: Who wants it.
            deadline: When to give up.

        Raises:
            CallFailed: It came to nothing; the message says why.
        """
        ...

    async def close(self) -> None:
        """Leave the session."""
        ...


async def reach(where: Whereabouts, deadline: Deadline) -> Reached:
    """Reach the live session that is meant, or make one.

    Args:
        where: What is known about it.
        deadline: When to give up.

    Raises:
        UsageError: The session that was named does not live, or several may be meant.
        CallFailed: None can be made, or none can be reached from here.
    """
    _require_sockets()
    if not where.plugins:
        folder = Paths.of(where.environ, "daemon").daemon_dir
        line = await open_line(folder, where.opening("attach"), deadline)
        if line is not None:
            return line
    if where.session:
        raise UsageError(
            f"there is no live session {where.session!r}: no daemon serves one; see `cognee-hooks "
            "daemon status`"
        )
    # What a host needs takes long to import, and is of no use where a session lives.
    from cognee_hooks.reach.own import make_own

    return await make_own(where.environ, where.agent, where.cwd, where.plugins, deadline)


def _require_sockets() -> None:
    """Say so at once where a sandbox forbids what event loop, daemon and server are reached by."""
    here, there = socket.socketpair()
    with here, there:
        try:
            here.send(b".")
        except PermissionError as error:
            raise CallFailed(SHUT_OFF) from error


def parent_process() -> int:
    """Return the process that started this one."""
    return os.getppid()

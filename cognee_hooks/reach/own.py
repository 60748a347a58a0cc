"""A session of one's own, where no agent is in one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from cognee_hooks.agents import BUILT_IN, DEFAULT_AGENT, max_context_bytes_of
from cognee_hooks.caller import Caller, called_by
from cognee_hooks.calls import run_command, tools_of, use_tool
from cognee_hooks.core_commands import commands_of
from cognee_hooks.daemon.finding import conversation_of
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import CallFailed
from cognee_hooks.guard import attempt_apart
from cognee_hooks.host import Host
from cognee_hooks.printable import clean
from cognee_hooks.reach.session import About, Answer, Call, Offer
from cognee_hooks.results import Failure

CLOSE_SECONDS = 2.0
PROBE_SECONDS = 3.0
"""How long a call waits to learn how the server is."""


class OwnSession:
    """A host of one's own. It has the id of the agent's conversation where the agent tells it.

    Args:
        host: A host that is not started yet.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._started = False
        self.about = About(
            agent=host.session.agent,
            session_id=host.session.session_id,
            dataset=host.session.dataset,
            live=False,
        )
        self.offer = Offer(
            tools=list(tools_of(host)),
            commands={name: clean(each.help) for name, each in commands_of(host).items()},
        )

    async def call(self, call: Call, caller: Caller, deadline: Deadline) -> Answer:
        """Do something here; see `Reached.call`."""
        host = self._host
        if not self._started:
            self._started = True
            await host.start()
        await host.services.health.wait_ready(deadline.within(PROBE_SECONDS))
        with called_by(caller):
            if call.text is None:
                text = await use_tool(host, call.name, call.arguments, deadline)
            else:
                text = await run_command(host, call.name, call.text, deadline)
        return Answer(text=text, failed=isinstance(text, Failure))

    async def close(self) -> None:
        """Finish what is under way, for a moment."""
        if self._started:
            await self._host.close(Deadline.after(CLOSE_SECONDS))


async def make_own(
    environ: Mapping[str, str], agent: str, cwd: str, plugins: Sequence[str], deadline: Deadline
) -> OwnSession:
    """Make a session of one's own.

    Args:
        environ: Configures it.
        agent: Name of the agent; "" for the one that the environment speaks of.
        cwd: Working directory.
        plugins: Plugins to load beside the installed ones, or to leave out, as ``-p`` has them.
        deadline: When to give up on plugins that hang while they are imported.

    Raises:
        CallFailed: No host can be made.
    """
    name, session_id = whose(environ, agent)
    try:
        async with asyncio.timeout(deadline.remaining()):
            done = await attempt_apart(
                "own session",
                lambda: Host(
                    name,
                    environ=environ,
                    session_id=session_id,
                    cwd=cwd,
                    arguments={"plugins": list(plugins)} if plugins else None,
                    max_context_bytes=max_context_bytes_of(name),
                ),
            )
    except TimeoutError as error:
        raise CallFailed(
            "plugins took too long to load; see `cognee-hooks plugins --all`"
        ) from error
    if done.error is not None:
        fault = type(done.error).__name__
        raise CallFailed(f"no session could be made ({fault}); see `cognee-hooks doctor`")
    return OwnSession(done.result)


def whose(environ: Mapping[str, str], agent: str) -> tuple[str, str]:
    """Return the agent that runs this process, and our id of its conversation, or ""."""
    for adapter in BUILT_IN.values():
        if agent in {"", adapter.name} and (found := conversation_of(adapter, environ)):
            return adapter.name, found
    return agent or DEFAULT_AGENT, ""

"""Passes tool calls of an MCP client on to the session of the agent that is behind the client.

The session is looked for anew with each call: an agent starts its MCP servers before its session,
may serve many conversations with one of them, and the daemon may be replaced meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

from cognee_hooks.agents import BUILT_IN
from cognee_hooks.caller import Caller
from cognee_hooks.daemon import control, thin_client
from cognee_hooks.daemon.finding import conversation_of
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import CallFailed, UsageError
from cognee_hooks.reach import Answer, Call, Offer, Whereabouts
from cognee_hooks.reach.live import open_line
from cognee_hooks.reach.own import OwnSession, make_own
from cognee_hooks.redaction import cut
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.process import spawn_detached

CALL_SECONDS = 50.0
"""Longest that a call may take; some clients give up after a minute."""
LIST_SECONDS = 15.0
LEFT_SECONDS = 0.3
"""A client that ends us leaves hardly more."""
MAX_ANSWER_BYTES = 32_000
"""Clients warn of, or cut, what is much longer."""


class Proxy:
    """Serves one MCP client.

    Args:
        where: What is known about the session of the agent behind the client.
    """

    def __init__(self, where: Whereabouts) -> None:
        self._where = where
        self._folder = Paths.of(where.environ, "daemon").daemon_dir
        self._own: OwnSession | None = None
        self._making = asyncio.Lock()
        self._served: set[str] = set(_conversations(where.environ))

    async def offer(self) -> Offer:
        """Return what can be called: in the live session, or as long as there is none, at all.

        Raises:
            CallFailed: Not even that can be found out.
        """
        limit = Deadline.after(LIST_SECONDS)
        try:
            line = await open_line(self._folder, self._where.opening("attach"), limit)
        except UsageError:
            line = None  # which of several it is makes no difference to what they offer
        if line is None:
            return (await self._own_session(limit)).offer
        await line.close()
        return line.offer

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        meta: Mapping[str, Any],
        caller: Caller,
    ) -> Answer:
        """Call a tool.

        Args:
            name: Its registered name.
            arguments: Its arguments.
            meta: What the client says about the call; some agents name their conversation there.
            caller: Asks the person behind the client, and shows how far it is.

        Returns:
            The answer; what goes wrong is one, too.
        """
        limit = Deadline.after(CALL_SECONDS)
        call = Call(name=name, arguments=arguments)
        try:
            answer = await self._called(call, caller, self._of(meta), limit)
        except (CallFailed, UsageError) as error:
            answer = Answer(text=str(error), failed=True)
        return replace(answer, text=cut(answer.text, MAX_ANSWER_BYTES))

    def start_daemon(self) -> None:
        """Have a daemon started, if none runs or is being started."""
        try:
            with closing(thin_client.connect(os.fsencode(self._folder))):
                return
        except OSError:
            pass
        if not control.runs(self._folder) and not thin_client.is_starting(
            os.fsencode(self._folder)
        ):
            environ = self._where.environ
            clean = {name: environ[name] for name in environ if not name.startswith("PYTHON")}
            spawn_detached([sys.executable, "-P", "-m", "cognee_hooks.daemon"], env=clean)

    async def left(self) -> None:
        """Tell the daemon that the client told us to end."""
        try:
            async with asyncio.timeout(LEFT_SECONDS):
                connection = thin_client.connect(os.fsencode(self._folder))
                connection.setblocking(False)
                reader, writer = await asyncio.open_connection(sock=connection)
                message = {"do": "left", "conversations": sorted(self._served)}
                writer.write(self._where.opening("control").wire() + json.dumps(message).encode())
                await writer.drain()
                await reader.read(1)
                writer.close()
        except (OSError, TimeoutError):
            pass  # no daemon, no session to end

    async def close(self) -> None:
        """Close the session of our own."""
        if self._own is not None:
            await self._own.close()

    # -- inside ----------------------------------------------------------------------------------

    async def _called(
        self, call: Call, caller: Caller, where: Whereabouts, limit: Deadline
    ) -> Answer:
        self._served.update(_conversations(where.environ))
        line = await open_line(self._folder, where.opening("attach"), limit)
        if line is None:
            # For the next events of the agent, and the calls behind them.
            self.start_daemon()
            return await (await self._own_session(limit)).call(call, caller, limit)
        try:
            return await line.call(call, caller, limit)
        finally:
            await line.close()

    async def _own_session(self, limit: Deadline) -> OwnSession:
        async with self._making:
            if self._own is None:
                where = self._where
                self._own = await make_own(
                    where.environ, where.agent, where.cwd, where.plugins, limit
                )
            return self._own

    def _of(self, meta: Mapping[str, Any]) -> Whereabouts:
        """Add to what is known what an agent says with one call."""
        told = {
            variable: value
            for variable, name in (
                ("CODEX_SESSION_ID", "sessionId"),
                ("CODEX_THREAD_ID", "threadId"),
            )
            if isinstance(value := meta.get(name), str)
        }
        return (
            replace(self._where, environ={**self._where.environ, **told}) if told else self._where
        )


def _conversations(environ: Mapping[str, str]) -> list[str]:
    found = (conversation_of(agent, environ) for agent in BUILT_IN.values())
    return [each for each in found if each]

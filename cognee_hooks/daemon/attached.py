"""The daemon's side of a line to somebody who calls tools and commands from outside of a session.

After the opening, lines of JSON go both ways. The daemon begins with ``{"hello": {"version",
"session": {"agent", "session_id", "dataset", "cwd", "found"}, "tools": [{"name", "description",
"parameters"}], "commands": [{"name", "help"}]}}``; ``session`` is null where none lives that may be
meant, and nothing follows. Where one was named that does not live, or several may be meant, it
says ``{"refused": "..."}``, as it does where the session is not made in time.

* The caller sends ``{"id", "tool", "arguments": {...}, "seconds", "asks"}`` or ``{"id", "command",
  "arguments": "...", "seconds", "asks"}``, answered by ``{"id", "text", "failed"}``; ``asks`` says
  whether it can ask the person. ``{"cancel": id}`` ends a call, which is then not answered.
* The daemon sends ``{"id", "progress": "..."}`` when it likes, and asks as
  `cognee_hooks.daemon.asking` describes.

The line ends with the caller, and its calls with it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from cognee_hooks.caller import Caller, called_by
from cognee_hooks.calls import run_command, tools_of, use_tool
from cognee_hooks.core_commands import commands_of
from cognee_hooks.daemon.asking import Asking
from cognee_hooks.daemon.finding import Wanted
from cognee_hooks.daemon.lines import LineWriter, Nonsense, lines_of, parsed
from cognee_hooks.daemon.protocol import Opening
from cognee_hooks.daemon.thin_client import VERSION
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import CallFailed, UsageError
from cognee_hooks.guard import attempt_await
from cognee_hooks.payload import MAX_BYTES
from cognee_hooks.printable import clean
from cognee_hooks.results import Failure
from cognee_hooks.services.process_table import ancestors

if TYPE_CHECKING:
    from cognee_hooks.daemon.live_session import LiveSession
    from cognee_hooks.daemon.sessions import LiveSessions
    from cognee_hooks.host import Host

LONGEST_SECONDS = 3600.0
"""Longest that a caller may wait for one call."""
READY_SECONDS = 10.0
"""Longest that the greeting waits for a session that is just being made."""
MAX_CALLS = 16
"""Calls under way on one line; more are refused."""

NOT_READY = "The session is still starting; try again in a moment, or see `cognee-hooks doctor`."

_LOG = logging.getLogger(__name__)


class Attached:
    """One caller's line.

    Args:
        sessions: The daemon's sessions.
        opening: How the caller opened it.
        reader: What the caller sends.
        writer: To the caller; closed by whoever made it.
    """

    def __init__(
        self,
        sessions: LiveSessions,
        opening: Opening,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._sessions = sessions
        self._opening = opening
        self._reader = reader
        self._send = LineWriter(writer).send
        self._asking = Asking(self._send)
        self._calls: dict[int, asyncio.Task[None]] = {}
        self._loop = asyncio.get_running_loop()

    async def serve(self) -> None:
        """Serve the caller until it is gone."""
        try:
            if (found := await self._found()) is None:
                return
            async for line in lines_of(self._reader, MAX_BYTES):
                self._take(found, parsed(line))
        except Nonsense as error:
            _LOG.warning("a caller's line was closed: %s", error)
        except OSError:
            pass  # the caller was killed
        finally:
            self._asking.close()
            for task in list(self._calls.values()):
                task.cancel()

    # -- the session -----------------------------------------------------------------------------

    async def _found(self) -> LiveSession | None:
        """Find the session and greet; None where the caller has to do without."""
        opening = self._opening
        wanted = Wanted(
            agent=opening.agent,
            session=opening.event,
            environ=opening.environ,
            cwd=opening.cwd,
            ancestors=await asyncio.to_thread(ancestors, opening.pid),
        )
        # An event of the session may wait in the spool, and be the only one that it had.
        await self._sessions.take_up_spool()
        try:
            found = self._sessions.find(wanted)
        except UsageError as error:
            self._send({"refused": str(error)})
            return None
        session, how = found or (None, "")
        host = None
        try:
            if session is not None:
                async with asyncio.timeout(READY_SECONDS):
                    host = await session.ready()
        except TimeoutError:
            self._send({"refused": NOT_READY})
            return None
        self._send({"hello": _hello(session, host, how)})
        return session if host is not None else None

    # -- calls -----------------------------------------------------------------------------------

    def _take(self, session: LiveSession, message: Mapping[str, Any]) -> None:
        match message:
            case {"reply": int(ask)}:
                self._asking.settle(ask, message.get("value"))
            case {"cancel": int(number)}:
                if number in self._calls:
                    self._calls[number].cancel()
            case {"id": int(number), "tool": str(name), "arguments": dict(arguments)}:
                work = partial(use_tool, name=name, arguments=arguments)
                self._begin(number, self._answer(session, work, message))
            case {"id": int(number), "command": str(name), "arguments": str(text)}:
                work = partial(run_command, name=name, text=text)
                self._begin(number, self._answer(session, work, message))
            case _:
                raise Nonsense("a line is no message")

    def _begin(self, number: int, work: Coroutine[Any, Any, None]) -> None:
        if number in self._calls or len(self._calls) >= MAX_CALLS:
            work.close()
            text = "Too much at once; try again in a moment."
            self._send({"id": number, "text": text, "failed": True})
            return
        task = self._calls[number] = asyncio.create_task(work)
        task.add_done_callback(lambda _: self._calls.pop(number, None))

    async def _answer(
        self,
        session: LiveSession,
        work: partial[Coroutine[Any, Any, str]],
        message: Mapping[str, Any],
    ) -> None:
        number = message["id"]
        caller = Caller(
            dialogs=self._asking if message.get("asks") is True else None,
            progress=lambda text: self._progress(number, text),
        )
        limit = Deadline.after(_seconds(message.get("seconds")))
        self._sessions.used(session)
        with called_by(caller):
            done = await attempt_await(self._called(session, work, limit))
        if isinstance(done.error, CallFailed):
            answer = {"text": str(done.error), "failed": True}
        elif isinstance(done.result, str):
            answer = {"text": done.result, "failed": isinstance(done.result, Failure)}
        else:
            _LOG.error("a call failed: %s", type(done.error).__name__)
            answer = {"text": "The call failed; see `cognee-hooks daemon logs`.", "failed": True}
        self._send({"id": number, **answer})

    async def _called(
        self, session: LiveSession, work: partial[Coroutine[Any, Any, str]], limit: Deadline
    ) -> str:
        host = await session.ready()
        if host is None:
            raise CallFailed("This session has no memory; see `cognee-hooks daemon logs`.")
        return await work(host, deadline=limit)

    def _progress(self, number: int, text: str) -> None:
        # Plugins may tell it from threads of their own.
        message = {"id": number, "progress": clean(text)}
        self._loop.call_soon_threadsafe(self._send, message)


def _hello(session: LiveSession | None, host: Host | None, how: str) -> dict[str, Any]:
    about = None
    if session is not None and host is not None:
        about = {
            "agent": session.agent.name,
            "session_id": session.own_id,
            "dataset": host.session.dataset,
            "cwd": session.cwd,
            "found": how,
        }
    commands = {} if host is None else commands_of(host)
    return {
        "version": VERSION,
        "session": about,
        "tools": [] if host is None else tools_of(host),
        "commands": [
            {"name": name, "help": clean(command.help)} for name, command in commands.items()
        ],
    }


def _seconds(value: Any) -> float:
    """Return how long a call may take; a nonsensical wish counts as none."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    return min(float(value), LONGEST_SECONDS) if known and value > 0 else LONGEST_SECONDS

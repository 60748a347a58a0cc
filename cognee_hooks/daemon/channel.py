"""The daemon's side of a channel: the line to an agent that lives long and is more than hooks.

After the opening, lines of JSON go both ways. The daemon greets with ``{"hello": {"version",
"tools": [{"name", "description", "parameters"}], "commands": [{"name", "help"}], "status"}}``.

* The agent sends ``{"id", "event", "payload"}``, answered by ``{"id", "answer": {...}}``, and
  ``{"id", "tool", "arguments": {...}}`` or ``{"id", "command", "arguments": "..."}``, answered by
  ``{"id", "text", "level": "info" | "warning"}`` or ``{"id", "error"}``. ``{"cancel": id}`` gives
  such a call up, which is then not answered.
* The daemon sends ``{"notice": {"text", "level", "screen"?}}`` and ``{"status": "..."}`` when it
  likes; what is for the ``screen`` is of no use to an agent without one. It asks the person with
  ``{"ask", "kind": "confirm" | "select", "title", "text" | "options", "seconds"}``, answered by
  ``{"reply", "value"}``.

The peer is a process of the same user and may still be anything: a line that is too long or no
message ends the channel, and a peer that does not read or sends too much is held back or left.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from cognee_hooks.calls import run_command, tools_of, use_tool
from cognee_hooks.core_commands import commands_of
from cognee_hooks.daemon.asking import Asking
from cognee_hooks.daemon.connection import ConnectionNews
from cognee_hooks.daemon.lines import LineWriter, Nonsense, lines_of, parsed
from cognee_hooks.daemon.protocol import NotInCharge
from cognee_hooks.daemon.thin_client import VERSION
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import CallFailed
from cognee_hooks.faults import NoticeLevel
from cognee_hooks.guard import attempt, attempt_await
from cognee_hooks.payload import MAX_BYTES
from cognee_hooks.printable import clean
from cognee_hooks.results import WARNING_SIGN, Failure

if TYPE_CHECKING:
    from cognee_hooks.events import ServerStateChanged
    from cognee_hooks.faults import Notice
    from cognee_hooks.host import Host

TOOL_SECONDS = 60.0
"""Longest that a tool may take, the person's answers included; the model waits."""
COMMAND_SECONDS = 3660.0
"""Longest that a command may take: a person may have said how long to wait for an indexing."""
GREET_SECONDS = 10.0
"""Longest that the greeting waits for the session's plugins; without them it offers nothing."""
BROKEN = "The session does not answer; see `cognee-hooks doctor`."
MAX_EVENTS = 64
"""Events under way; more are not read before one of them is done."""
MAX_CALLS = 16
"""Tools and commands under way; more are refused."""
ENDING_SECONDS = 10.0
"""Longest that events of an agent that is gone are waited for."""
SETTLE_SECONDS = 0.3
"""How long after an event, or a change of the server's state, plugins may have something to say."""
WAITING_SECONDS = 2.0
"""How often the status line is looked at while captured entries wait for the server."""

_LOG = logging.getLogger(__name__)


class ChannelSession(Protocol):
    """What a channel needs of a session."""

    async def ready(self) -> Host | None:
        """Return the host, once it is made; None where it cannot be."""
        ...


class Link(Protocol):
    """Connects a channel with the session that it belongs to."""

    @property
    def session(self) -> ChannelSession:
        """The session; another one after it has ended and goes on."""
        ...

    async def handle(self, event: str, payload: Mapping[str, Any]) -> str:
        """Take an event and return the agent's answer, one document or "".

        Calls begin in the order of the events. What is to be kept in that order has to be kept
        before the first wait.

        Raises:
            NotInCharge: Another daemon has to take it.
        """
        ...

    async def ended(self) -> None:
        """The agent is gone."""
        ...


class Channel:
    """One agent's channel.

    Args:
        reader: What the agent sends, after the opening.
        writer: To the agent; closed by whoever made it.
        link: The way to the session.
        tool_seconds: Longest that a tool may take.
        max_line: Longest line, in bytes.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        link: Link,
        *,
        tool_seconds: float = TOOL_SECONDS,
        max_line: int = MAX_BYTES,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._link = link
        self._tool_seconds = tool_seconds
        self._max_line = max_line
        self._lines = LineWriter(writer, max_line)
        self._send = self._lines.send
        self._dialogs = Asking(self._send)
        self._slots = asyncio.Semaphore(MAX_EVENTS)
        self._events: set[asyncio.Task[None]] = set()
        self._calls: dict[int, asyncio.Task[None]] = {}
        self._news = ConnectionNews()
        self._known: Host | None = None
        self._status = ""
        self._look: asyncio.TimerHandle | None = None
        self._looks: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        """Talk with the agent until it is gone; only being cancelled ends this early."""
        try:
            await self._greet()
            await self._listen()
            # The agent is gone, what it sent before is not.
            if self._events:
                await asyncio.wait(self._events, timeout=ENDING_SECONDS)
        except Nonsense as error:
            _LOG.warning("a channel was closed: %s", error)
        finally:
            self._close()
        await attempt_await(self._link.ended())

    # -- what the agent sends --------------------------------------------------------------------

    async def _listen(self) -> None:
        try:
            async for line in lines_of(self._reader, self._max_line):
                await self._take(parsed(line))
        except OSError:
            pass  # the agent was killed

    async def _take(self, message: Mapping[str, Any]) -> None:
        match message:
            case {"reply": int(ask)}:
                self._dialogs.settle(ask, message.get("value"))
            case {"cancel": int(number)}:
                if number in self._calls:
                    self._calls[number].cancel()
            case {"id": int(number), "event": str(event), "payload": dict(payload)}:
                await self._slots.acquire()
                self._spawn(self._events, self._event(number, event, payload))
            case {"id": int(number), "tool": str(name), "arguments": dict(arguments)}:
                self._call(number, partial(self._use_tool, name, arguments))
            case {"id": int(number), "command": str(name), "arguments": str(text)}:
                self._call(number, partial(self._run_command, name, text))
            case _:
                raise Nonsense("a line is no message")

    async def _event(self, number: int, event: str, payload: Mapping[str, Any]) -> None:
        try:
            # The event may end the session; asking for it later would begin another one.
            session = self._link.session
            done = await attempt_await(self._link.handle(event, payload))
        finally:
            self._slots.release()
        if isinstance(done.error, NotInCharge):
            self._writer.close()  # what is not answered the agent hands over again
            return
        if done.error is not None:
            _LOG.error("%s failed: %s", event, type(done.error).__name__)
        self._send({"id": number, "answer": _document(done.result)})
        await self._adopt(session)
        await self._show()
        self._look_again()

    # -- tools and commands ----------------------------------------------------------------------

    def _call(self, number: int, work: Callable[[], Awaitable[str]]) -> None:
        if len(self._calls) < MAX_CALLS and number not in self._calls:
            self._calls[number] = task = asyncio.create_task(self._answer(number, work))
            task.add_done_callback(lambda _: self._calls.pop(number))
        else:
            self._send({"id": number, "error": "Too much at once; try again in a moment."})

    async def _answer(self, number: int, work: Callable[[], Awaitable[str]]) -> None:
        done = await attempt_await(work())
        if isinstance(done.result, str):
            text = done.result
            warns = isinstance(text, Failure) or text.startswith(WARNING_SIGN)
            level = NoticeLevel.WARNING if warns else NoticeLevel.INFO
            self._send({"id": number, "text": text, "level": level.value})
        else:
            known = isinstance(done.error, CallFailed)
            self._send({"id": number, "error": str(done.error) if known else BROKEN})
        await attempt_await(self._show())

    async def _use_tool(self, name: str, arguments: Mapping[str, Any]) -> str:
        host = await self._host()
        if host is None:
            raise CallFailed(f"There is no tool {clean(name)} in this session.")
        return await use_tool(host, name, arguments, Deadline.after(self._tool_seconds))

    async def _run_command(self, name: str, text: str) -> str:
        host = await self._host()
        if host is None:
            raise CallFailed(f"There is no command {clean(name)} in this session.")
        return await run_command(host, name, text, Deadline.after(COMMAND_SECONDS))

    # -- what the agent gets ---------------------------------------------------------------------

    async def _greet(self) -> None:
        host = None
        with suppress(TimeoutError):
            async with asyncio.timeout(GREET_SECONDS):
                host = (await attempt_await(self._host())).result
        hello: dict[str, Any] = {"version": VERSION, "tools": [], "commands": [], "status": ""}
        if host is not None:
            self._status = hello["status"] = await host.status_line()
            hello["tools"] = tools_of(host)
            hello["commands"] = [
                {"name": name, "help": clean(command.help)}
                for name, command in commands_of(host).items()
            ]
        self._send({"hello": hello})

    async def _host(self) -> Host | None:
        return await self._adopt(self._link.session)

    async def _adopt(self, session: ChannelSession) -> Host | None:
        host = await session.ready()
        if host is not None and host is not self._known:
            self._leave()
            host.dialogs = self._dialogs
            host.services.health.subscribe(self._server_changed)
            self._known = host
        return host

    def _leave(self) -> None:
        """Hear no longer of a host that is not the session's any more."""
        if self._known is not None:
            self._known.services.health.unsubscribe(self._server_changed)

    def _server_changed(self, event: ServerStateChanged) -> None:  # noqa: ARG002 - subscriber
        self._look_again()

    def _look_again(self, seconds: float = SETTLE_SECONDS) -> None:
        """Show, in a moment, what plugins say about what has just happened."""
        loop = asyncio.get_running_loop()
        if self._look is not None and self._look.when() > loop.time() + seconds:
            self._look.cancel()
            self._look = None
        if self._look is None and not self._writer.is_closing():
            self._look = loop.call_later(seconds, self._look_now)

    def _look_now(self) -> None:
        self._look = None
        self._spawn(self._looks, self._show())

    async def _show(self) -> None:
        """Send notices that wait, and the status line if it changed."""
        host = self._known
        if host is None:
            return
        if news := self._news.take(host):
            self._tell(news, screen=True)
        for notice in host.notices.take():
            self._tell(notice)
        status = await host.status_line()
        if status != self._status:
            self._status = status
            self._send({"status": status})
        if host.waiting:
            # What is sent behind all events shows too.
            self._look_again(WAITING_SECONDS)

    def _tell(self, notice: Notice, *, screen: bool = False) -> None:
        shown = {"text": clean(notice.text), "level": notice.level.value}
        self._send({"notice": {**shown, "screen": True} if screen else shown})

    # -- life ------------------------------------------------------------------------------------

    def _spawn(self, tasks: set[asyncio.Task[None]], work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.create_task(_quietly(work))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    def _close(self) -> None:
        self._dialogs.close()
        self._leave()
        if self._look is not None:
            self._look.cancel()
        for task in (*self._events, *self._calls.values(), *self._looks):
            task.cancel()
        self._writer.close()


async def _quietly(work: Awaitable[Any]) -> None:
    await attempt_await(work)


def _document(answer: Any) -> dict[str, Any]:
    """Return an adapter's answer as an object; what is none answers nothing."""
    loaded = attempt(partial(json.loads, answer or "{}")).result
    return loaded if isinstance(loaded, dict) else {}

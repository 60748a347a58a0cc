"""The daemon's side of a channel: the line to an agent that lives long and is more than hooks.

After the opening, lines of JSON go both ways. The daemon greets with ``{"hello": {"version",
"tools": [{"name", "description", "parameters"}], "commands": [{"name", "help"}], "status"}}``.

* The agent sends ``{"id", "event", "payload"}``, answered by ``{"id", "answer": {...}}``, and
  ``{"id", "tool", "arguments": {...}}`` or ``{"id", "command", "arguments": "..."}``, answered by
  ``{"id", "text", "level": "info" | "warning"}`` or ``{"id", "error"}``. ``{"cancel": id}`` gives
  such a call up, which is then not answered.
* The daemon sends ``{"notice": {"text", "level", "screen"}}`` and ``{"status": "..."}`` when it
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
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from cognee_hooks.core_commands import commands_of
from cognee_hooks.daemon.connection import ConnectionNews
from cognee_hooks.daemon.thin_client import VERSION
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import UsageError
from cognee_hooks.faults import NoticeLevel
from cognee_hooks.guard import attempt, attempt_await
from cognee_hooks.injection import clean
from cognee_hooks.payload import MAX_BYTES
from cognee_hooks.results import WARNING_SIGN

if TYPE_CHECKING:
    from cognee_hooks.events import ServerStateChanged
    from cognee_hooks.faults import Notice
    from cognee_hooks.host import Host

CALL_SECONDS = 60.0
"""Longest that a tool or a command may take, the person's answers included."""
GREET_SECONDS = 10.0
"""Longest that the greeting waits for the session's plugins; without them it offers nothing."""
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

_CHUNK = 256 * 1024
_LOG = logging.getLogger(__name__)


class Live(Protocol):
    """What a channel needs of a session."""

    async def ready(self) -> Host | None:
        """Return the host, once it is made; None where it cannot be."""
        ...


class Link(Protocol):
    """Connects a channel with the session that it belongs to."""

    @property
    def session(self) -> Live:
        """The session; another one after it has ended and goes on."""
        ...

    async def handle(self, event: str, payload: Mapping[str, Any]) -> str:
        """Take an event and return the agent's answer, one document or "".

        Calls begin in the order of the events. What is to be kept in that order has to be kept
        before the first wait.
        """
        ...

    async def ended(self) -> None:
        """The agent is gone."""
        ...


class Nonsense(Exception):
    """The peer does not keep to the protocol; the message names how, never what it sent."""


class Channel:
    """One agent's channel.

    Args:
        reader: What the agent sends, after the opening.
        writer: To the agent; closed by whoever made it.
        link: The way to the session.
        call_seconds: Longest that a tool or a command may take.
        max_line: Longest line, in bytes.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        link: Link,
        *,
        call_seconds: float = CALL_SECONDS,
        max_line: int = MAX_BYTES,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._link = link
        self._call_seconds = call_seconds
        self._max_line = max_line
        self._dialogs = _Asking(self._send)
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
            async for line in _lines(self._reader, self._max_line):
                await self._take(_parsed(line))
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
                self._call(number, name, self._use_tool(name, arguments))
            case {"id": int(number), "command": str(name), "arguments": str(text)}:
                self._call(number, name, self._run_command(name, text))
            case _:
                raise Nonsense("a line is no message")

    async def _event(self, number: int, event: str, payload: Mapping[str, Any]) -> None:
        try:
            # The event may end the session; asking for it later would begin another one.
            session = self._link.session
            done = await attempt_await(self._link.handle(event, payload))
        finally:
            self._slots.release()
        if done.error is not None:
            _LOG.error("%s failed: %s", event, type(done.error).__name__)
        self._send({"id": number, "answer": _document(done.result)})
        await self._adopt(session)
        await self._show()
        self._look_again()

    # -- tools and commands ----------------------------------------------------------------------

    def _call(self, number: int, name: str, work: Coroutine[Any, Any, str]) -> None:
        if len(self._calls) < MAX_CALLS and number not in self._calls:
            task = self._calls[number] = asyncio.create_task(
                _quietly(self._answer(number, name, work))
            )
            task.add_done_callback(lambda _: self._calls.pop(number))
        else:
            work.close()
            self._send({"id": number, "error": "Too much at once; try again in a moment."})

    async def _answer(self, number: int, name: str, work: Awaitable[str]) -> None:
        name = clean(name)
        try:
            async with asyncio.timeout(self._call_seconds):
                done = await attempt_await(work)
        except TimeoutError:
            error = f"{name} took more than {self._call_seconds:g} s and was given up."
            self._send({"id": number, "error": error})
            return
        if isinstance(done.error, UsageError):
            self._send({"id": number, "error": clean(str(done.error))})
        elif isinstance(done.result, str):
            text = clean(done.result)
            warns = text.startswith(WARNING_SIGN)
            level = NoticeLevel.WARNING if warns else NoticeLevel.INFO
            self._send({"id": number, "text": text, "level": level.value})
        else:
            # An exception's own text may hold what must not be shown.
            fault = type(done.result if done.error is None else done.error).__name__
            _LOG.warning("%s failed: %s", name, fault)
            error = f"{name} failed ({fault}); see `cognee-hooks doctor`."
            self._send({"id": number, "error": error})
        await self._show()

    async def _use_tool(self, name: str, arguments: Mapping[str, Any]) -> str:
        host = await self._host()
        tool = host.registered.tools.get(name) if host is not None else None
        if tool is None:
            raise UsageError(f"There is no tool {name} in this session.")
        return await tool.run(arguments)

    async def _run_command(self, name: str, text: str) -> str:
        host = await self._host()
        command = commands_of(host).get(name) if host is not None else None
        if command is None:
            raise UsageError(f"There is no command {name} in this session.")
        return await command.run(text)

    # -- what the agent gets ---------------------------------------------------------------------

    async def _greet(self) -> None:
        host = None
        with suppress(TimeoutError):
            async with asyncio.timeout(GREET_SECONDS):
                host = (await attempt_await(self._host())).result
        hello: dict[str, Any] = {"version": VERSION, "tools": [], "commands": [], "status": ""}
        if host is not None:
            self._status = hello["status"] = await host.status_line()
            tools = [
                {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
                for tool in host.registered.tools.values()
            ]
            # A schema that a plugin built from objects of its own must not cost the other tools.
            hello["tools"] = [each for each in tools if attempt(json.dumps, each).error is None]
            hello["commands"] = [
                {"name": name, "help": clean(command.help)}
                for name, command in commands_of(host).items()
            ]
        self._send({"hello": hello})

    async def _host(self) -> Host | None:
        return await self._adopt(self._link.session)

    async def _adopt(self, session: Live) -> Host | None:
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
        shown = {"text": clean(notice.text), "level": notice.level.value, "screen": screen}
        self._send({"notice": shown})

    def _send(self, message: Mapping[str, Any]) -> bool:
        """Send a message; tells whether the agent may still get it."""
        if self._writer.is_closing():
            return False
        if self._writer.transport.get_write_buffer_size() > self._max_line:
            _LOG.warning("a channel was closed: the agent does not read")
            self._writer.transport.abort()
            return False
        line = json.dumps(message)
        if len(line) > self._max_line:
            line = json.dumps({"id": message.get("id"), "error": "The answer is too long."})
        self._writer.write(line.encode() + b"\n")
        return True

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


class _Asking:
    """Asks the person through the agent.

    Args:
        send: Sends a message; tells whether it may arrive.
    """

    def __init__(self, send: Callable[[Mapping[str, Any]], bool]) -> None:
        self._send = send
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._asked = 0

    async def confirm(self, title: str, text: str, deadline: Deadline) -> bool:
        """Ask a yes-or-no question."""
        question = {"kind": "confirm", "title": clean(title), "text": clean(text)}
        return await self._ask(question, deadline) is True

    async def select(self, title: str, options: Sequence[str], deadline: Deadline) -> str | None:
        """Let the person choose."""
        shown = [clean(each) for each in options]
        question = {"kind": "select", "title": clean(title), "options": shown}
        chosen = await self._ask(question, deadline)
        return options[shown.index(chosen)] if chosen in shown else None

    def settle(self, ask: int, value: Any) -> None:
        """Take an answer; one that nobody waits for is passed over."""
        future = self._waiting.pop(ask, None)
        if future is not None and not future.done():
            future.set_result(value)

    def close(self) -> None:
        """Answer whatever is open with silence."""
        for ask in list(self._waiting):
            self.settle(ask, None)

    async def _ask(self, question: Mapping[str, Any], deadline: Deadline) -> Any:
        self._asked += 1
        ask = self._asked
        future = asyncio.get_running_loop().create_future()
        self._waiting[ask] = future
        try:
            seconds = deadline.remaining()
            if not self._send({"ask": ask, **question, "seconds": round(seconds, 1)}):
                return None
            async with asyncio.timeout(seconds):
                return await future
        except TimeoutError:
            return None
        finally:
            self._waiting.pop(ask, None)


async def _quietly(work: Awaitable[Any]) -> None:
    await attempt_await(work)


async def _lines(reader: asyncio.StreamReader, limit: int) -> AsyncIterator[bytes]:
    """Yield lines, without their ends; an unfinished one at the end is dropped.

    Raises:
        Nonsense: A line is longer than the limit.
    """
    held = bytearray()
    while chunk := await reader.read(_CHUNK):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            held += part
            _check(held, limit)
            yield bytes(held)
            held.clear()
        held += rest
        _check(held, limit)


def _check(line: bytearray, limit: int) -> None:
    if len(line) > limit:
        raise Nonsense("a line is too long")


def _parsed(line: bytes) -> Mapping[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Nonsense("a line is no JSON") from error
    if not isinstance(message, dict):
        raise Nonsense("a line is no JSON object")
    return message


def _document(answer: Any) -> dict[str, Any]:
    """Return an adapter's answer as an object; what is none answers nothing."""
    loaded = attempt(partial(json.loads, answer or "{}")).result
    return loaded if isinstance(loaded, dict) else {}

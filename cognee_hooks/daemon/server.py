"""The daemon's socket: one connection a request."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cognee_hooks.agents import shows_colour
from cognee_hooks.daemon.attached import Attached
from cognee_hooks.daemon.channel import Channel
from cognee_hooks.daemon.live_session import Incoming, LiveSession, empty_answer
from cognee_hooks.daemon.protocol import (
    HANDOVER,
    REFUSED,
    BadRequest,
    NotInCharge,
    Opening,
    answer,
    is_newer,
    read_opening,
    taken,
)
from cognee_hooks.daemon.sessions import LiveSessions, origin_of
from cognee_hooks.daemon.thin_client import STATUS, VERSION, peer_user
from cognee_hooks.payload import MAX_BYTES, first_object
from cognee_hooks.results import NESTED, Origin
from cognee_hooks.services.process_table import first_program

if TYPE_CHECKING:
    from cognee_hooks.results import Agent

OPENING_SECONDS = 2.0
"""Longest that a peer may take to open its request."""
IDLE_SECONDS = 2.5
"""How long a payload may stand still; the client itself gives up a little earlier."""
DEFAULT_COLUMNS = 120
MOST_SERVED = 50
"""Conversations that one helper of an agent may say it was called for."""

_CHUNK = 1024 * 1024
_MAX_DIGITS = 4
_LOG = logging.getLogger(__name__)

Control = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Answers a control request."""


class Server:
    """Serves the daemon's socket.

    Args:
        sessions: The sessions.
        control: Answers control requests.
        hand_over: Called when a newer version calls.
        busy: Called with each request.
    """

    def __init__(
        self,
        sessions: LiveSessions,
        *,
        control: Control,
        hand_over: Callable[[], None],
        busy: Callable[[], None],
    ) -> None:
        self._sessions = sessions
        self._control = control
        self._hand_over = hand_over
        self._busy = busy
        self._server: asyncio.Server | None = None
        self._requests: set[asyncio.Task[None]] = set()
        self._channels: set[asyncio.Task[None]] = set()

    async def listen(self, bound: socket.socket) -> None:
        """Serve a socket that is bound already."""
        self._server = await asyncio.start_unix_server(self._connected, sock=bound, limit=_CHUNK)

    async def stop(self, seconds: float) -> None:
        """Take no more requests, and finish those that are under way."""
        if self._server is not None:
            self._server.close()
        for task in self._channels:
            task.cancel()
        if waiting := self._requests - {asyncio.current_task()}:
            await asyncio.wait(waiting, timeout=seconds)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._requests.add(task)
            task.add_done_callback(self._requests.discard)
        self._busy()
        try:
            if _is_ours(writer):
                async with asyncio.timeout(OPENING_SECONDS):
                    opening = await read_opening(reader)
                await self._serve(opening, reader, writer)
        except (BadRequest, TimeoutError) as error:
            _LOG.warning("a request was refused: %s", str(error) or "it took too long")
            writer.write(REFUSED)
        except NotInCharge:
            pass  # without an answer the client looks for the next daemon
        except OSError:
            pass  # the client is gone; what was taken is worked on
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _serve(
        self, opening: Opening, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if opening.kind == "control":
            await self._serve_control(opening, reader, writer)
            return
        if opening.kind == "attach":
            await self._serve_attached(opening, reader, writer)
            return
        opening = _by_program(opening)
        if is_newer(opening.version, VERSION):
            writer.write(HANDOVER)
            self._hand_over()
        elif opening.environ.get(NESTED):
            writer.write(REFUSED)
        elif (agent := await self._sessions.agent_of(opening)) is None:
            raise BadRequest(f"no agent is called {opening.agent[:40]!r}")
        elif opening.kind == "channel":
            await self._serve_channel(agent, opening, reader, writer)
        else:
            await self._serve_hook(agent, opening, reader, writer)

    # -- one event -------------------------------------------------------------------------------

    async def _serve_hook(
        self,
        agent: Agent,
        opening: Opening,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        document, payload = await _read_document(reader)
        if document is None:
            raise BadRequest("there is no JSON object in it")
        origin = origin_of(agent, document)
        if opening.event == STATUS:
            line = await self._status_line(agent, opening, origin)
            writer.write(taken(0) + answer(line))
            return
        await self._sessions.take_up_spool()
        incoming = Incoming.of(agent, opening, document)
        over = (
            incoming is not None and incoming.ends_session and self._sessions.is_over(agent, origin)
        )
        if incoming is None or over or not self._sessions.keep(opening, payload):
            writer.write(taken(0) + answer(empty_answer(agent, opening.event)))
            return
        session = self._sessions.session_of(agent, opening, origin)
        if incoming.waits:
            # The client may now rely on it; the answer takes a while.
            writer.write(taken(session.patience_ms(incoming)))
            writer.write(answer(await self._sessions.handle(session, incoming)))
        else:
            writer.write(taken(0) + answer(await self._sessions.handle(session, incoming)))

    async def _status_line(self, agent: Agent, opening: Opening, origin: Origin) -> str:
        """Return the session's status line, from what is known already; "" while it begins."""
        if self._sessions.is_over(agent, origin):
            return ""  # a last look at a conversation must not begin it again
        environ = opening.environ
        wanted = not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
        session = self._sessions.session_of(agent, opening, origin)
        return await session.status_line(_columns(environ), colour=wanted and shows_colour(agent))

    # -- a long-lived agent ----------------------------------------------------------------------

    async def _serve_channel(
        self,
        agent: Agent,
        opening: Opening,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._lasts()
        link = _Link(self._sessions, agent, opening, self._busy)
        await Channel(reader, writer, link).serve()

    async def _serve_attached(
        self, opening: Opening, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._lasts()
        await Attached(self._sessions, opening, reader, writer).serve()

    def _lasts(self) -> None:
        """Let the request under way last as long as the peer likes, or the daemon lives."""
        task = asyncio.current_task()
        if task is not None:
            self._channels.add(task)
            task.add_done_callback(self._channels.discard)
            self._requests.discard(task)

    async def _serve_control(
        self, opening: Opening, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        document, _ = await _read_document(reader)
        match document or {}:
            case {"do": "left", "conversations": list(served)}:
                known = [each for each in served[:MOST_SERVED] if isinstance(each, str)]
                self._sessions.left(_by_program(opening).pid, known)
                writer.write(b"{}\n")
                return
        writer.write(json.dumps(self._control(document or {})).encode() + b"\n")


class _Link:
    """Connects a channel with the session that it belongs to.

    Args:
        sessions: The sessions.
        agent: The agent's adapter.
        opening: How the channel was opened; its ``event`` is the agent's id of the conversation.
        busy: Called with each event.
    """

    def __init__(
        self, sessions: LiveSessions, agent: Agent, opening: Opening, busy: Callable[[], None]
    ) -> None:
        self.agent = agent
        self._busy = busy
        self._sessions = sessions
        self._opening = opening
        self._origin = Origin(conversation=opening.event, cwd=opening.cwd)
        self._events = 0

    @property
    def session(self) -> LiveSession:
        """The session; another one after it has ended and goes on."""
        return self._sessions.session_of(self.agent, self._opening, self._origin)

    async def handle(self, event: str, payload: Mapping[str, Any]) -> str:
        """Take an event and return the agent's answer."""
        self._busy()
        await self._sessions.take_up_spool()
        self._events += 1
        ident = f"{time.time_ns():020d}-{os.getpid()}-{self._events}"
        opening = replace(self._opening, kind="hook", ident=ident, event=event)
        incoming = Incoming.of(self.agent, opening, payload)
        if incoming is None:
            return empty_answer(self.agent, event)
        self._sessions.keep(opening, json.dumps(payload).encode())
        return await self._sessions.handle(self.session, incoming)

    async def ended(self) -> None:
        """The agent is gone."""
        self._sessions.agent_ended(self.agent, self._origin)


def _by_program(opening: Opening) -> Opening:
    """Put the agent's process in the place of a shell that it called the client with."""
    return replace(opening, pid=first_program(opening.pid))


def _is_ours(writer: asyncio.StreamWriter) -> bool:
    """Tell whether the peer is a process of the same user."""
    peer: socket.socket = writer.get_extra_info("socket")
    return peer_user(peer) == os.geteuid()


async def _read_document(
    reader: asyncio.StreamReader,
) -> tuple[Mapping[str, Any] | None, bytes]:
    """Read until a JSON object is complete; returns it with the bytes it came in."""
    data = bytearray()
    document = None
    while document is None and len(data) <= MAX_BYTES:
        async with asyncio.timeout(IDLE_SECONDS):
            chunk = await reader.read(_CHUNK)
        data += chunk
        document = first_object(data, ended=not chunk)
        if not chunk:
            break
    return document, bytes(data)


def _columns(environ: Mapping[str, str]) -> int:
    """Return the width that the agent tells; a nonsensical one counts as none."""
    width = environ.get("COLUMNS", "")
    known = len(width) <= _MAX_DIGITS and width.isascii() and width.isdigit() and int(width)
    return known or DEFAULT_COLUMNS

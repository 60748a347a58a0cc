"""A line to an agent's live session, through the daemon; see `cognee_hooks.daemon.attached`."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from cognee_hooks.caller import Caller
from cognee_hooks.daemon import thin_client
from cognee_hooks.daemon.lines import Nonsense, lines_of, parsed
from cognee_hooks.daemon.protocol import Opening
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import CallFailed, UsageError
from cognee_hooks.payload import MAX_BYTES
from cognee_hooks.printable import clean
from cognee_hooks.reach.session import About, Answer, Call, Offer

HELLO_SECONDS = 12.0
"""Longest that a daemon may take to find a session; it may be importing its plugins."""
MARGIN_SECONDS = 2.0
"""How much longer than the daemon itself somebody waits for the end of a call."""
GONE = (
    "The daemon that serves the agents ended in the middle of it. What was asked for may have been "
    "done; look, then try again: another daemon starts by itself."
)

_ASKED_AT_MOST = 120.0
_CALL = 1


class LiveLine:
    """A line to one session; it carries one call after the other.

    Made by `open_line`.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        lines: AsyncIterator[bytes],
        hello: Mapping[str, Any],
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._lines = lines
        self.about = _about(hello)
        self.offer = _offer(hello)

    async def call(self, call: Call, caller: Caller, deadline: Deadline) -> Answer:
        """Have the session do something; see `Reached.call`."""
        message: dict[str, Any] = {
            "id": _CALL,
            "seconds": deadline.remaining(),
            "asks": caller.dialogs is not None,
        }
        if call.text is None:
            message |= {"tool": call.name, "arguments": dict(call.arguments)}
        else:
            message |= {"command": call.name, "arguments": call.text}
        try:
            async with asyncio.timeout(deadline.remaining() + MARGIN_SECONDS):
                await self._send(message)
                return await self._answer(caller)
        except TimeoutError as error:
            raise CallFailed(f"{clean(call.name)} took too long and was given up.") from error
        except (OSError, Nonsense) as error:
            raise CallFailed(GONE) from error

    async def close(self) -> None:
        """Leave the session, and end what is called in it."""
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()

    async def _answer(self, caller: Caller) -> Answer:
        async for line in self._lines:
            match parsed(line):
                case {"id": int(), "text": str(text), "failed": bool(failed)}:
                    return Answer(text=clean(text), failed=failed)
                case {"id": int(), "progress": str(text)}:
                    caller.progress(clean(text))
                case {"ask": int(ask), "title": str()} as question:
                    value = await _asked(caller, question)
                    await self._send({"reply": ask, "value": value})
                case _:
                    pass  # a newer daemon may say more
        raise CallFailed(GONE)

    async def _send(self, message: Mapping[str, Any]) -> None:
        self._writer.write(json.dumps(message).encode() + b"\n")
        await self._writer.drain()


async def open_line(folder: Path, opening: Opening, deadline: Deadline) -> LiveLine | None:
    """Open a line to the live session that is meant.

    Args:
        folder: The daemon's folder.
        opening: Says which one is meant.
        deadline: When to do without.

    Returns:
        The line; None where no daemon answers, or none of its sessions is meant.

    Raises:
        UsageError: The session that was named does not live, or several may be meant.
    """
    try:
        connection = thin_client.connect(os.fsencode(folder))
    except OSError:
        return None
    connection.setblocking(False)
    reader, writer = await asyncio.open_connection(sock=connection)
    lines = lines_of(reader, MAX_BYTES)
    line = None
    try:
        async with asyncio.timeout(deadline.within(HELLO_SECONDS).remaining()):
            writer.write(opening.wire())
            await writer.drain()
            line = _greeted(reader, writer, lines, parsed(await anext(lines)))
    except (OSError, TimeoutError, Nonsense, StopAsyncIteration):
        pass  # another version, or one that is just ending: as good as none
    finally:
        if line is None:
            writer.close()
    return line


def _greeted(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    lines: AsyncIterator[bytes],
    greeting: Mapping[str, Any],
) -> LiveLine | None:
    match greeting:
        case {"refused": str(text)}:
            raise UsageError(clean(text))
        case {"hello": {"session": dict()} as hello}:
            return LiveLine(reader, writer, lines, hello)
    return None


def _about(hello: Mapping[str, Any]) -> About:
    session = hello["session"]
    names = ("agent", "session_id", "dataset", "found")
    return About(live=True, **{name: clean(str(session.get(name, ""))) for name in names})


def _offer(hello: Mapping[str, Any]) -> Offer:
    tools, commands = hello.get("tools"), hello.get("commands")
    return Offer(
        tools=[
            each
            for each in (tools if isinstance(tools, list) else [])
            if isinstance(each, dict) and isinstance(each.get("name"), str)
        ],
        commands={
            str(each.get("name")): str(each.get("help", ""))
            for each in (commands if isinstance(commands, list) else [])
            if isinstance(each, dict)
        },
    )


async def _asked(caller: Caller, question: Mapping[str, Any]) -> Any:
    if caller.dialogs is None:
        return None
    seconds = question.get("seconds")
    known = isinstance(seconds, (int, float)) and 0 < seconds <= _ASKED_AT_MOST
    limit = Deadline.after(float(seconds) if known else _ASKED_AT_MOST)  # type: ignore[arg-type]
    title = clean(str(question["title"]))
    if question.get("kind") == "confirm":
        return await caller.dialogs.confirm(title, clean(str(question.get("text", ""))), limit)
    options = question.get("options")
    shown = [clean(str(each)) for each in options] if isinstance(options, list) else []
    return await caller.dialogs.select(title, shown, limit)

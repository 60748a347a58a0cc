"""What goes over the daemon's socket: how a request opens, and how an event is answered.

A request opens with the line ``cognee-hooks <version> <kind> <length>`` and a block of that length:
fields separated by NUL (id, agent, event, process id of whoever called the client, working
directory, an empty one), then the environment as ``NAME=value`` fields. The kind tells what
follows:

* ``hook``: the event's payload, until the JSON document in it is complete. The answer begins with
  ``+<milliseconds>`` once the event is taken, that is, on disk: the rest may take so long. Then
  follow the length of the agent's answer, as a line, and the answer. ``-`` means that the event is
  not wanted, ``!`` that a newer version calls, to which this daemon hands over.
* ``channel``: lines of JSON both ways; see `cognee_hooks.daemon.channel`.
* ``attach``: lines of JSON both ways, for whoever calls tools and commands of a session from
  outside of it; agent and event name the agent and the session that are meant, or are empty. See
  `cognee_hooks.daemon.attached`.
* ``control``: one JSON object, answered by another one. ``{"do": "left", "conversations"}`` says
  that a helper of the agent with the opening's process was told to end, and for which of our
  session ids it was called.

The thin client, which can import nothing, writes the same opening by itself, and keeps events in
the spool in the form of a ``hook`` request.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from cognee_hooks.daemon.thin_client import KEPT
from cognee_hooks.errors import CogneeHooksError

MAX_BLOCK = 4 * 1024 * 1024
"""Largest environment; Linux takes about half of it."""
REFUSED = b"-\n"
HANDOVER = b"!\n"

_LINE = re.compile(
    rb"cognee-hooks ([0-9A-Za-z.+]{1,40}) (hook|channel|attach|control) ([0-9]{1,8})\n"
)
_IDENT = re.compile(r"[0-9]{1,24}-[0-9]{1,10}(?:-[0-9]{1,10})?")
_PID = re.compile(r"[0-9]{1,10}")
_VERSION = re.compile(r"([0-9]+(?:\.[0-9]+)*)\.?(dev|a|b|rc|post)?([0-9]*)")
_PHASES = ("dev", "a", "b", "rc", "", "post")
_FIXED = 5


class NotInCharge(CogneeHooksError):
    """This daemon takes no more events; whoever has one is to look for the next daemon."""


class BadRequest(CogneeHooksError):
    """What a peer sent is no request; the message names what is wrong, never its content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How a request opens.

    Attributes:
        version: Version of the client.
        kind: ``hook``, ``channel``, ``attach`` or ``control``.
        ident: Names the event; ids sort by time.
        agent: Short name of the agent.
        event: The agent's name of the event.
        pid: The process that called the client.
        cwd: The client's working directory, or "".
        environ: The client's environment.
    """

    version: str
    kind: str
    ident: str
    agent: str
    event: str
    pid: int
    cwd: str
    environ: Mapping[str, str]

    def kept(self) -> bytes:
        """Return the opening in the form in which it is kept on disk, with our variables only."""
        ours = {name: self.environ[name] for name in self.environ if name.startswith(KEPT)}
        return replace(self, environ=ours).wire()

    def wire(self) -> bytes:
        """Return the opening in the form in which it is sent."""
        fields = [self.ident, self.agent, self.event, str(self.pid), self.cwd, ""]
        fields += [f"{name}={value}" for name, value in self.environ.items()]
        block = "\0".join(fields).encode("utf-8", "surrogateescape")
        return f"cognee-hooks {self.version} {self.kind} {len(block)}\n".encode() + block


async def read_opening(reader: asyncio.StreamReader) -> Opening:
    """Read the opening of a request.

    Raises:
        BadRequest: It is none.
    """
    try:
        line = await reader.readuntil(b"\n")
        version, kind, length = _parse_line(line)
        block = await reader.readexactly(length)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise BadRequest("the opening is not complete") from error
    return _parse_block(version, kind, block)


def split_record(record: bytes) -> tuple[Opening, bytes]:
    """Take a request apart that was kept on disk.

    Returns:
        The opening, and the payload.

    Raises:
        BadRequest: It is none.
    """
    line, end, rest = record.partition(b"\n")
    version, kind, length = _parse_line(line + end)
    if len(rest) < length:
        raise BadRequest("the opening is not complete")
    return _parse_block(version, kind, rest[:length]), rest[length:]


def taken(milliseconds: int) -> bytes:
    """Return the head of an answer: the event is taken, the rest may take so long."""
    return b"+%d\n" % milliseconds


def answer(text: str) -> bytes:
    """Return the rest of an answer."""
    data = text.encode("utf-8", "replace")
    return b"%d\n" % len(data) + data


def is_newer(version: str, than: str) -> bool:
    """Tell whether a version comes after another one; what is no version never does.

    Versions are those of Python packages: a final release comes after its candidates.
    """
    return _rank(version) > _rank(than)


def is_ident(text: str) -> bool:
    """Tell whether a text can name an event; it is then safe as the name of a file."""
    return _IDENT.fullmatch(text) is not None


def _rank(version: str) -> tuple[list[int], int, int]:
    found = _VERSION.match(version)
    if not found:
        return [], 0, 0
    numbers = [int(each) for each in found[1].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers, _PHASES.index(found[2] or ""), int(found[3] or 0)


def _parse_line(line: bytes) -> tuple[str, str, int]:
    found = _LINE.fullmatch(line)
    if not found or int(found[3]) > MAX_BLOCK:
        raise BadRequest("the first line is not ours")
    return found[1].decode(), found[2].decode(), int(found[3])


def _parse_block(version: str, kind: str, block: bytes) -> Opening:
    fields = block.decode("utf-8", "surrogateescape").split("\0")
    if len(fields) <= _FIXED or fields[_FIXED]:
        raise BadRequest("fields are missing")
    ident, agent, event, pid, cwd = fields[:_FIXED]
    if not is_ident(ident) or not _PID.fullmatch(pid):
        raise BadRequest("the id or the process id is none")
    pairs = (field.partition("=") for field in fields[_FIXED + 1 :])
    return Opening(
        version=version,
        kind=kind,
        ident=ident,
        agent=agent,
        event=event,
        pid=int(pid),
        cwd=cwd if cwd.startswith("/") else "",
        environ=MappingProxyType({name: value for name, mark, value in pairs if name and mark}),
    )

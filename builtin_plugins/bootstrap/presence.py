"""Tells whether a server is there; only a proof that none is allows to start one.

A server that is busy answers late, one that hangs accepts connections and says nothing, and one
that starts does neither for ten seconds. To take any of them for absent would put a second server
over the first one's databases.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from builtin_plugins.bootstrap.address import port_of
from cognee_hooks.services.address import is_loopback

if TYPE_CHECKING:
    from builtin_plugins.bootstrap.pidfile import PidFile

HTTP_SECONDS = 2.0
AGAIN_SECONDS = 5.0
"""Limit of the second question, for a server that is only slow."""
TCP_SECONDS = 0.5
READY = "ready"
"""What asking for the server's health returns where it is fine; otherwise a few words."""

_NO_SUCH_ADDRESS = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.ENETUNREACH})

Ask = Callable[[float], Awaitable[str]]
"""Asks for the server's health, within so many seconds; returns `READY` or what came instead."""


class Verdict(StrEnum):
    """What is there."""

    READY = "ready"
    BUSY = "busy"
    """Something holds the port, or a server's process lives."""
    ABSENT = "absent"
    """Nothing: the port refuses, and no server's process is known."""
    UNKNOWN = "unknown"


class Tcp(StrEnum):
    """How connecting to a port came out."""

    LISTENING = "listening"
    REFUSED = "refused"
    NO_VERDICT = "no_verdict"


@dataclass(frozen=True, slots=True)
class Presence:
    """A verdict, and what it rests on."""

    verdict: Verdict
    evidence: dict[str, str] = field(default_factory=dict)


class PresenceProbe:
    """Looks at one address.

    Args:
        url: The address.
        pidfile: Where a server of this port is noted.
        ask: Asks for the server's health.
        connect: Connects to host and port.
        pause: Seconds before looking again where nothing seems to be there.
    """

    def __init__(
        self,
        url: str,
        pidfile: PidFile,
        ask: Ask,
        *,
        connect: Callable[[str, int], Awaitable[Tcp]] | None = None,
        pause: float = 3.0,
    ) -> None:
        self._url = url
        self._pidfile = pidfile
        self._ask = ask
        self._connect = connect or connected
        self._pause = pause

    async def healthy(self, seconds: float = HTTP_SECONDS) -> bool:
        """Tell whether the server answers and is fine."""
        return await self._ask(seconds) == READY

    async def look(
        self, *, confirm: bool, seconds: float = HTTP_SECONDS, tidy: bool = True
    ) -> Presence:
        """Return what is there.

        Args:
            confirm: Where nothing is, look once more after a pause.
            seconds: How long the server may take to answer.
            tidy: Remove the note of a server that is gone.
        """
        evidence = {"base_url": self._url, "http": await self._ask(seconds)}
        if evidence["http"] == READY:
            return Presence(Verdict.READY, evidence)
        if not is_loopback(self._url):
            return Presence(Verdict.UNKNOWN, evidence)
        tcp = await self._tcp()
        evidence["tcp"] = tcp.value
        if tcp is Tcp.LISTENING:
            return Presence(Verdict.BUSY, evidence)
        if pid := self._pidfile.live(tidy=tidy):
            evidence["pid"] = str(pid)
            return Presence(Verdict.BUSY, evidence)
        if tcp is not Tcp.REFUSED:
            return Presence(Verdict.UNKNOWN, evidence)
        return await self._again(evidence) if confirm else Presence(Verdict.ABSENT, evidence)

    async def _again(self, evidence: dict[str, str]) -> Presence:
        await asyncio.sleep(self._pause)
        evidence["http_retry"] = await self._ask(AGAIN_SECONDS)
        if evidence["http_retry"] == READY:
            return Presence(Verdict.READY, evidence)
        tcp = await self._tcp()
        evidence["tcp_retry"] = tcp.value
        verdicts = {Tcp.LISTENING: Verdict.BUSY, Tcp.REFUSED: Verdict.ABSENT}
        return Presence(verdicts.get(tcp, Verdict.UNKNOWN), evidence)

    async def _tcp(self) -> Tcp:
        return await self._connect(urlsplit(self._url).hostname or "", port_of(self._url))


async def connected(host: str, port: int) -> Tcp:
    """Connect to a port of this machine; ``localhost`` means both of its addresses."""
    addresses = ("127.0.0.1", "::1") if host.rstrip(".") == "localhost" else (host,)
    found = [await _connect(each, port) for each in addresses]
    if Tcp.LISTENING in found:
        return Tcp.LISTENING
    # A machine without IPv6 has no second address; that proves nothing either way.
    told = [each for each in found if each is not None]
    return Tcp.REFUSED if told and set(told) == {Tcp.REFUSED} else Tcp.NO_VERDICT


async def _connect(address: str, port: int) -> Tcp | None:
    """Connect to one address; None where this machine has no such address."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as connection:
            connection.setblocking(False)
            async with asyncio.timeout(TCP_SECONDS):
                await asyncio.get_running_loop().sock_connect(connection, (address, port))
    except ConnectionRefusedError:
        return Tcp.REFUSED
    except TimeoutError:
        return Tcp.NO_VERDICT
    except OSError as error:
        return None if error.errno in _NO_SUCH_ADDRESS else Tcp.NO_VERDICT
    return Tcp.LISTENING

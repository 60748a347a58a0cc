"""How memory is at a glance: the rows behind ``/cognee`` and ``cognee-hooks status``.

Looking changes nothing: no key is made, no dataset, no server started, and what the session
believes about the connection stays as it is. Where it is proven wrong, the session is only asked to
look for itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cognee_hooks import federation
from cognee_hooks.guard import attempt
from cognee_hooks.outcomes import flat
from cognee_hooks.printable import one_line
from cognee_hooks.results import AT_THE_SERVER, Act, StatusRow
from cognee_hooks.services.address import bare
from cognee_hooks.services.health import HealthMonitor

if TYPE_CHECKING:
    from cognee_hooks.deadline import Deadline
    from cognee_hooks.events import ConnectionState
    from cognee_hooks.host import Host

MAX_ROW = 300
"""Characters of a plugin's row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerView:
    """The server, seen now.

    Attributes:
        mode: ``local`` or ``cloud``.
        url: Address without what may be secret in it; "" where it is missing.
        why: Why this one, for people.
        state: State of the connection, or ``no address``.
        version: The server's version, or "".
        detail: Why the state is what it is, or "".
        milliseconds: How long it took to find out; None where nobody was asked.
    """

    mode: str
    url: str
    why: str
    state: ConnectionState | Literal["no address"]
    version: str = ""
    detail: str = ""
    milliseconds: int | None = None

    @property
    def connected(self) -> bool:
        """Whether memory works."""
        return self.state == "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """How memory is.

    Attributes:
        server: The server.
        rows: What to show, in order.
    """

    server: ServerView
    rows: tuple[StatusRow, ...]


async def overview(host: Host, deadline: Deadline, *, live: bool = True) -> Overview:
    """Look at everything.

    Args:
        host: The host to look at; it need not be started.
        deadline: When to be done.
        live: Whether the host serves a conversation; without one there is nothing to say of it.
    """
    server = await look_at_server(host, deadline)
    called = await host.dispatcher.call("cognee_status_rows", deadline=deadline)
    rows = [*_core_rows(host, server, live=live)]
    # A plugin's own kind of row may do anything when it is looked at.
    rows += [row for each in flat(called.value) if (row := attempt(_made_safe, each).result)]
    return Overview(server=server, rows=tuple(rows))


async def look_at_server(host: Host, deadline: Deadline) -> ServerView:
    """Ask the server how it is, without telling the session."""
    mode, known = host.mode, host.services.health
    url = bare(mode.url) if mode.url else ""
    if mode.missing_base_url:
        return ServerView(mode=mode.backend, url=url, why=mode.reason, state="no address")
    own = HealthMonitor(host.services.client, probe_seconds=host.core.health_timeout_ms / 1000)
    began = time.monotonic()
    state = await own.probe(deadline)
    milliseconds = round((time.monotonic() - began) * 1000)
    detail = own.detail
    known.learn(own)  # plugins tell of themselves by it, and a command has no session to know it
    if state == "ok" and known.state == "auth":
        # The health route needs no key, so only the session knows that its key is refused.
        state, detail = "auth", known.detail
    elif state != known.state:
        known.probe_soon()
    return ServerView(
        mode=mode.backend,
        url=url,
        why=mode.reason,
        state=state,
        version=one_line(own.version),
        detail=one_line(detail),
        milliseconds=milliseconds,
    )


# -- the core's rows -------------------------------------------------------------------------------


def _core_rows(host: Host, server: ServerView, *, live: bool) -> Iterator[StatusRow]:
    core, session = host.core, host.session
    yield StatusRow(label="Mode", text=f"{host.mode.words} ({server.why})")
    yield StatusRow(label="Server", text=_about_server(server))
    yield StatusRow(label="API key", text=host.credentials.source)
    yield StatusRow(label="Dataset", text=one_line(session.dataset))
    read = federation.described(
        core.read_dataset_ids,
        host.settings.get_source("", federation.OPTION),
        host.settings.problem_of("", federation.OPTION),
        one_line(session.dataset),
    )
    yield StatusRow(label="Federation", text=read)
    if live:
        yield StatusRow(label="Session", text=session.session_id or "(not started)")
    yield StatusRow(label="Capture", text=_about_capture(host, live=live))
    if live:
        yield StatusRow(label="Queue", text=_about_queue(host))
    yield StatusRow(label="Breaker", text=host.services.breaker.describe())


def _about_server(server: ServerView) -> str:
    if server.state == "no address":
        return "✕ no address: COGNEE_BASE_URL is not set"
    if server.state == "ok":
        version = server.version or "?"
        return f"{server.url} — reachable in {server.milliseconds} ms (version {version})"
    words = {"auth": "refuses the key", "server-error": "does not work"}
    why = f" ({server.detail})" if server.detail else ""
    return f"{server.url} — ✕ {words.get(server.state, 'unreachable')}{why}"


def _about_capture(host: Host, *, live: bool) -> str:
    if not host.core.capture:
        return "off, and recall with it (COGNEE_CAPTURE=false)"
    if not host.is_active("capture"):
        return "off (the plugin capture is not in force)"
    if not live:
        return "on"
    captured = host.ledger.totals(host.session.session_id).get(Act.CAPTURED, 0)
    return f"on · {captured} captured this session"


def _about_queue(host: Host) -> str:
    totals = host.ledger.totals(host.session.session_id)
    stored = sum(totals.get(act, 0) for act in AT_THE_SERVER)
    parts = [
        f"{host.waiting} waiting",
        *([f"{host.volatile} of them in memory only"] if host.volatile else []),
        f"{stored} stored this session",
    ]
    lost = host.drops.lost + totals.get(Act.QUARANTINED, 0)
    repeated = totals.get(Act.DEDUPLICATED, 0)
    parts += [f"{lost} dropped"] if lost else []
    parts += [f"{repeated} deduped"] if repeated else []
    return " · ".join(parts)


def _made_safe(row: StatusRow) -> StatusRow:
    return StatusRow(label=one_line(row.label[:MAX_ROW]), text=one_line(row.text[:MAX_ROW]))

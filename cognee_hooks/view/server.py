"""Serves the page until it is told to end, or nobody looks at it any more."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from cognee_hooks.services.listening import listen
from cognee_hooks.view.access import PageAccess
from cognee_hooks.view.app import create_app
from cognee_hooks.view.browser import opener
from cognee_hooks.view.changes import Changes
from cognee_hooks.view.installed import InstalledPlugins
from cognee_hooks.view.sources import Sources

ADDRESS = "127.0.0.1"
IDLE_SECONDS = 12 * 3600.0
"""How long to serve without any request."""

_GRACE_SECONDS = 3
_MAX_CONNECTIONS = 64
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _PageServer(uvicorn.Server):
    """Says when it answers, and leaves signals to us: the process ends with 0 and not by them."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets=sockets)
        self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Change nothing about signals."""
        yield


def serve(
    port: int,
    *,
    environ: Mapping[str, str],
    cwd: Path,
    on_ready: Callable[[str], None],
    browser: bool,
    idle_seconds: float = IDLE_SECONDS,
) -> None:
    """Serve until SIGTERM or SIGINT, or for long nobody asks. For the main thread of a process.

    Args:
        port: Port to listen on; 0 takes a free one.
        environ: The environment.
        cwd: The person's folder.
        on_ready: Called once with the address to open, when requests are answered.
        browser: Whether to open it.
        idle_seconds: Seconds without any request after which to end.

    Raises:
        UsageError: The port cannot be had.
    """
    with listen(ADDRESS, port) as listener, opener(wanted=browser) as open_address:
        access = PageAccess(listener.getsockname()[1])

        def ready() -> None:
            on_ready(access.address)
            open_address(access.address)

        sources = Sources(environ, InstalledPlugins(environ, cwd).look)
        asyncio.run(_Serving(access, sources, ready, idle_seconds).run(listener))


class _Serving:
    """One run.

    Args:
        access: Who may see the page.
        sources: Reads what it shows.
        ready: Called when requests are answered.
        idle_seconds: Seconds without any request after which to end.
    """

    def __init__(
        self, access: PageAccess, sources: Sources, ready: Callable[[], None], idle_seconds: float
    ) -> None:
        self._idle_seconds = idle_seconds
        self._asked = time.monotonic()
        self._changes = Changes(sources.facts)
        self._server = _PageServer(
            uvicorn.Config(
                create_app(access, sources, self._changes, touched=self._touch),
                http="h11",
                ws="none",
                lifespan="off",
                log_config=None,
                log_level=logging.ERROR,  # what strangers send to the port is nothing to read
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=_MAX_CONNECTIONS,
                timeout_graceful_shutdown=_GRACE_SECONDS,
            ),
            ready,
        )

    async def run(self, listener: socket.socket) -> None:
        """Serve on a socket."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._end)
        serving = asyncio.create_task(self._server.serve([listener]))
        while not serving.done():
            left = self._asked + self._idle_seconds - time.monotonic()
            if left <= 0:
                self._end()
            await asyncio.wait({serving}, timeout=left if left > 0 else None)
        await serving

    def _touch(self) -> None:
        self._asked = time.monotonic()

    def _end(self) -> None:
        """End at once, however many pages listen."""
        self._changes.close()
        self._server.should_exit = True

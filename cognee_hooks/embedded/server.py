"""Runs the memory server: in a thread for demos and tests, or as a process's whole work."""

from __future__ import annotations

import ipaddress
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Self

import uvicorn
from starlette.types import ASGIApp

from cognee_hooks.embedded.accounts import DEFAULT_PASSWORD
from cognee_hooks.embedded.app import MAX_BODY, create_app
from cognee_hooks.embedded.memory import EmbeddedMemory
from cognee_hooks.errors import UsageError
from cognee_hooks.services.listening import listen

# As a cognee server does, so that clients meet here what they will meet there.
_KEEP_ALIVE_SECONDS = 5
_START_SECONDS = 10.0
_GRACE_SECONDS = 3


class EmbeddedServer:
    """The memory server, served by a thread of this process, as a context manager.

    Attributes:
        data_path: The one data file.
        url: Base URL; the port is known once the server was started.
    """

    def __init__(
        self,
        data_path: Path,
        port: int = 0,
        auth: bool = True,
        *,
        host: str = "127.0.0.1",
        password: str = DEFAULT_PASSWORD,
        allow_remote: bool = False,
        max_body: int = MAX_BODY,
        wrap: Callable[[ASGIApp], ASGIApp] | None = None,
    ) -> None:
        """Prepare a server; nothing is opened before :meth:`start`.

        Args:
            data_path: The data file, made where it is missing, readable by its owner only.
            port: Port to listen on; 0 takes a free one.
            auth: Ask for credentials: an API key, or the login of ``default_user@example.com``.
            host: Address to listen on.
            password: Password of that login.
            allow_remote: Allow an address that other machines can reach.
            max_body: Most bytes of a request's body.
            wrap: Puts an application of the caller's in front, to see requests or to spoil answers.

        Raises:
            UsageError: The address is reachable by others and that was not allowed, or is not
                protected by a password of your own.
        """
        _check_exposure(host, allowed=allow_remote, protected=auth and password != DEFAULT_PASSWORD)
        self.data_path = data_path
        self._address = (host, port)
        self._auth = auth
        self._password = password
        self._any_host = allow_remote
        self._max_body = max_body
        self._wrap = wrap
        self._memory: EmbeddedMemory | None = None
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None
        self.url = _url(host, port)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        """Whether the server's thread is at work."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Open the data file, listen, and return once requests are answered.

        Raises:
            UsageError: The data file or the port cannot be used.
        """
        if self._thread is not None:
            raise UsageError("The memory server was started already.")
        listener = listen(*self._address)
        try:
            self._memory = EmbeddedMemory(self.data_path, self._password)
        except BaseException:
            listener.close()
            raise
        self.url = _url(self._address[0], listener.getsockname()[1])
        app: ASGIApp = create_app(
            self._memory, auth=self._auth, max_body=self._max_body, any_host=self._any_host
        )
        config = uvicorn.Config(
            self._wrap(app) if self._wrap else app,
            loop="asyncio",
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, args=([listener],), name="cognee-hooks-embedded", daemon=True
        )
        self._thread.start()
        self._wait_until_started(self._server)

    def _wait_until_started(self, server: uvicorn.Server) -> None:
        end = time.monotonic() + _START_SECONDS
        while not server.started:
            if not self.running or time.monotonic() > end:
                self.stop()
                raise UsageError(f"The memory server could not start on {self.url}.")
            time.sleep(0.005)

    def stop(self) -> None:
        """Finish running requests, close the port and the data file. Safe to call twice."""
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join()
        if self._memory is not None:
            self._memory.close()
        self._server = self._thread = self._memory = None


def serve(
    host: str,
    port: int,
    data_path: Path,
    auth: bool,
    *,
    on_ready: Callable[[str], None],
    password: str = DEFAULT_PASSWORD,
    allow_remote: bool = False,
) -> None:
    """Serve until SIGTERM or SIGINT, then end cleanly. For the main thread of a process.

    Args:
        host: Address to listen on.
        port: Port to listen on; 0 takes a free one.
        data_path: The data file.
        auth: Ask for credentials.
        on_ready: Called once with the base URL when requests are answered.
        password: Password of ``default_user@example.com``.
        allow_remote: Allow an address that other machines can reach.

    Raises:
        UsageError: The address, port or data file cannot be used.
    """
    ended = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        ended.set()

    server = EmbeddedServer(
        data_path, port, auth, host=host, password=password, allow_remote=allow_remote
    )
    signals = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(number, end) for number in signals]
    try:
        with server:
            on_ready(server.url)
            while server.running and not ended.wait(1.0):
                pass
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)


def _check_exposure(host: str, *, allowed: bool, protected: bool) -> None:
    if _is_loopback(host):
        return
    if not allowed:
        raise UsageError(
            f"{host} can be reached from other machines, and the memory holds what your agents "
            "saw. Listen on 127.0.0.1, or allow remote access explicitly."
        )
    if not protected:
        raise UsageError(
            f"{host} can be reached from other machines, so authentication must be on and the "
            "password must not be the default one. Set a password."
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

"""Fixtures for every test folder: guards around each test, and servers to test against.

Servers are started when a test first asks for them and kept for the whole session.
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_endpoint import ModelEndpoint
from tests.support.real_cognee import RealCognee
from tests.support.servers import Server, ServerPool

_SCRUBBED = ("COGNEE_", "LLM_", "EMBEDDING_")
_XDG = ("CONFIG", "DATA", "STATE", "CACHE")
_LOOPBACK = ("127.", "::1", "localhost")


@pytest.fixture(autouse=True)
def isolated_environment(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A home of its own for every test, and no setting inherited from the developer's shell.

    The folder's path is short: sockets of the daemon live below it, and a socket path is limited.
    A test in whose home a local server was installed or started, and that did not say so, fails.
    """
    for name in [name for name in os.environ if name.startswith(_SCRUBBED)]:
        monkeypatch.delenv(name)
    with tempfile.TemporaryDirectory(prefix="ch-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        monkeypatch.setenv("HOME", str(home))
        for kind in _XDG:
            monkeypatch.setenv(f"XDG_{kind}_HOME", str(home / kind.lower()))
        runtime = home / "run"
        runtime.mkdir(mode=0o700)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
        yield home
        started = [*home.rglob("hooks/bootstrap/worker.log")]
    if started and request.node.get_closest_marker("boots_servers") is None:
        pytest.fail("a local server was being started by itself", pytrace=False)


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail a test that connects to anything but this machine."""

    def guarded(original: Any) -> Any:
        def connect(self: socket.socket, address: Any) -> Any:
            local = self.family == socket.AF_UNIX or str(address[0]).startswith(_LOOPBACK)
            if not local:
                pytest.fail(f"a test tried to connect to {address!r}")
            return original(self, address)

        return connect

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, guarded(getattr(socket.socket, name)))


@pytest.fixture(scope="session")
def model_endpoint() -> Iterator[ModelEndpoint]:
    """The model endpoint that real cognee servers use."""
    with ModelEndpoint() as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def servers(
    model_endpoint: ModelEndpoint, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerPool]:
    """All servers that tests run against, each started once, when first asked for."""
    with ServerPool(tmp_path_factory.mktemp("servers"), model_endpoint.url) as pool:
        yield pool


@pytest.fixture(scope="session")
def real_cognee_165(servers: ServerPool) -> Server:
    """A real cognee 1.6.5."""
    return servers.get("cognee-1.6.5")


@pytest.fixture(scope="session")
def embedded_server(servers: ServerPool) -> Server:
    """The embedded memory server."""
    return servers.get("embedded")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the end of a real server's log beside the failure of a test that used it."""
    report = yield
    pool = getattr(item, "funcargs", {}).get("servers")
    server = getattr(item, "funcargs", {}).get("server")
    if report.failed and isinstance(pool, ServerPool) and isinstance(server, Server):
        process = pool.process(server.name)
        if isinstance(process, RealCognee):
            report.sections.append((f"log of {server.name}", process.log_tail()))
    return report

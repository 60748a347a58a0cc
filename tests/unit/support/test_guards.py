"""The guards that stand around every test of this suite."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest


def test_a_connection_to_another_machine_fails_the_test():
    with socket.socket() as outgoing, pytest.raises(pytest.fail.Exception, match=r"192\.0\.2\.1"):
        outgoing.connect(("192.0.2.1", 80))


def test_loopback_and_unix_sockets_are_open(isolated_environment: Path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        path = str(isolated_environment / "s")
        server.bind(path)
        server.listen()
        client.connect(path)


def test_a_test_has_its_own_home_and_no_settings_of_the_shell(isolated_environment: Path):
    assert Path.home() == isolated_environment
    assert os.environ["XDG_CONFIG_HOME"].startswith(str(isolated_environment))
    assert not [name for name in os.environ if name.startswith(("COGNEE_", "LLM_"))]

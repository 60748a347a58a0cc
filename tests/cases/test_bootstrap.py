"""P08: where the person's own server is down, no other one takes its place."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases.machine import Machine
from tests.support.command import command
from tests.support.daemon import agent_environment, daemon_of
from tests.support.fake_server import FakeServer
from tests.support.waiting import until

NAMED = {
    "base-url": {"COGNEE_BASE_URL": "{}"},
    "local-url": {"COGNEE_LOCAL_API_URL": "{}"},
    "pinned": {
        "COGNEE_BACKEND": "local",
        "COGNEE_LOCAL_API_URL": "{}",
        "COGNEE_LOCAL_SERVER": "embedded",
    },
    "in-the-file": {},
}
"""Ways in which a person names the address."""


@pytest.fixture
def port() -> Iterator[int]:
    """A port that refuses connections, and that nobody else is given."""
    with socket.socket() as keeper:
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        keeper.bind(("127.0.0.1", 0))
        yield keeper.getsockname()[1]


@pytest.mark.parametrize("way", NAMED)
async def test_p08_a_named_address_that_is_down_is_waited_for(
    isolated_environment: Path, port: int, way: str
):
    home, url = isolated_environment, f"http://127.0.0.1:{port}"
    named = {name: value.format(url) for name, value in NAMED[way].items()}
    environ = agent_environment(home, LLM_API_KEY="any", COGNEE_API_KEY="k3" * 20, **named)
    if not named:
        (home / ".cognee").mkdir()
        (home / ".cognee" / ".env").write_text(f"COGNEE_LOCAL_API_URL={url}\n")
    server = FakeServer(port, reuse_port=True)
    async with daemon_of(environ):
        machine = Machine(home, environ, server)
        machine.start()
        assert "recall skipped (server unreachable)" in await machine.prompt("Which port is it?")
        await machine.answer("7431.")
        status = await command("status", **environ)
        assert f"{url}" in status.out
        assert "unreachable" in status.out
        assert "1 entry in 1 file" in status.out
        for wish in ("up", "down"):
            refused = await command(wish, **environ)
            assert refused.code != 0
            assert "COGNEE_" in refused.err
        shared = home / ".cognee-plugin"
        assert not [*shared.glob("venv*"), *shared.glob("server-*"), *shared.rglob("worker*")]

        async with server:
            await machine.turn("And now?", number=2)
            await until(lambda: "Which port is it?" in machine.questions, "what was kept", 90)
            await machine.settled()
    assert machine.questions.count("Which port is it?") == 1
    assert not [*shared.glob("venv*"), *shared.glob("server-*"), *shared.rglob("worker*")]

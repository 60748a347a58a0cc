from __future__ import annotations

import pytest

from cognee_hooks.events import UserPromptSubmit
from tests.support.scripted import RECALL, ScriptedClient, remembers, scripted_host


@pytest.fixture
def client():
    return ScriptedClient()


@pytest.fixture
def host(isolated_environment, client):
    return scripted_host(isolated_environment, client)


@pytest.mark.parametrize(
    ("state", "head"),
    [
        ("unknown", "cognee: local · agent_sessions"),
        ("ok", "● cognee: local · agent_sessions"),
        ("offline", "✕ cognee: offline (local · agent_sessions)"),
        ("auth", "✕ cognee: auth failed (local · agent_sessions)"),
        ("server-error", "✕ cognee: server error (local · agent_sessions)"),
    ],
)
async def test_the_line_begins_with_the_connection(host, state, head, monkeypatch):
    monkeypatch.setattr(type(host.services.health), "state", state)
    assert await host.status_line() == head


async def test_what_waits_comes_next(host, monkeypatch):
    monkeypatch.setattr(type(host), "waiting", 3)
    assert await host.status_line() == "cognee: local · agent_sessions · 3 awaiting replay"


async def test_recall_tells_how_it_went(host, client):
    client.scripts[RECALL] = remembers("a fact")
    prompt = UserPromptSubmit(session_id="s", prompt="which port does billing use?")
    await host.user_prompt_submit(prompt)
    line = await host.status_line()
    assert line.endswith("1 memory hits · 1/1 turns had hits this session")
    assert (await host.status_line(60)).endswith("1 memory hits")

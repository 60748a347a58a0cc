from __future__ import annotations

import json
from pathlib import Path

import pytest

from cognee_hooks import hookimpl
from cognee_hooks.events import Turn
from cognee_hooks.host import Host
from cognee_hooks.redaction import Redactor
from tests.support.compacting import TURNS, ask, compact, quiet_host
from tests.support.scripted import RECALL, remembers

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def kept(home: Path) -> str:
    """Everything that is on disk."""
    files = [path for path in home.rglob("*") if path.is_file()]
    return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in files)


async def test_w19_secrets_are_cut_out_before_anything_is_kept_sent_or_told(
    client, isolated_environment
):
    host = quiet_host(isolated_environment, client, COGNEE_CAPTURE_REDACT_PATTERNS="emp-[0-9]{4}")
    client.scripts[RECALL] = remembers(f"Their token is {SECRET}.")
    turn = Turn(question=f"Why does {SECRET} fail for emp-1234?", answer=f"{SECRET} is old.")
    await compact(host, turn)
    context = await ask(host)
    assert "[redacted:" in context
    for secret in (SECRET[8:28], "emp-1234"):
        assert secret not in context
        assert secret not in json.dumps(client.entries + client.queries)
        assert secret not in kept(isolated_environment)


async def test_a_secret_at_a_cut_does_not_lose_its_tail_to_it(host, client):
    await compact(host, Turn(question="x" * 285 + f" {SECRET}", answer="fine"))
    context = await ask(host)
    assert "ghp_" not in context
    assert "ghp_" not in json.dumps(client.entries)


async def test_a_private_turn_is_left_out_with_its_answer(host, client):
    private = Turn(question="<private>my salary</private>", answer="Your salary is 7.")
    await compact(host, private, *TURNS)
    context = await ask(host)
    assert "BluePelican" in context
    assert "salary" not in context
    assert "salary" not in json.dumps(client.entries)


async def test_nothing_but_private_turns_gives_no_anchor(host, client):
    await compact(host, Turn(question="<private>all of it</private>", answer="yes"))
    assert await ask(host) == ""
    assert client.unsent == []


@pytest.mark.expects_faults
async def test_turns_that_cannot_be_made_safe_give_no_anchor_and_are_counted(
    client, isolated_environment
):
    class Broken:
        @hookimpl
        def cognee_register_redactors(self):
            return [Redactor(name="broken", function=lambda text: text[10**9])]

    host = Host(
        "claude-code",
        environ={"HOME": str(isolated_environment), "COGNEE_RECALL": "false"},
        session_id="claude_s1",
        client=client,
        entry_points=(),
        plugins={"broken": Broken()},
    )
    await compact(host)
    assert await ask(host) == ""
    assert client.unsent == []
    assert host.drops.as_dict() == {"redaction_failed": 1}

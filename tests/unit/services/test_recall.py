from __future__ import annotations

import asyncio

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.redaction import Redacted
from cognee_hooks.services.answers import DatasetRef
from cognee_hooks.services.recall import recall_memory
from tests.support.plugins import HANG
from tests.support.redacted import redacted
from tests.support.scripted import RECALL, ScriptedClient, fails, remembers
from tests.support.waiting import PATIENCE, until

ONE, OTHER = DatasetRef(name="one"), DatasetRef(name="other")


def of(body: dict) -> str:
    return body["datasets"][0]


@pytest.fixture
def client() -> ScriptedClient:
    return ScriptedClient()


async def recall(client: ScriptedClient, *datasets: DatasetRef, **more: str) -> list[str]:
    query: Redacted[str] = redacted("what is it?")
    memory = await recall_memory(
        client, query, datasets, top_k=3, deadline=Deadline.after(PATIENCE), **more
    )
    return memory.passages


async def test_all_datasets_are_asked_at_once_and_nothing_is_told_twice(client):
    client.scripts[RECALL] = lambda body: remembers("of both", f"of {of(body)}")(body)
    assert await recall(client, ONE, OTHER) == ["of both", "of one", "of other"]
    client.delays[RECALL] = HANG
    waiting = asyncio.create_task(recall(client, ONE, OTHER))
    await until(lambda: len(client.queries) == 4, "both questions")
    waiting.cancel()


async def test_a_dataset_that_fails_does_not_silence_the_others(client):
    def answer(body):
        script = fails(FailureKind.FORBIDDEN) if of(body) == "one" else remembers("a fact")
        return script(body)

    client.scripts[RECALL] = answer
    assert await recall(client, ONE, OTHER) == ["a fact"]


async def test_where_all_fail_the_first_failure_is_told(client):
    kinds = {"one": FailureKind.FORBIDDEN, "other": FailureKind.TIMED_OUT}
    client.scripts[RECALL] = lambda body: fails(kinds[of(body)])(body)
    with pytest.raises(ServerFailure) as caught:
        await recall(client, ONE, OTHER)
    assert caught.value.kind is FailureKind.FORBIDDEN


async def test_a_conversations_own_passages_are_left_out_where_that_is_wanted(client):
    client.scripts[RECALL] = remembers("Session ID: claude_s1\nmine", "Session ID: pi_s2\nhis")
    assert len(await recall(client, ONE)) == 2
    (left,) = await recall(client, ONE, own_session="claude_s1")
    assert left.endswith("his")


async def test_the_servers_own_remarks_are_no_memory(client):
    client.scripts[RECALL] = remembers("warming up", source="system")
    assert await recall(client, ONE) == []

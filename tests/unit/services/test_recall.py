from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.redaction import Redacted
from cognee_hooks.services.answers import DatasetRef
from cognee_hooks.services.passages import RecalledMemory
from cognee_hooks.services.recall import guarded_recall, recall_memory
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


# -- guarded by the breaker ----------------------------------------------------------------------


class Watched:
    """Health and breaker of a session, which keep what they are told."""

    def __init__(self, *, open_: bool = False) -> None:
        self.told: list[object] = []
        self._open = open_

    def allow(self) -> bool:
        return not self._open

    def success(self) -> None:
        self.told.append("worked")

    def failure(self, kind: FailureKind) -> None:
        self.told.append(kind)

    def note(self, failure: ServerFailure | None) -> None:
        self.told.append(failure and failure.kind.value)


async def guarded(client: ScriptedClient, watched: Watched) -> RecalledMemory | None:
    services = SimpleNamespace(client=client, health=watched, breaker=watched)
    deadline = Deadline.after(PATIENCE)
    return await guarded_recall(services, redacted("what?"), [ONE], top_k=3, deadline=deadline)


async def test_a_recall_that_works_is_reported_to_health_and_breaker(client):
    client.scripts[RECALL] = remembers("a fact")
    watched = Watched()
    assert (await guarded(client, watched)).passages == ["a fact"]
    assert watched.told == [None, "worked"]


@pytest.mark.parametrize("kind", [FailureKind.TIMED_OUT, FailureKind.NO_MEMORY])
async def test_a_recall_that_fails_is_reported_to_health_and_breaker(client, kind):
    client.scripts[RECALL] = fails(kind)
    watched = Watched()
    with pytest.raises(ServerFailure):
        await guarded(client, watched)
    assert watched.told == [kind.value, kind]


async def test_while_the_breaker_is_open_nobody_is_asked_and_nothing_reported(client):
    watched = Watched(open_=True)
    assert await guarded(client, watched) is None
    assert not client.queries
    assert not watched.told

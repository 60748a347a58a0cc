from __future__ import annotations

import asyncio

from cognee_hooks.view.changes import MAX_LISTENERS, Changes
from tests.support.waiting import PATIENCE, until


class Looked:
    """Facts that a test changes, and how often somebody looked."""

    def __init__(self) -> None:
        self.facts = 0
        self.count = 0

    def __call__(self) -> int:
        self.count += 1
        return self.facts


def changes(looked: Looked) -> Changes:
    return Changes(looked, every=0.001)


async def looked_again(looked: Looked) -> None:
    seen = looked.count
    await until(lambda: looked.count > seen + 1)


async def test_a_listener_is_told_the_revision_at_once_and_when_it_changes():
    looked = Looked()
    watched = changes(looked)
    with watched.listening():
        revisions = watched.revisions(PATIENCE)
        assert await anext(revisions) == 0
        await looked_again(looked)
        looked.facts = 1
        assert await anext(revisions) == 1
        await revisions.aclose()


async def test_all_listeners_are_told():
    looked = Looked()
    watched = changes(looked)
    with watched.listening(), watched.listening():
        listeners = [watched.revisions(PATIENCE) for _ in range(2)]
        assert [await anext(each) for each in listeners] == [0, 0]
        waiting = [asyncio.ensure_future(anext(each)) for each in listeners]
        await looked_again(looked)
        looked.facts = 1
        assert await asyncio.gather(*waiting) == [1, 1]
        for each in listeners:
            await each.aclose()


async def test_where_nothing_changes_a_pause_is_told():
    watched = changes(Looked())
    with watched.listening():
        revisions = watched.revisions(0.001)
        assert [await anext(revisions) for _ in range(3)] == [0, None, None]
        await revisions.aclose()


async def test_nobody_looks_while_nobody_listens():
    looked = Looked()
    watched = changes(looked)
    assert looked.count == 0
    with watched.listening():
        await looked_again(looked)
    seen = looked.count
    await asyncio.sleep(0.05)
    assert looked.count <= seen + 1  # the look that was under way


async def test_what_changed_while_nobody_listened_is_told_to_the_next():
    looked = Looked()
    watched = changes(looked)
    with watched.listening():
        await looked_again(looked)
    looked.facts = 1
    with watched.listening():
        revisions = watched.revisions(PATIENCE)
        assert [await anext(revisions), await anext(revisions)] == [0, 1]
        await revisions.aclose()


async def test_closing_ends_every_listener_at_once():
    watched = changes(Looked())
    with watched.listening():
        revisions = watched.revisions(PATIENCE)
        assert await anext(revisions) == 0
        waiting = asyncio.ensure_future(anext(revisions, "ended"))
        await asyncio.sleep(0)
        watched.close()
        assert await waiting == "ended"
        assert [each async for each in watched.revisions(PATIENCE)] == []


async def test_only_some_may_listen_at_once():
    watched = changes(Looked())
    held = [watched.listening() for _ in range(MAX_LISTENERS)]
    for each in held:
        assert not watched.full
        each.__enter__()
    assert watched.full
    for each in held:
        each.__exit__(None, None, None)
    assert not watched.full

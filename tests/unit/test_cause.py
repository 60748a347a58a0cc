"""Tests of what names an entry across processes that do the same event again."""

from __future__ import annotations

import asyncio

from cognee_hooks.cause import caused_by, next_key
from cognee_hooks.guard import Worker


def test_an_event_that_is_done_again_gives_its_entries_the_same_keys():
    def done() -> list[str]:
        with caused_by("1-2"):
            return [next_key("a"), next_key("b"), next_key("a")]

    assert done() == done() == ["1-2/a/0", "1-2/b/0", "1-2/a/1"]


def test_entries_without_a_known_event_have_no_key():
    assert next_key("a") == ""
    with caused_by("1-2"), caused_by(""):
        assert next_key("a") == ""


async def test_work_behind_a_hook_belongs_to_the_event_that_it_began_in():
    async def later() -> str:
        await asyncio.sleep(0)
        return next_key("a")

    with caused_by("1-2"):
        first = asyncio.create_task(later())
    with caused_by("3-4"):
        second = asyncio.create_task(later())
    assert await asyncio.gather(first, second) == ["1-2/a/0", "3-4/a/0"]


def test_the_thread_of_a_plugin_knows_the_event():
    worker = Worker("a")
    with caused_by("1-2"):
        future = worker.submit(next_key, "a")
    assert future.result(5).result == "1-2/a/0"
    worker.stop()

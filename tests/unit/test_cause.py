"""Tests of what names an entry across processes that do the same event again."""

from __future__ import annotations

import asyncio

from cognee_hooks import hookimpl
from cognee_hooks.cause import caused_by, next_key
from cognee_hooks.deadline import Deadline
from cognee_hooks.dryrun import DryRunClient
from cognee_hooks.events import PostToolUse
from cognee_hooks.guard import Worker
from cognee_hooks.host import Host
from cognee_hooks.results import StoreReceipt, StoreState


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


async def test_what_capture_stores_for_an_event_has_a_key_that_stays(isolated_environment):
    requests = []

    class Keeper:
        @hookimpl
        def cognee_store_entry(self, request):
            requests.append(request)
            return StoreReceipt(state=StoreState.BUFFERED)

    for _ in range(2):
        host = Host(
            "claude-code",
            environ={"HOME": str(isolated_environment)},
            session_id="claude_s",
            plugins={"keeper": Keeper()},
            client=DryRunClient(),
            entry_points=(),
        )
        await host.start()
        with caused_by("1-2"):
            await host.dispatch(PostToolUse(session_id="claude_s", tool_name="Bash"))
        await host.close(Deadline.after(5))
    assert [request.key for request in requests] == ["1-2/capture/0"] * 2

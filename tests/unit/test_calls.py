"""Calls of tools and commands, as all callers make them; more in the tests of channel and reach."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cognee_hooks import hookimpl
from cognee_hooks.caller import Caller, called_by, dialogs_of_caller, progress_of_caller
from cognee_hooks.calls import (
    MAX_ANSWER_BYTES,
    WITHHELD,
    find_command,
    run_command,
    tools_of,
    use_tool,
)
from cognee_hooks.deadline import Deadline
from cognee_hooks.dialogs import NoDialogs
from cognee_hooks.errors import CallFailed, RedactionFailed
from cognee_hooks.host import Host
from cognee_hooks.results import Command, Failure, Tool
from tests.support.scripted import ScriptedClient
from tests.support.waiting import PATIENCE


def host_with(home: Path, run: Callable[[Any], Any]) -> Host:
    class Plugin:
        def __init__(self, context: Any) -> None:
            pass

        @hookimpl
        def cognee_register_tools(self) -> Tool:
            return Tool(name="cognee_x", description="d", parameters={}, run=run)

        @hookimpl
        def cognee_register_commands(self) -> Command:
            return Command(name="x", help="h", run=run)

    return Host(
        "a",
        environ={"HOME": str(home)},
        client=ScriptedClient(),
        plugins={"test": Plugin},
        entry_points=(),
    )


def soon() -> Deadline:
    return Deadline.after(PATIENCE)


async def test_a_plugin_that_is_no_coroutine_function_breaks_like_one(isolated_environment):
    def run(_: Any) -> Any:
        raise LookupError("at once")

    host = host_with(isolated_environment, run)
    with pytest.raises(CallFailed, match=r"cognee_x failed \(LookupError\)"):
        await use_tool(host, "cognee_x", {}, soon())
    with pytest.raises(CallFailed, match=r"x failed \(LookupError\)"):
        await run_command(host, "x", "", soon())


async def test_how_long_a_call_took_is_told_in_tenths_of_a_second(isolated_environment):
    async def run(_: Any) -> str:
        await asyncio.sleep(PATIENCE)
        return ""

    host = host_with(isolated_environment, run)
    with pytest.raises(CallFailed, match=r"^cognee_x took more than 0\.[23] s and was given up\.$"):
        await use_tool(host, "cognee_x", {}, Deadline.after(0.3))


async def test_what_is_no_text_is_no_answer(isolated_environment):
    async def run(_: Any) -> Any:
        return 5

    host = host_with(isolated_environment, run)
    with pytest.raises(CallFailed, match=r"failed \(int\)"):
        await use_tool(host, "cognee_x", {}, soon())


async def test_an_answer_without_end_is_cut_and_a_failure_stays_one(isolated_environment):
    async def run(_: Any) -> str:
        return Failure("x" * (MAX_ANSWER_BYTES * 2))

    host = host_with(isolated_environment, run)
    answer = await run_command(host, "cognee-x", "", soon())
    assert isinstance(answer, Failure)
    assert len(answer.encode()) <= MAX_ANSWER_BYTES


async def test_what_cannot_be_redacted_is_withheld(isolated_environment, monkeypatch):
    async def run(_: Any) -> str:
        return "text"

    async def closed(*_: Any, **__: Any) -> Any:
        raise RedactionFailed("rules", "ValueError")

    host = host_with(isolated_environment, run)
    monkeypatch.setattr(host, "redact", closed)
    assert await use_tool(host, "cognee_x", {}, soon()) == WITHHELD


async def test_commands_go_by_their_own_name_and_the_one_that_agents_show(isolated_environment):
    async def run(_: Any) -> str:
        return ""

    host = host_with(isolated_environment, run)
    for name in ("x", "cognee-x", "doctor", "cognee-doctor", "cognee"):
        assert find_command(host, name) is not None
    assert find_command(host, "y") is None
    with pytest.raises(CallFailed, match="no command y"):
        await run_command(host, "y\x1b[31m", "", soon())
    assert "cognee_x" in [each["name"] for each in tools_of(host)]


async def test_each_call_asks_and_tells_whoever_made_it():
    shown: dict[str, list[str]] = {"one": [], "two": []}
    person = NoDialogs()

    async def work(name: str) -> None:
        with called_by(
            Caller(dialogs=person if name == "one" else None, progress=shown[name].append)
        ):
            await asyncio.sleep(0)
            progress_of_caller(print)(name)
            other = NoDialogs()
            assert dialogs_of_caller(other) is (person if name == "one" else other)

    await asyncio.gather(work("one"), work("two"))
    assert shown == {"one": ["one"], "two": ["two"]}
    assert progress_of_caller(print) is print

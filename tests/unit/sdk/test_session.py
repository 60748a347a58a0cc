"""The life of a host inside a program, and calls into it that must not hurt the program."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path

import pytest

from cognee_hooks import Deadline, hookimpl
from cognee_hooks.errors import FailureKind, UsageError
from cognee_hooks.events import Stop, UserPromptSubmit
from cognee_hooks.host import Host
from cognee_hooks.results import Failure, Tool
from cognee_hooks.sdk.session import contained, contained_call, running, tell, tools
from tests.support.plugins import HANG
from tests.support.scripted import ENTRY, ScriptedClient, fails
from tests.support.waiting import PATIENCE, turns, until


class Recorder:
    """Notes the life of a session down."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    @hookimpl
    async def cognee_session_start(self, event):
        self.seen.append(f"start {event.session_id}")

    @hookimpl
    async def cognee_session_end(self, event):
        self.seen.append(f"end {event.session_id}")


class Client(ScriptedClient):
    """Knows whether it was closed."""

    closed = False

    async def aclose(self) -> None:
        self.closed = True
        await super().aclose()


def make_host(home: Path, client: ScriptedClient, *, blocked: str = "", **plugins: object) -> Host:
    return Host(
        "agent",
        environ={"HOME": str(home), "COGNEE_HOOKS_DISABLE": blocked},
        session_id="s1",
        client=client,
        plugins=plugins,
        entry_points=(),
    )


async def turn(host: Host) -> None:
    await host.user_prompt_submit(UserPromptSubmit(session_id="s1", prompt="a question"))
    await host.stop(Stop(session_id="s1", last_assistant_message="an answer"))


async def test_a_block_begins_and_ends_the_session_and_closes_the_host(isolated_environment):
    recorder, client = Recorder(), Client()
    host = make_host(isolated_environment, client, recorder=recorder)
    async with running(host) as same:
        assert same is host
        await until(lambda: recorder.seen)
        await turn(host)
    assert recorder.seen == ["start s1", "end s1"]
    assert client.closed
    assert [each["answer"] for each in client.entries] == ["an answer"]


async def test_a_block_that_raises_still_sends_what_was_captured(isolated_environment):
    recorder, client = Recorder(), Client()

    async def program() -> None:
        async with running(make_host(isolated_environment, client, recorder=recorder)) as host:
            await turn(host)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await program()
    assert recorder.seen[-1] == "end s1"
    assert client.closed
    assert client.entries


async def test_a_block_that_is_cancelled_still_closes_the_host(isolated_environment):
    client, working = Client(), asyncio.Event()

    async def program():
        async with running(make_host(isolated_environment, client)) as host:
            await turn(host)
            working.set()
            await asyncio.sleep(HANG)

    task = asyncio.create_task(program())
    await asyncio.wait_for(working.wait(), PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert client.closed
    assert client.entries


async def test_what_could_not_be_sent_is_logged(isolated_environment, caplog):
    client = Client()
    client.scripts[ENTRY] = fails(FailureKind.UNREACHABLE)
    started = time.monotonic()
    host = make_host(isolated_environment, client, blocked="bridge")
    async with running(host, close_seconds=0.5):
        await turn(host)
    assert time.monotonic() - started < PATIENCE
    assert "1 captured entries could not be sent" in caplog.text


async def test_what_could_not_be_sent_is_kept_for_the_next_run(isolated_environment, caplog):
    client = Client()
    client.scripts[ENTRY] = fails(FailureKind.UNREACHABLE)
    async with running(make_host(isolated_environment, client), close_seconds=0.5) as host:
        await turn(host)
    assert host.waiting == 1
    assert "could not be sent" not in caplog.text
    client = Client()
    async with running(make_host(isolated_environment, client)) as host:
        await until(lambda: client.entries)


@pytest.mark.expects_faults
async def test_faults_are_contained_and_counted(isolated_environment):
    host = make_host(isolated_environment, ScriptedClient())

    async def broken():
        raise SystemExit(3)

    def broken_at_once():
        raise ValueError("never shown")

    for work in (broken, broken_at_once):
        assert await contained(host, "sdk", "on_end", work, Deadline.after(PATIENCE)) is None
    assert contained_call(host, "sdk", "on_filter", broken_at_once) is None
    assert {(row.plugin, row.hook, row.error_type) for row in host.faults.rows()} == {
        ("sdk", "on_end", "SystemExit"),
        ("sdk", "on_end", "ValueError"),
        ("sdk", "on_filter", "ValueError"),
    }


@pytest.mark.expects_faults
async def test_slow_work_is_left_at_its_deadline(isolated_environment):
    host = make_host(isolated_environment, ScriptedClient())
    started = time.monotonic()
    done = await contained(
        host, "sdk", "on_end", lambda: asyncio.sleep(HANG, "late"), Deadline.after(0.05)
    )
    assert done is None
    assert time.monotonic() - started < PATIENCE
    assert host.faults.rows()[0].error_type == "TimeoutError"


async def test_the_programs_own_cancellation_passes(isolated_environment):
    host = make_host(isolated_environment, ScriptedClient())
    task = asyncio.create_task(
        contained(host, "sdk", "on_end", lambda: asyncio.sleep(HANG), Deadline.after(HANG))
    )
    await turns()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.expects_faults
async def test_five_faults_in_a_row_switch_off_and_a_success_ends_the_row(isolated_environment):
    host = make_host(isolated_environment, ScriptedClient())
    called: list[int] = []

    def broken():
        called.append(1)
        raise ValueError

    for _ in range(4):
        contained_call(host, "sdk", "on_end", broken)
    assert contained_call(host, "sdk", "on_end", lambda: "fine") == "fine"
    for _ in range(7):
        contained_call(host, "sdk", "on_end", broken)
    assert len(called) == 4 + 5
    assert (
        await contained(
            host, "sdk", "on_end", lambda: asyncio.sleep(0, 1), Deadline.after(PATIENCE)
        )
        is None
    )
    assert contained_call(host, "sdk", "elsewhere", lambda: "fine") == "fine"


def test_notices_are_logged_once(isolated_environment, caplog):
    host = make_host(isolated_environment, ScriptedClient())
    host.say("Something to know, 100 %.")
    with caplog.at_level(logging.WARNING):
        tell(host)
        tell(host)
    assert [record.getMessage() for record in caplog.records] == ["Something to know, 100 %."]


class Tools:
    """A tool that answers, refuses, or takes for ever."""

    def __init__(self, context):
        pass

    @hookimpl
    def cognee_register_tools(self):
        async def run(arguments):
            match arguments.get("do"):
                case "refuse":
                    raise UsageError("say more")
                case "hang":
                    await asyncio.sleep(HANG)
            return f"{arguments['word']} is blue"

        return Tool(name="cognee_look", description="Look.", parameters=SCHEMA, run=run)


SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}}


async def test_the_tools_of_the_plugins_are_callables_with_schemas(isolated_environment):
    host = make_host(isolated_environment, ScriptedClient(), tools=Tools)
    async with running(host):
        found = {tool.name: tool for tool in tools(host)}
        assert {"cognee_look", "cognee_remember", "cognee_recall"} <= set(found)
        look = found["cognee_look"]
        assert (look.description, look.parameters) == ("Look.", SCHEMA)
        assert await look(word="sky") == "sky is blue"
        assert await look.call({"word": "sea"}) == "sea is blue"


async def test_a_tool_that_fails_says_so_and_raises_nothing(isolated_environment):
    host = make_host(isolated_environment, ScriptedClient(), tools=Tools)
    async with running(host):
        [look] = [tool for tool in tools(host, seconds=0.05) if tool.name == "cognee_look"]
        for arguments, told in [
            ({"do": "refuse"}, "say more"),
            ({"do": "hang"}, "was given up"),
            ({}, "KeyError"),
        ]:
            answer = await look.call(arguments)
            assert isinstance(answer, Failure)
            assert told in answer

"""The MCP server as a process: what goes over its pipes, and how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import mcp_types as types
import pytest
from mcp import Client, ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from cognee_hooks.caller import Caller
from cognee_hooks.cli import main
from cognee_hooks.daemon import control
from cognee_hooks.deadline import Deadline
from cognee_hooks.embedded import EmbeddedServer
from cognee_hooks.errors import CallFailed, UsageError
from cognee_hooks.mcp import proxy as module
from cognee_hooks.mcp.dialogs import ClientDialogs
from cognee_hooks.mcp.proxy import MAX_ANSWER_BYTES, Proxy
from cognee_hooks.mcp.server import make_server
from cognee_hooks.reach import Answer, Offer, Whereabouts
from tests.support.command import install_plugin
from tests.support.daemon import agent_environment, folder_of, stop_daemon
from tests.support.servers import mint_key
from tests.support.waiting import until

CALLER = Caller(dialogs=None, progress=lambda _: None)
NOISY = """
import sys
from cognee_hooks import hookimpl
from cognee_hooks.results import Tool

print("noise at import")

class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def cognee_register_tools(self):
        async def run(arguments):
            print("noise in a call")
            sys.__stdout__.write("more noise\\n")
            return "x" * arguments.get("size", 1)

        return Tool(name="cognee_noise", description="Noise.", parameters={}, run=run)

plugin = Plugin
"""


@asynccontextmanager
async def client(environ: dict[str, str]) -> AsyncIterator[ClientSession]:
    """A client of the official SDK, which takes nothing but the protocol on standard output."""
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "cognee_hooks", "mcp"], env=environ
    )
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        yield session


async def test_tools_are_served_by_a_daemon_that_is_started_and_stdout_carries_the_protocol_only(
    isolated_environment: Path, tmp_path: Path
):
    environ = agent_environment(isolated_environment)
    environ["PYTHONPATH"] = install_plugin(tmp_path, "noisy", NOISY)
    try:
        async with client(environ) as session:
            tools = (await session.list_tools()).tools
            names = {tool.name for tool in tools}
            reading = {tool.name for tool in tools if tool.annotations is not None}
            assert reading == {"cognee_code", "cognee_recall", "cognee_search"}
            assert {"cognee_recall", "cognee_remember", "cognee_sync", "cognee_noise"} <= names
            done = await session.call_tool("cognee_noise", {"size": 50_000})
            assert not done.is_error
            [content] = done.content
            assert content.type == "text"
            assert 0 < len(content.text) <= MAX_ANSWER_BYTES
            refused = await session.call_tool("cognee_nope", {})
            assert refused.is_error
            folder = folder_of(environ)
            status = await until(lambda: control.ask(folder, "status"), "a daemon")
            os.kill(status["pid"], signal.SIGKILL)
            # Its first thread may be gone before the others, which still hold its files.
            await until(lambda: not control.runs(folder), "the end of the daemon")
            done = await session.call_tool("cognee_noise", {})
            assert not done.is_error
            await until(lambda: control.ask(folder, "status"), "another daemon")
    finally:
        stop_daemon(environ)


def test_without_the_sdk_a_sentence_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "cognee_hooks.mcp.server", None)
    assert main(["mcp"]) == 1
    assert "pip install 'cognee-hooks[mcp]'" in capsys.readouterr().err


# -- the proxy by itself --------------------------------------------------------------------------


class Own:
    offer = Offer(tools=[{"name": "cognee_x"}], commands={})

    def __init__(self) -> None:
        self.calls: list[Any] = []

    async def call(self, call: Any, caller: Any, deadline: Any) -> Answer:
        self.calls.append(call)
        return Answer(text="own", failed=False)

    async def close(self) -> None:
        pass


@pytest.fixture
def made(isolated_environment: Path, monkeypatch) -> Proxy:
    own = Own()
    openings: list[Any] = []

    async def make(*_: Any) -> Own:
        return own

    async def no_line(_: Any, opening: Any, __: Any) -> None:
        openings.append(opening)

    monkeypatch.setattr(module, "make_own", make)
    monkeypatch.setattr(module, "open_line", no_line)
    monkeypatch.setattr(module, "spawn_detached", lambda *_, **__: 0)
    where = Whereabouts(
        environ={"HOME": str(isolated_environment), "CLAUDE_CODE_SESSION_ID": "c1"},
        cwd="/",
        pid=os.getppid(),
    )
    found = Proxy(where)
    found.openings = openings  # type: ignore[attr-defined]
    return found


async def test_an_agent_that_names_its_conversation_with_the_call_is_believed(made):
    meta = {"sessionId": "s1", "threadId": "t1", "other": 5}
    answer = await made.call("cognee_x", {}, meta, CALLER)
    assert answer == Answer(text="own", failed=False)
    environ = made.openings[-1].environ
    assert (environ["CODEX_SESSION_ID"], environ["CODEX_THREAD_ID"]) == ("s1", "t1")
    assert made._served == {"claude_c1", "codex_s1"}
    await made.call("cognee_x", {}, {"sessionId": 5}, CALLER)
    assert "CODEX_SESSION_ID" not in made.openings[-1].environ


async def test_without_a_daemon_nothing_has_to_be_told_when_it_ends(made):
    await made.left()
    await made.close()


async def test_what_goes_wrong_is_an_answer(made, monkeypatch):
    async def refuses(*_: Any) -> None:
        raise UsageError("several live sessions may be meant")

    monkeypatch.setattr(module, "open_line", refuses)
    answer = await made.call("cognee_x", {}, {}, CALLER)
    assert answer == Answer(text="several live sessions may be meant", failed=True)
    assert [each["name"] for each in (await made.offer()).tools] == ["cognee_x"]


async def test_a_client_gets_no_tools_where_nothing_can_be_found_out(made, monkeypatch):
    async def fails(*_: Any) -> None:
        raise CallFailed("plugins took too long")

    monkeypatch.setattr(module, "make_own", fails)
    async with Client(make_server(made)) as session:
        assert (await session.list_tools()).tools == []
        done = await session.call_tool("cognee_x", {})
        assert done.is_error


async def test_a_client_that_asks_for_it_hears_how_far_a_call_is(made, monkeypatch):
    class Slow(Own):
        async def call(self, call: Any, caller: Any, deadline: Any) -> Answer:
            caller.progress("one")
            await asyncio.to_thread(caller.progress, "two")
            await asyncio.sleep(0.05)
            return Answer(text="done", failed=False)

    async def make(*_: Any) -> Own:
        return Slow()

    heard: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    monkeypatch.setattr(module, "make_own", make)
    async with Client(make_server(made)) as session:
        await session.call_tool("cognee_x", {}, progress_callback=hear)
    assert heard == ["one", "two"]


# -- questions to the person ----------------------------------------------------------------------


class Asking(Own):
    """Asks whoever calls, as a tool that deletes does."""

    def __init__(self, seconds: float = 5.0) -> None:
        super().__init__()
        self.seconds = seconds
        self.answers: list[object] = []

    async def call(self, call: Any, caller: Any, deadline: Any) -> Answer:
        limit = Deadline.after(self.seconds)
        if caller.dialogs is None:
            self.answers.append("nobody to ask")
        elif call.name == "confirm":
            self.answers.append(await caller.dialogs.confirm("Delete it?", "For good.", limit))
        else:
            self.answers.append(await caller.dialogs.select("Which?", ["a", "b"], limit))
        return Answer(text="done", failed=False)


@pytest.fixture
def asked(made, monkeypatch):
    """Has a tool ask a client that answers in one way; returns what the tool was told."""

    async def ask(name: str, answer: Any, seconds: float = 5.0) -> tuple[object, list[Any]]:
        own, forms = Asking(seconds), []

        async def make(*_: Any) -> Own:
            return own

        async def fill(context: Any, form: types.ElicitRequestParams) -> Any:
            forms.append(form)
            return await answer() if callable(answer) else answer

        monkeypatch.setattr(module, "make_own", make)
        callback = None if answer is None else fill
        server = make_server(made)
        # The newest protocol has no requests of servers.
        async with Client(server, mode="legacy", elicitation_callback=callback) as session:
            await session.call_tool(name, {})
        return own.answers[0], forms

    return ask


def filled(value: Any, action: str = "accept") -> types.ElicitResult:
    return types.ElicitResult(action=action, content={"answer": value})


@pytest.mark.parametrize(
    ("answer", "agreed"),
    [
        (filled(True), True),
        (filled(False), False),  # the form was sent off without being read
        (filled(True, "decline"), False),
        (types.ElicitResult(action="cancel"), False),
        (types.ElicitResult(action="accept"), False),
        (filled("true"), False),
        (filled(1), False),
        (types.ErrorData(code=types.INTERNAL_ERROR, message="no forms today"), False),
    ],
)
async def test_only_a_clear_yes_in_a_clients_form_is_one(asked, answer, agreed):
    told, [form] = await asked("confirm", answer)
    assert told is agreed
    assert form.message == "Delete it?\nFor good."
    assert form.requested_schema["properties"]["answer"]["default"] is False


@pytest.mark.parametrize(
    ("answer", "chosen"), [(filled("b"), "b"), (filled("c"), None), (filled("a", "decline"), None)]
)
async def test_a_client_may_choose_only_what_was_offered(asked, answer, chosen):
    told, [form] = await asked("select", answer)
    assert told == chosen
    assert form.requested_schema["properties"]["answer"]["enum"] == ["a", "b"]


async def test_a_client_that_does_not_answer_in_time_has_said_no(asked):
    async def never() -> None:
        await asyncio.sleep(30)

    told, _ = await asked("confirm", never, seconds=0.1)
    assert told is False


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"action": "perhaps", "content": {"answer": True}},
        {"action": "accept", "content": [True]},
        {"action": "accept", "content": {"answer": True, "more": {}}},
    ],
)
async def test_a_client_whose_answer_is_none_of_the_protocol_has_said_no(answer):
    async def elicit_form(*_: Any) -> types.ElicitResult:
        return types.ElicitResult.model_validate(answer)  # as the session does

    session = SimpleNamespace(elicit_form=elicit_form)
    dialogs = ClientDialogs(SimpleNamespace(session=session, request_id=1))  # type: ignore[arg-type]
    assert await dialogs.confirm("Delete it?", "For good.", Deadline.after(5)) is False
    assert await dialogs.select("Which?", ["a"], Deadline.after(5)) is None


async def test_a_client_without_forms_is_not_asked(asked):
    assert await asked("confirm", None) == ("nobody to ask", [])


@pytest.mark.parametrize(
    ("modes", "asks"),
    [({}, True), ({"form": {}}, True), ({"url": {}}, False), (None, False)],
)
def test_a_client_is_asked_where_it_shows_forms(modes, asks):
    can = None if modes is None else types.ElicitationCapability.model_validate(modes)
    session = SimpleNamespace(client_capabilities=types.ClientCapabilities(elicitation=can))
    assert (ClientDialogs.of(SimpleNamespace(session=session)) is not None) is asks  # type: ignore[arg-type]


async def test_a_dataset_is_forgotten_after_a_yes_in_the_clients_form_and_not_before(
    isolated_environment: Path, tmp_path: Path, monkeypatch
):
    answers = [filled(False), filled(True)]
    forms: list[str] = []

    async def fill(_: Any, form: types.ElicitRequestParams) -> types.ElicitResult:
        forms.append(form.message)
        return answers.pop(0)

    monkeypatch.setattr(module, "spawn_detached", lambda *_, **__: 0)
    forget = {"dataset": "old-notes", "entire_dataset": True}
    with EmbeddedServer(tmp_path / "memory.db") as memory:
        key = mint_key(memory.url)
        environ = agent_environment(isolated_environment, memory.url, COGNEE_API_KEY=key)
        headers = {"X-Api-Key": key}
        async with httpx.AsyncClient(base_url=memory.url, headers=headers, timeout=30) as api:
            await api.post("/api/v1/datasets", json={"name": "old-notes"})
            proxy = Proxy(Whereabouts(environ=environ, cwd=str(tmp_path), pid=os.getpid()))
            server = make_server(proxy)
            async with Client(server, mode="legacy", elicitation_callback=fill) as session:
                refused = await session.call_tool("cognee_forget", forget)
                there = (await api.get("/api/v1/datasets")).json()
                done = await session.call_tool("cognee_forget", forget)
            await proxy.close()
            left = (await api.get("/api/v1/datasets")).json()
    assert (refused.is_error, done.is_error) == (True, False)
    assert "Permanently delete the ENTIRE dataset 'old-notes'" in forms[0]
    assert "old-notes" in {row["name"] for row in there}
    assert "old-notes" not in {row["name"] for row in left}


async def test_what_can_be_called_is_known_before_there_is_a_session(made):
    assert [each["name"] for each in (await made.offer()).tools] == ["cognee_x"]
    assert json.dumps((await made.offer()).tools)

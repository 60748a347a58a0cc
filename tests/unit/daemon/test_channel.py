"""The daemon's side of a channel, over a pair of sockets, with a session of the test's own."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any, Self

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cognee_hooks import hookimpl
from cognee_hooks.daemon import channel as module
from cognee_hooks.daemon.channel import Channel
from cognee_hooks.daemon.connection import ConnectionNews
from cognee_hooks.daemon.protocol import NotInCharge
from cognee_hooks.daemon.thin_client import VERSION
from cognee_hooks.deadline import Deadline
from cognee_hooks.dialogs import NoDialogs
from cognee_hooks.errors import UsageError
from cognee_hooks.events import ServerStateChanged
from cognee_hooks.host import Host
from cognee_hooks.results import Command, Failure, Tool
from tests.support.scripted import ScriptedClient
from tests.support.waiting import PATIENCE, turns

SECONDS = PATIENCE


class Odd:
    """No JSON."""


class Plugin:
    """Tools and commands of every kind."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self.status = "calm"
        self.go = asyncio.Event()

    @hookimpl
    def cognee_register_tools(self) -> list[Tool]:
        runs = {
            "cognee_echo": self.echo,
            "cognee_raise": self.fail,
            "cognee_exit": self.leave,
            "cognee_usage": self.misuse,
            "cognee_number": self.number,
            "cognee_slow": self.wait,
        }
        tools = [
            Tool(name=name, description="Does it.", parameters={"type": "object"}, run=run)
            for name, run in runs.items()
        ]
        odd = Tool(name="cognee_odd", description="", parameters={"x": Odd()}, run=self.echo)
        return [*tools, odd]

    @hookimpl
    def cognee_register_commands(self) -> list[Command]:
        return [
            Command(name="ask", help="Asks\x1b[31m.", run=self.ask),
            Command(name="cognee-choose", help="Lets choose.", run=self.choose),
        ]

    @hookimpl
    async def cognee_render_status(self) -> str:
        return self.status

    async def echo(self, arguments: Mapping[str, Any]) -> str:
        return f"{arguments['text']}\x1b[31m\r\nred"

    async def fail(self, arguments: Mapping[str, Any]) -> str:
        raise LookupError("sk-" + "secret")

    async def leave(self, arguments: Mapping[str, Any]) -> str:
        raise SystemExit(3)

    async def misuse(self, arguments: Mapping[str, Any]) -> str:
        raise UsageError("Give a text.")

    async def number(self, arguments: Mapping[str, Any]) -> Any:
        return 5

    async def wait(self, arguments: Mapping[str, Any]) -> str:
        await self.go.wait()
        return "waited"

    async def ask(self, text: str) -> str:
        sure = await self.context.confirm("Sure\x07?", text, Deadline.after(float(text or 5)))
        return f"sure: {sure}"

    async def choose(self, text: str) -> str:
        chosen = await self.context.select("Which?", ["a\x07", "b"], Deadline.after(SECONDS))
        return f"chosen: {chosen!r}"


class Session:
    """A session and the link to it."""

    def __init__(self, host: Host | None) -> None:
        self.host = host
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.answer: Any = '{"context": "remembered"}'
        self.error: BaseException | None = None
        self.go = asyncio.Event()
        self.go.set()
        self.ends = 0
        self.changed = asyncio.Event()
        self.sessions_asked_for = 0

    @property
    def session(self) -> Session:
        self.sessions_asked_for += 1
        return self

    async def ready(self) -> Host | None:
        return self.host

    async def handle(self, event: str, payload: Mapping[str, Any]) -> str:
        self.events.append((event, dict(payload)))
        self.changed.set()
        await self.go.wait()
        if self.error is not None:
            raise self.error
        return self.answer

    async def ended(self) -> None:
        self.ends += 1

    async def taken(self, count: int) -> None:
        """Wait until so many events have been taken."""
        async with asyncio.timeout(SECONDS):
            while len(self.events) < count:
                self.changed.clear()
                await self.changed.wait()


class Peer:
    """The agent's end of a channel."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.aside: list[dict[str, Any]] = []

    def send(self, **message: Any) -> None:
        self.writer.write(json.dumps(message).encode() + b"\n")

    async def receive(self, *wanted: str) -> dict[str, Any]:
        """The next message that has one of these keys; others are put aside."""
        async with asyncio.timeout(SECONDS):
            while True:
                message: dict[str, Any] = json.loads(await self.reader.readuntil(b"\n"))
                if not wanted or set(wanted) & set(message):
                    return message
                self.aside.append(message)

    async def ask(self, **message: Any) -> dict[str, Any]:
        self.send(**message)
        return await self.receive("id")

    async def closed(self) -> bool:
        async with asyncio.timeout(SECONDS):
            with suppress(OSError):
                await self.reader.read()
            return True


class NoNews:
    """Says nothing of the connection; what it says is tested apart."""

    def take(self, host: Host) -> None:
        return None


class Talk:
    """A channel being served, and its peer."""

    def __init__(self, session: Session, plugin: Plugin | None, **options: Any) -> None:
        self.session = session
        self.plugin = plugin
        self._options = options

    async def __aenter__(self) -> Self:
        ours, theirs = socket.socketpair()
        self._reader, self._writer = await asyncio.open_connection(sock=ours, limit=1024)
        peer = await asyncio.open_connection(sock=theirs, limit=64 * 1024 * 1024)
        self.peer = Peer(*peer)
        self.channel = Channel(self._reader, self._writer, self.session, **self._options)
        self.serving = asyncio.create_task(self.channel.serve())
        return self

    async def __aexit__(self, *_: object) -> None:
        self.peer.writer.close()
        async with asyncio.timeout(SECONDS):
            await asyncio.wait({self.serving})
        for writer in (self.peer.writer, self._writer):
            with suppress(OSError):
                await writer.wait_closed()


@pytest.fixture
async def talk(isolated_environment, monkeypatch) -> AsyncIterator[Talk]:
    made: list[Plugin] = []

    def factory(context: Any) -> Plugin:
        made.append(Plugin(context))
        return made[-1]

    host = Host(
        "pi",
        environ={"HOME": str(isolated_environment), "COGNEE_HOOKS_PLUGINS": "test"},
        session_id="pi_s1",
        client=ScriptedClient(),
        entry_points=(),
        plugins={"test": factory},
    )
    await host.start()
    monkeypatch.setattr(module, "GREET_SECONDS", PATIENCE)
    monkeypatch.setattr(module, "ConnectionNews", NoNews)
    async with Talk(Session(host), made[0], tool_seconds=SECONDS) as talking:
        yield talking
    await host.close(Deadline.after(PATIENCE))


@pytest.fixture
async def greeted(talk: Talk) -> Talk:
    talk.hello = (await talk.peer.receive("hello"))["hello"]
    return talk


# -- greeting --------------------------------------------------------------------------------------


def test_a_greeting_says_what_the_plugins_offer(greeted: Talk):
    hello = greeted.hello
    assert hello["version"] == VERSION
    assert hello["status"] == "calm"
    assert hello["tools"][0] == {
        "name": "cognee_echo",
        "description": "Does it.",
        "parameters": {"type": "object"},
    }
    # A schema that is no JSON costs that tool alone.
    assert len(hello["tools"]) == 6
    own, others = hello["commands"][:2], hello["commands"][2:]
    assert [each["name"] for each in own] == ["cognee", "cognee-doctor"]
    assert others == [
        {"name": "cognee-ask", "help": "Asks."},
        {"name": "cognee-choose", "help": "Lets choose."},
    ]


async def test_a_session_whose_plugins_hang_is_greeted_without_them(monkeypatch):
    class Hanging(Session):
        async def ready(self) -> Host | None:
            await asyncio.sleep(60)
            return None

    monkeypatch.setattr(module, "GREET_SECONDS", 0.05)
    async with Talk(Hanging(None), None) as talking:
        assert (await talking.peer.receive("hello"))["hello"]["tools"] == []
        talking.serving.cancel()


async def test_a_channel_that_is_closed_hears_of_no_server_any_more(talk: Talk):
    await talk.peer.receive("hello")
    health = talk.session.host.services.health
    before = len(health._subscribers)
    talk.peer.writer.close()
    await asyncio.wait({talk.serving})
    assert len(health._subscribers) == before - 1


async def test_without_a_host_the_greeting_is_empty_and_events_are_still_taken():
    async with Talk(Session(None), None) as talk:
        hello = (await talk.peer.receive())["hello"]
        assert hello == {"version": VERSION, "tools": [], "commands": [], "status": ""}
        answer = await talk.peer.ask(id=1, event="agent_end", payload={"a": 1})
        assert answer == {"id": 1, "answer": {"context": "remembered"}}
        error = (await talk.peer.ask(id=2, tool="cognee_echo", arguments={}))["error"]
        assert error == "There is no tool cognee_echo in this session."
        error = (await talk.peer.ask(id=3, command="cognee-ask", arguments=""))["error"]
        assert error == "There is no command cognee-ask in this session."


# -- events ----------------------------------------------------------------------------------------


async def test_an_event_is_answered_with_the_adapters_document(greeted: Talk):
    answer = await greeted.peer.ask(id=7, event="before_agent_start", payload={"prompt": "hi"})
    assert answer == {"id": 7, "answer": {"context": "remembered"}}
    assert greeted.session.events == [("before_agent_start", {"prompt": "hi"})]


@pytest.mark.parametrize("answer", ["", "[1]", "nonsense", None, 5])
async def test_what_is_no_document_answers_nothing(greeted: Talk, answer: Any):
    greeted.session.answer = answer
    assert await greeted.peer.ask(id=1, event="x", payload={}) == {"id": 1, "answer": {}}


async def test_an_event_that_fails_answers_nothing_and_the_next_is_taken(greeted: Talk):
    greeted.session.error = RuntimeError("broken")
    assert await greeted.peer.ask(id=1, event="x", payload={}) == {"id": 1, "answer": {}}
    greeted.session.error = None
    assert (await greeted.peer.ask(id=2, event="x", payload={}))["answer"]


async def test_an_event_that_another_daemon_has_to_take_is_not_answered(greeted: Talk):
    """The agent hands over again what was not answered, once the channel is closed."""
    greeted.session.error = NotInCharge()
    greeted.peer.send(id=1, event="x", payload={})
    async with asyncio.timeout(SECONDS):
        assert b'"answer"' not in await greeted.peer.reader.read()


async def test_events_begin_in_their_order_and_none_waits_for_another(greeted: Talk):
    greeted.session.go.clear()
    for number in range(1, 6):
        greeted.peer.send(id=number, event="x", payload={"number": number})
    await greeted.session.taken(5)
    assert [payload["number"] for _, payload in greeted.session.events] == [1, 2, 3, 4, 5]
    greeted.session.go.set()
    assert {(await greeted.peer.receive("id"))["id"] for _ in range(5)} == {1, 2, 3, 4, 5}


async def test_too_many_events_at_once_are_held_back_and_none_is_lost(
    greeted: Talk, monkeypatch: pytest.MonkeyPatch
):
    greeted.session.go.clear()
    count = module.MAX_EVENTS + 20
    for number in range(1, count + 1):
        greeted.peer.send(id=number, event="x", payload={})
    await greeted.session.taken(module.MAX_EVENTS)
    await turns()
    assert len(greeted.session.events) == module.MAX_EVENTS
    greeted.session.go.set()
    ids = {(await greeted.peer.receive("id"))["id"] for _ in range(count)}
    assert ids == set(range(1, count + 1))


async def test_events_that_came_before_the_agents_end_are_taken(greeted: Talk):
    greeted.session.go.clear()
    greeted.peer.send(id=1, event="x", payload={})
    greeted.peer.writer.close()
    await asyncio.sleep(0.05)
    greeted.session.go.set()
    await asyncio.wait_for(greeted.serving, SECONDS)
    assert len(greeted.session.events) == 1
    assert greeted.session.ends == 1


async def test_an_event_that_hangs_does_not_hold_up_the_agents_end_for_ever(
    greeted: Talk, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "ENDING_SECONDS", 0.1)
    greeted.session.go.clear()
    greeted.peer.send(id=1, event="x", payload={})
    greeted.peer.writer.close()
    await asyncio.wait_for(greeted.serving, SECONDS)
    assert greeted.session.ends == 1


async def test_an_event_that_ends_the_session_begins_no_other_one(greeted: Talk):
    asked = greeted.session.sessions_asked_for
    await greeted.peer.ask(id=1, event="session_shutdown", payload={})
    await asyncio.sleep(module.SETTLE_SECONDS + 0.1)
    assert greeted.session.sessions_asked_for == asked + 1


# -- notices and status ----------------------------------------------------------------------------


async def test_what_plugins_say_is_shown_after_an_event(greeted: Talk):
    greeted.session.host.say("The server\x1b[2J is away.")
    greeted.peer.send(id=1, event="x", payload={})
    notice = (await greeted.peer.receive("notice"))["notice"]
    assert notice == {"text": "The server is away.", "level": "warning"}


async def test_news_of_the_connection_are_for_the_screen(greeted: Talk):
    greeted.channel._news = ConnectionNews()
    await greeted.session.host.services.health.wait_ready(Deadline.after(SECONDS))
    greeted.peer.send(id=1, event="x", payload={})
    notice = (await greeted.peer.receive("notice"))["notice"]
    assert notice == {"text": "Cognee Memory Connected", "level": "info", "screen": True}


async def test_the_status_is_looked_at_again_while_entries_wait(greeted: Talk, monkeypatch):
    monkeypatch.setattr(module, "WAITING_SECONDS", 0.05)
    monkeypatch.setattr(module, "SETTLE_SECONDS", 0.01)
    monkeypatch.setattr(Host, "waiting", 2)
    await greeted.peer.ask(id=1, event="x", payload={})
    for status in ("two wait", "one waits", "none wait"):
        greeted.plugin.status = status
        assert await greeted.peer.receive("status") == {"status": status}


async def test_the_status_is_sent_when_it_changes(greeted: Talk):
    await greeted.peer.ask(id=1, event="x", payload={})
    greeted.plugin.status = "busy"
    await greeted.peer.ask(id=2, event="x", payload={})
    assert await greeted.peer.receive("status") == {"status": "busy"}
    assert greeted.peer.aside == []


async def test_what_plugins_say_a_moment_after_an_event_is_shown_too(greeted: Talk):
    await greeted.peer.ask(id=1, event="x", payload={})
    await asyncio.sleep(0.05)
    greeted.session.host.say("By the way.")
    assert (await greeted.peer.receive("notice"))["notice"]["text"] == "By the way."


async def test_what_plugins_say_when_the_servers_state_changes_is_shown(greeted: Talk):
    greeted.plugin.status = "offline"
    greeted.channel._server_changed(ServerStateChanged(previous="ok", current="offline"))
    greeted.channel._server_changed(ServerStateChanged(previous="offline", current="ok"))
    assert await greeted.peer.receive("status") == {"status": "offline"}


# -- tools and commands ----------------------------------------------------------------------------


async def test_a_tool_answers_with_clean_text(greeted: Talk):
    answer = await greeted.peer.ask(id=1, tool="cognee_echo", arguments={"text": "blue"})
    assert answer == {"id": 1, "text": "blue\nred", "level": "info"}


@pytest.mark.parametrize("text", ["⚠ Not found.", Failure("Not found.")])
async def test_what_did_not_work_is_told_as_a_warning(greeted: Talk, text: str):
    async def run(_: str) -> str:
        return text

    command = Command(name="look", help="Looks.", run=run)
    greeted.session.host.registered.commands["look"] = command
    answer = await greeted.peer.ask(id=1, command="cognee-look", arguments="")
    assert answer == {"id": 1, "text": str(text), "level": "warning"}


async def test_the_core_has_commands_of_its_own(greeted: Talk):
    answer = await greeted.peer.ask(id=1, command="cognee", arguments="")
    assert answer["text"].startswith("Cognee Memory — connected\nMode: ")
    answer = await greeted.peer.ask(id=2, command="cognee-doctor", arguments="")
    assert "Cognee Doctor — " in answer["text"]


async def test_a_call_that_is_cancelled_ends_and_is_not_answered(greeted: Talk):
    greeted.peer.send(id=1, tool="cognee_slow", arguments={})
    greeted.peer.send(cancel=99)
    greeted.peer.send(cancel=1)
    answer = await greeted.peer.ask(id=2, tool="cognee_echo", arguments={"text": "blue"})
    assert answer["id"] == 2
    assert 1 not in greeted.channel._calls


@pytest.mark.parametrize(
    ("tool", "error"),
    [
        ("cognee_raise", "cognee_raise failed (LookupError); see `cognee-hooks doctor`."),
        ("cognee_exit", "cognee_exit failed (SystemExit); see `cognee-hooks doctor`."),
        ("cognee_number", "cognee_number failed (int); see `cognee-hooks doctor`."),
        ("cognee_usage", "Give a text."),
        ("cognee_none\x1b[2J", "There is no tool cognee_none in this session."),
    ],
)
async def test_a_tool_that_fails_says_so_in_a_sentence(greeted: Talk, tool: str, error: str):
    answer = await greeted.peer.ask(id=1, tool=tool, arguments={})
    assert answer == {"id": 1, "error": error}
    assert (await greeted.peer.ask(id=2, event="x", payload={}))["answer"]


async def test_a_tool_that_takes_too_long_is_given_up(greeted: Talk):
    greeted.channel._tool_seconds = 0.5
    answer = await greeted.peer.ask(id=1, tool="cognee_slow", arguments={})
    assert re.fullmatch(r"cognee_slow took more than 0\.\d+ s and was given up\.", answer["error"])


async def test_tools_run_beside_events(greeted: Talk):
    greeted.session.go.clear()
    greeted.peer.send(id=1, event="before_agent_start", payload={})
    answer = await greeted.peer.ask(id=2, tool="cognee_echo", arguments={"text": "blue"})
    assert answer["id"] == 2
    greeted.session.go.set()
    assert (await greeted.peer.receive("id"))["id"] == 1


async def test_too_many_calls_at_once_are_refused(greeted: Talk):
    for number in range(module.MAX_CALLS + 1):
        greeted.peer.send(id=number, tool="cognee_slow", arguments={})
    refused = await greeted.peer.receive("id")
    assert refused == {
        "id": module.MAX_CALLS,
        "error": "Too much at once; try again in a moment.",
    }
    greeted.plugin.go.set()
    done = [await greeted.peer.receive("id") for _ in range(module.MAX_CALLS)]
    assert {each["text"] for each in done} == {"waited"}


async def test_a_very_long_answer_becomes_an_error(talk: Talk):
    talk.channel._lines._max_line = 2000
    await talk.peer.receive()
    call = {"id": 1, "tool": "cognee_echo", "arguments": {"text": "é" * 500}}
    talk.peer.writer.write(json.dumps(call, ensure_ascii=False).encode() + b"\n")
    answer = await talk.peer.receive("id")
    assert answer == {"id": 1, "error": "The answer is too long."}


# -- questions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "sure"),
    [({"value": True}, True), ({"value": False}, False), ({}, False), ({"value": "yes"}, False)],
)
async def test_a_command_can_ask_for_a_yes(greeted: Talk, reply: dict[str, Any], sure: bool):
    greeted.channel._tool_seconds = 2 * SECONDS
    greeted.peer.send(id=1, command="cognee-ask", arguments="40")
    question = await greeted.peer.receive("ask")
    seconds = question.pop("seconds")
    assert 40 - SECONDS < seconds <= 40
    assert question == {"ask": 1, "kind": "confirm", "title": "Sure?", "text": "40"}
    greeted.peer.send(reply=99, value=True)
    greeted.peer.send(reply=question["ask"], **reply)
    assert (await greeted.peer.receive("id"))["text"] == f"sure: {sure}"
    greeted.peer.send(reply=question["ask"], value=True)  # too late, and no harm


@pytest.mark.parametrize(
    ("value", "chosen"), [("a", "a\x07"), ("b", "b"), ("c", None), (None, None), ([1], None)]
)
async def test_a_command_can_let_the_person_choose(greeted: Talk, value: Any, chosen: str | None):
    greeted.peer.send(id=1, command="cognee-choose", arguments="")
    question = await greeted.peer.receive("ask")
    assert (question["kind"], question["options"]) == ("select", ["a", "b"])
    greeted.peer.send(reply=question["ask"], value=value)
    expected = None if chosen is None else chosen.removesuffix("\x07") + chosen[1:]
    text = (await greeted.peer.receive("id"))["text"]
    assert text == f"chosen: {expected!r}"


async def test_silence_is_a_no(greeted: Talk):
    answer = await greeted.peer.ask(id=1, command="cognee-ask", arguments="0.1")
    while "ask" in answer:
        answer = await greeted.peer.receive("id")
    assert answer["text"] == "sure: False"


async def test_a_question_is_answered_no_when_the_agent_goes(greeted: Talk):
    host = greeted.session.host
    asking = asyncio.create_task(host.dialogs.confirm("Sure?", "", Deadline.after(30)))
    await greeted.peer.receive("ask")
    greeted.peer.writer.close()
    assert await asyncio.wait_for(asking, SECONDS) is False
    assert await host.dialogs.select("Which?", ["a"], Deadline.after(30)) is None


async def test_where_nobody_can_be_asked_the_answer_is_no():
    dialogs = NoDialogs()
    assert not await dialogs.confirm("Sure?", "", Deadline.after(1))
    assert await dialogs.select("Which?", ["a"], Deadline.after(1)) is None


# -- peers that do not keep to the rules ----------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"[]",
        b"5",
        b"",
        b"\xff\xfe",
        b"[" * 100_000,
        b"{}",
        b'{"id": 1}',
        b'{"id": "1", "event": "x", "payload": {}}',
        b'{"id": 1, "event": 5, "payload": {}}',
        b'{"id": 1, "event": "x", "payload": []}',
        b'{"id": 1, "tool": "x", "arguments": "y"}',
        b'{"id": 1, "command": "x", "arguments": {}}',
        b'{"reply": "1", "value": true}',
        b'{"id": ' + b"9" * 5000 + b"}",
    ],
)
async def test_a_line_that_is_no_message_ends_the_channel(greeted: Talk, line: bytes):
    greeted.peer.writer.write(line + b"\n")
    assert await greeted.peer.closed()
    await asyncio.wait_for(greeted.serving, SECONDS)
    assert greeted.session.ends == 1


@pytest.mark.parametrize("end", [b"", b"\n"])
async def test_a_line_that_is_too_long_ends_the_channel(talk: Talk, end: bytes):
    talk.channel._max_line = 5000
    await talk.peer.receive()
    line = json.dumps({"id": 1, "event": "x", "payload": {"x": "x" * 5000}})
    talk.peer.writer.write(line.encode() + end)
    assert await talk.peer.closed()
    await asyncio.wait_for(talk.serving, SECONDS)
    assert talk.session.events == []


async def test_lines_end_at_line_feeds_only_and_may_come_in_pieces(greeted: Talk):
    text = "one\u2028two\u0085three\rfour"
    line = json.dumps(
        {"id": 1, "event": "x", "payload": {"text": text}}, ensure_ascii=False
    ).encode()
    for start in range(0, len(line), 7):
        greeted.peer.writer.write(line[start : start + 7])
        await asyncio.sleep(0)
    greeted.peer.writer.write(b"\n")
    await greeted.peer.receive("id")
    assert greeted.session.events == [("x", {"text": text})]


async def test_a_peer_that_does_not_read_is_left(talk: Talk):
    await talk.peer.receive()
    talk.channel._lines._max_line = 100_000
    talk.peer.reader._transport.pause_reading()
    for number in range(1, 41):
        talk.peer.send(id=number, tool="cognee_echo", arguments={"text": "x" * 50_000})
        await asyncio.sleep(0.01)
    await asyncio.wait_for(talk.serving, SECONDS)
    assert talk.session.ends == 1


async def test_a_peer_that_is_killed_ends_the_channel(greeted: Talk):
    greeted.peer.send(id=1, event="x", payload={})
    greeted.peer.writer.transport.abort()
    await asyncio.wait_for(greeted.serving, SECONDS)
    assert greeted.session.ends == 1


async def test_a_connection_that_breaks_is_an_end(greeted: Talk):
    greeted.channel._reader.set_exception(ConnectionResetError())
    greeted.peer.writer.close()
    await asyncio.wait_for(greeted.serving, SECONDS)
    assert greeted.session.ends == 1


async def test_a_daemon_that_ends_leaves_the_session_alone(greeted: Talk):
    greeted.session.go.clear()
    greeted.peer.send(id=1, event="x", payload={})
    await asyncio.sleep(0.05)
    greeted.serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await greeted.serving
    assert await greeted.peer.closed()
    assert greeted.session.ends == 0


@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.binary(max_size=40) | st.sampled_from([b"\n", b'{"id": 1}', b"{", b'"'])))
async def test_whatever_a_peer_sends_the_channel_ends_quietly(pieces: list[bytes]):
    async with Talk(Session(None), None) as talk:
        for piece in pieces:
            talk.peer.writer.write(piece)
        talk.peer.writer.write_eof()
        await asyncio.wait_for(talk.serving, SECONDS)
        assert talk.session.ends == 1

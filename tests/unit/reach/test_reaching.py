"""The way from a caller to a live session and back: a daemon in this process, and its socket."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cognee_hooks import hookimpl
from cognee_hooks.caller import Caller
from cognee_hooks.daemon import attached, live_session, sessions, thin_client
from cognee_hooks.daemon import daemon as daemon_module
from cognee_hooks.daemon.journal import Journal
from cognee_hooks.daemon.server import Server
from cognee_hooks.daemon.sessions import LiveSessions
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import CallFailed, UsageError
from cognee_hooks.host import Host
from cognee_hooks.reach import Answer, Call, Whereabouts, reach, reaching
from cognee_hooks.reach import own as own_module
from cognee_hooks.reach.live import GONE
from cognee_hooks.results import Command, Failure, Tool
from cognee_hooks.services.crypto import Sealer
from tests.support.command import payload
from tests.support.daemon import agent_environment
from tests.support.scripted import ScriptedClient
from tests.support.waiting import PATIENCE, until

PROMPT = payload("UserPromptSubmit", prompt="Which port does the billing service use?")
SID = f"claude_{PROMPT['session_id']}"
SECRET = "ghp_" + "Zk3vQ9" * 6


class Plugin:
    """A tool and a command that do what they are told."""

    began = asyncio.Event()
    cancelled = asyncio.Event()

    def __init__(self, context: Any) -> None:
        self.context = context

    @hookimpl
    def cognee_register_tools(self) -> Tool:
        schema = {"type": "object", "properties": {"do": {"type": "string"}}}
        return Tool(name="cognee_do", description="Do it.", parameters=schema, run=self.do)

    @hookimpl
    def cognee_register_commands(self) -> Command:
        return Command(name="say", help="Says it.", run=self.say)

    async def say(self, text: str) -> str:
        return f"{text} in {self.context.session.session_id}"

    async def do(self, arguments: Mapping[str, Any]) -> str:
        limit = Deadline.after(PATIENCE)
        match arguments.get("do"):
            case "fail":
                return Failure("not done")
            case "warn":
                return "⚠ half done"
            case "refuse":
                raise UsageError("say more")
            case "break":
                raise LookupError(SECRET)
            case "leak":
                return f"token={SECRET}\x1b[31m"
            case "ask":
                self.context.report_progress("asking\x1b[2J")
                sure = await self.context.confirm("Sure?", "It goes.", limit)
                chosen = await self.context.select("Which?", ["a", "b"], limit)
                return f"{sure} {chosen}"
            case "hang":
                Plugin.began.set()
                try:
                    await asyncio.sleep(PATIENCE)
                except asyncio.CancelledError:
                    Plugin.cancelled.set()
                    raise
        return "done"


class Person:
    """Answers questions."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def confirm(self, title: str, text: str, deadline: Deadline) -> bool:
        self.asked.append(f"{title} {text}")
        return True

    async def select(self, title: str, options: Sequence[str], deadline: Deadline) -> str | None:
        self.asked.append(title)
        return options[-1]


class Daemon:
    """A daemon's server, and callers of it."""

    def __init__(self, home: Path) -> None:
        self.environ = agent_environment(home, COGNEE_HOOKS_STATE_DIR=str(home))
        self.folder = home / "daemon"
        self.sessions = LiveSessions(Journal(self.folder, Sealer(b"k" * 32)))
        self.server = Server(
            self.sessions, control=lambda verb: {}, hand_over=lambda: None, busy=lambda: None
        )

    async def begin(self, **more: str) -> None:
        """Begin a session, as the child of this process's parent would."""
        raw = {os.fsencode(k): os.fsencode(v) for k, v in (self.environ | more).items()}
        opening = thin_client.compose("hook", "claude-code", "SessionStart", raw)
        document = payload("SessionStart.startup", session_id=PROMPT["session_id"])
        reader, writer = await asyncio.open_unix_connection(str(self.folder / "socket"))
        writer.write(opening + json.dumps(document).encode())
        await reader.read()
        writer.close()

    def where(self, **more: Any) -> Whereabouts:
        given = {"environ": self.environ, "cwd": str(self.folder), "pid": os.getpid()}
        return Whereabouts(**given | more)

    async def call(
        self, call: Call, caller: Caller | None = None, seconds: float = PATIENCE, **more: Any
    ) -> Answer:
        """Reach the session and call."""
        reached = await reach(self.where(**more), Deadline.after(PATIENCE))
        try:
            own = caller or Caller(dialogs=None, progress=lambda _: None)
            return await reached.call(call, own, Deadline.after(seconds))
        finally:
            await reached.close()


@pytest.fixture
async def daemon(isolated_environment: Path, monkeypatch) -> AsyncIterator[Daemon]:
    monkeypatch.chdir(isolated_environment)
    made = partial(Host, plugins={"test": Plugin}, entry_points=(), client=ScriptedClient())
    monkeypatch.setattr(live_session, "Host", made)
    monkeypatch.setattr(own_module, "Host", made)
    monkeypatch.setattr(sessions, "GRACE_SECONDS", 0.01)
    monkeypatch.setattr(Plugin, "began", asyncio.Event())
    monkeypatch.setattr(Plugin, "cancelled", asyncio.Event())
    found = Daemon(isolated_environment)
    await found.server.listen(daemon_module._bind(found.folder))
    yield found
    await found.server.stop(1)
    await found.sessions.close(Deadline.after(1))


def do(what: str = "") -> Call:
    return Call(name="cognee_do", arguments={"do": what})


async def test_a_call_runs_in_the_live_session_of_the_agent_above(daemon):
    await daemon.begin()
    reached = await reach(daemon.where(), Deadline.after(PATIENCE))
    assert reached.about.live
    assert reached.about.session_id == SID
    assert f"in the live session {SID} (claude-code, dataset " in reached.about.sentence
    assert "cognee_do" in [each["name"] for each in reached.offer.tools]
    assert reached.offer.has_command("say")
    assert reached.offer.has_command("cognee-say")
    assert not reached.offer.has_command("shout")
    call = Call(name="say", text="hello")
    caller = Caller(dialogs=None, progress=lambda _: None)
    answer = await reached.call(call, caller, Deadline.after(PATIENCE))
    assert answer == Answer(text=f"hello in {SID}", failed=False)
    again = await reached.call(do(), caller, Deadline.after(PATIENCE))
    assert again.text == "done"
    await reached.close()


@pytest.mark.parametrize(
    ("what", "text", "failed"),
    [
        ("", "done", False),
        ("fail", "not done", True),
        ("warn", "⚠ half done", True),
        ("refuse", "say more", True),
        ("break", "cognee_do failed (LookupError); see `cognee-hooks doctor`.", True),
    ],
)
async def test_an_answer_says_whether_it_is_a_failure(daemon, what, text, failed):
    await daemon.begin()
    assert await daemon.call(do(what)) == Answer(text=text, failed=failed)


async def test_an_answer_is_redacted_and_free_of_terminal_escapes(daemon):
    await daemon.begin()
    text = (await daemon.call(do("leak"))).text
    assert SECRET not in text
    assert "\x1b" not in text
    assert "[redacted:" in text


async def test_the_caller_is_asked_and_told_how_far_it_is(daemon):
    await daemon.begin()
    person, shown = Person(), []
    answer = await daemon.call(do("ask"), Caller(dialogs=person, progress=shown.append))
    assert answer.text == "True b"
    assert person.asked == ["Sure? It goes.", "Which?"]
    assert shown == ["asking"]


async def test_a_caller_that_cannot_ask_leaves_that_to_the_agent_which_cannot_either(daemon):
    await daemon.begin()
    assert (await daemon.call(do("ask"))).text == "False None"


async def test_where_the_agent_can_ask_the_person_there_answers_for_such_a_caller(daemon):
    await daemon.begin()
    [live] = daemon.sessions._live.values()
    host = await live.ready()
    host.dialogs = Person()
    assert (await daemon.call(do("ask"))).text == "True b"
    own = Person()
    await daemon.call(do("ask"), Caller(dialogs=own, progress=lambda _: None))
    assert (len(own.asked), len(host.dialogs.asked)) == (2, 2)


async def test_a_caller_that_leaves_ends_its_call(daemon):
    await daemon.begin()
    task = asyncio.create_task(daemon.call(do("hang")))
    async with asyncio.timeout(PATIENCE):
        await Plugin.began.wait()
        task.cancel()
        await Plugin.cancelled.wait()


async def test_a_call_ends_at_its_deadline(daemon):
    await daemon.begin()
    answer = await daemon.call(do("hang"), seconds=0.1)
    assert answer.failed
    assert "was given up" in answer.text


async def test_a_daemon_that_ends_in_the_middle_is_told_in_a_sentence(daemon):
    await daemon.begin()
    task = asyncio.create_task(daemon.call(do("hang")))
    async with asyncio.timeout(PATIENCE):
        await Plugin.began.wait()
    await daemon.server.stop(0)
    with pytest.raises(CallFailed) as raised:
        await task
    assert str(raised.value) == GONE


async def test_a_session_that_is_not_made_in_time_is_told_in_a_sentence(daemon, monkeypatch):
    monkeypatch.setattr(attached, "READY_SECONDS", 0.05)
    monkeypatch.setattr(live_session.LiveSession, "ready", lambda _: asyncio.sleep(PATIENCE))
    await daemon.begin()
    with pytest.raises(UsageError) as raised:
        await daemon.call(do("anything"))
    assert str(raised.value) == attached.NOT_READY


async def test_without_a_live_session_a_session_of_its_own_answers(daemon):
    reached = await reach(daemon.where(), Deadline.after(PATIENCE))
    assert not reached.about.live
    assert reached.about.sentence.startswith("no live session of an agent was found")
    await reached.close()
    assert (await daemon.call(do("fail"))).text == "not done"


async def test_a_session_of_its_own_has_the_id_of_the_conversation_that_the_agent_names(daemon):
    environ = daemon.environ | {"CODEX_THREAD_ID": "t1"}
    answer = await daemon.call(Call(name="say", text="hi"), environ=environ)
    assert answer.text == "hi in codex_t1"


async def test_with_plugins_of_the_caller_s_choice_a_session_of_its_own_answers(daemon):
    await daemon.begin()
    reached = await reach(daemon.where(plugins=["no:bridge"]), Deadline.after(PATIENCE))
    assert not reached.about.live
    await reached.close()


async def test_a_named_session_that_does_not_live_is_refused(daemon):
    with pytest.raises(UsageError, match="there is no live session 'pi_x'"):
        await reach(daemon.where(session="pi_x"), Deadline.after(PATIENCE))
    await daemon.server.stop(0)
    (daemon.folder / "socket").unlink()
    with pytest.raises(UsageError, match="no daemon serves one"):
        await reach(daemon.where(session="pi_x"), Deadline.after(PATIENCE))


async def test_in_a_sandbox_without_sockets_a_sentence_comes_at_once(daemon, monkeypatch):
    class Forbidden(socket.socket):
        def send(self, *_: Any) -> int:
            raise PermissionError(1, "Operation not permitted")

    pair = socket.socketpair()
    forbidden = [Forbidden(fileno=each.detach()) for each in pair]
    monkeypatch.setattr(reaching.socket, "socketpair", lambda: forbidden)
    with pytest.raises(CallFailed, match="--mcp"):
        await reach(daemon.where(), Deadline.after(PATIENCE))


async def test_a_tool_that_nobody_brings_is_told(daemon):
    await daemon.begin()
    answer = await daemon.call(Call(name="cognee_nope"))
    assert answer == Answer(text="There is no tool cognee_nope in this session.", failed=True)


@pytest.mark.parametrize("line", [b"no json", b"[]", b'{"id": 1}', b'{"id": 1, "tool": 2}'])
async def test_a_caller_that_sends_nonsense_is_left(daemon, line):
    await daemon.begin()
    reader, writer = await asyncio.open_unix_connection(str(daemon.folder / "socket"))
    writer.write(daemon.where().opening("attach").wire())
    async with asyncio.timeout(PATIENCE):
        assert "hello" in json.loads(await reader.readline())
        writer.write(line + b"\n")
        assert await reader.read() == b""
    writer.close()


async def test_too_many_calls_at_once_are_refused_and_one_can_be_cancelled(daemon):
    await daemon.begin()
    reader, writer = await asyncio.open_unix_connection(str(daemon.folder / "socket"))
    writer.write(daemon.where().opening("attach").wire())
    async with asyncio.timeout(PATIENCE):
        await reader.readline()
        for number in range(17):
            message = {"id": number, "tool": "cognee_do", "arguments": {"do": "hang"}}
            writer.write(json.dumps(message).encode() + b"\n")
        refused = json.loads(await reader.readline())
        assert refused["id"] == 16
        assert refused["failed"]
        await Plugin.began.wait()
        writer.write(b'{"cancel": 3}\n{"cancel": 99}\n')
        await Plugin.cancelled.wait()
    writer.close()


# -- ends -----------------------------------------------------------------------------------------


async def left(daemon: Daemon, *served: str, pid: int) -> None:
    reader, writer = await asyncio.open_unix_connection(str(daemon.folder / "socket"))
    message = {"do": "left", "conversations": list(served)}
    opening = daemon.where(pid=pid).opening("control").wire()
    writer.write(opening + json.dumps(message).encode())
    async with asyncio.timeout(PATIENCE):
        assert await reader.read() == b"{}\n"
    writer.close()


async def test_a_helper_that_an_agent_restarts_ends_no_session(daemon):
    await daemon.begin()
    await left(daemon, SID, pid=os.getppid())
    await left(daemon, SID, pid=1)
    await asyncio.sleep(0.1)
    assert [row["session_id"] for row in daemon.sessions.rows()] == [SID]


async def test_the_end_of_a_helper_of_an_agent_that_is_gone_ends_its_session(daemon, monkeypatch):
    await daemon.begin()
    monkeypatch.setattr(sessions, "is_alive", lambda _: False)
    await left(daemon, pid=os.getppid())
    await until(lambda: daemon.sessions.rows() == [], "the end of the session")


@pytest.mark.parametrize("served", [True, False])
async def test_where_a_process_outlives_its_conversations_the_one_that_was_served_ends(
    daemon, monkeypatch, served
):
    await daemon.begin()
    [live] = daemon.sessions._live.values()
    monkeypatch.setattr(type(live.agent), "outlives_sessions", True, raising=False)
    monkeypatch.setattr(sessions, "LEFT_SECONDS", 0.01)
    await left(daemon, *([SID] if served else []), pid=os.getppid())
    if served:
        await until(lambda: daemon.sessions.rows() == [], "the end of the session")
    else:
        await asyncio.sleep(0.1)
        assert len(daemon.sessions.rows()) == 1

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cognee_hooks.agents.claude_code import ClaudeCode
from cognee_hooks.daemon import control, live_session, sessions, thin_client
from cognee_hooks.daemon import daemon as daemon_module
from cognee_hooks.daemon import server as server_module
from cognee_hooks.daemon.daemon import Daemon
from cognee_hooks.daemon.journal import MAX_TRIES, Journal
from cognee_hooks.daemon.live_session import Incoming, LiveSession
from cognee_hooks.daemon.protocol import split_record
from cognee_hooks.daemon.server import Server
from cognee_hooks.daemon.sessions import LiveSessions
from cognee_hooks.deadline import Deadline
from cognee_hooks.results import Act, Origin
from cognee_hooks.services.crypto import Sealer
from cognee_hooks.services.ledger_file import ledger_files
from cognee_hooks.services.paths import Paths
from tests.support.command import payload
from tests.support.daemon import agent_environment
from tests.support.fake_server import Connection, FakeServer, Request, status
from tests.support.scripted import remembers
from tests.support.waiting import PATIENCE, until

RECALL = "/api/v1/recall"
ENTRY = "/api/v1/remember/entry"
PROMPT = payload("UserPromptSubmit", prompt="Which port does the billing service use?")
SID = PROMPT["session_id"]


class Running:
    """A daemon's server in this process, and its peers."""

    def __init__(self, home: Path, url: str) -> None:
        self.environ = agent_environment(home, url)
        self.folder = home / "daemon"
        self.sealer = Sealer(b"k" * 32)
        self.handed_over = 0
        self.requests: list[Mapping[str, Any]] = []
        self.journal = Journal(self.folder, self.sealer)
        self.in_charge = True
        self.sessions = LiveSessions(self.journal, in_charge=lambda: self.in_charge)
        self.server = Server(
            self.sessions, control=self._control, hand_over=self._hand_over, busy=lambda: None
        )

    async def listen(self) -> None:
        await self.server.listen(daemon_module._bind(self.folder))

    async def raw(self, data: bytes, *, ended: bool = True) -> bytes:
        """Send bytes and return all that comes back."""
        reader, writer = await asyncio.open_unix_connection(str(self.folder / "socket"))
        writer.write(data)
        if ended:
            writer.write_eof()
        async with asyncio.timeout(PATIENCE):
            answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer

    def opening(self, event: str, kind: str = "hook", agent: str = "claude-code", **more: str):
        environ = self.environ | more
        raw = {os.fsencode(name): os.fsencode(value) for name, value in environ.items()}
        return thin_client.compose(kind, agent, event, raw)

    async def hook(self, event: str, document: Mapping[str, Any], **more: str) -> bytes:
        answer = await self.raw(self.opening(event, **more) + json.dumps(document).encode())
        head, _, rest = answer.partition(b"\n")
        assert head.startswith(b"+"), answer
        size, _, text = rest.partition(b"\n")
        assert int(size) == len(text)
        return text

    def _control(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        self.requests.append(request)
        return {"did": request.get("do")}

    def _hand_over(self) -> None:
        self.handed_over += 1


@pytest.fixture
async def fake() -> AsyncIterator[FakeServer]:
    async def recalls(connection: Connection, request: Request) -> None:
        await connection.answer(200, remembers("a fact in memory")(request.json))

    async with FakeServer() as server:
        server.on(RECALL, recalls)
        yield server


@pytest.fixture
async def running(
    isolated_environment: Path, fake: FakeServer, monkeypatch
) -> AsyncIterator[Running]:
    monkeypatch.chdir(isolated_environment)
    made = Running(isolated_environment, fake.url)
    await made.listen()
    yield made
    await made.server.stop(1)
    await made.sessions.close(Deadline.after(3))


def stored(fake: FakeServer) -> list[dict]:
    return [each.json["entry"] for each in fake.requests if each.path == ENTRY]


# -- requests ----------------------------------------------------------------------------------


async def test_a_prompt_is_answered(running):
    text = await running.hook("UserPromptSubmit", PROMPT)
    assert "a fact in memory" in json.loads(text)["hookSpecificOutput"]["additionalContext"]


async def test_other_events_are_answered_at_once_and_worked_on_behind_it(running, fake):
    await running.hook("UserPromptSubmit", PROMPT)
    assert await running.hook("Stop", payload("Stop", last_assistant_message="7431")) == b""
    await until(lambda: [entry["answer"] for entry in stored(fake)] == ["7431"])
    await until(lambda: len(running.journal) == 0)


async def test_events_that_nobody_uses_are_not_kept(running):
    assert await running.hook("Notification", PROMPT) == b""
    assert len(running.journal) == 0
    assert running.sessions.rows() == []


async def test_the_same_event_twice_is_one(running, fake):
    await running.hook("UserPromptSubmit", PROMPT)
    stop = (
        running.opening("Stop") + json.dumps(payload("Stop", last_assistant_message="a")).encode()
    )
    assert await running.raw(stop) == b"+0\n0\n"
    await until(lambda: stored(fake))
    assert await running.raw(stop) == b"+0\n0\n"
    assert len(stored(fake)) == 1


@pytest.mark.parametrize(
    "data",
    [b"", b"GET / HTTP/1.1\r\n\r\n", b"cognee-hooks 1 hook 5\nabc", b"\xff" * 300 + b"\n"],
)
async def test_what_is_no_request_is_refused(running, data):
    assert await running.raw(data) == b"-\n"


async def test_a_peer_that_says_nothing_is_left(running, monkeypatch):
    monkeypatch.setattr(server_module, "OPENING_SECONDS", 0.1)
    assert await running.raw(b"", ended=False) == b"-\n"


async def test_a_payload_that_stands_still_is_given_up(running, monkeypatch):
    monkeypatch.setattr(server_module, "IDLE_SECONDS", 0.1)
    assert await running.raw(running.opening("Stop") + b'{"half', ended=False) == b"-\n"


async def test_a_payload_that_is_too_large_is_refused(running, monkeypatch):
    monkeypatch.setattr(server_module, "MAX_BYTES", 10)
    assert await running.raw(running.opening("Stop") + b'{"a": "' + b"x" * 100) == b"-\n"


async def test_an_unknown_agent_is_refused(running, caplog):
    assert await running.raw(running.opening("Stop", agent="nobody") + b"{}") == b"-\n"
    assert "no agent is called 'nobody'" in caplog.text


async def test_an_agent_that_works_for_us_is_refused(running):
    nested = running.opening("Stop", COGNEE_HOOKS_NESTED="1")
    assert await running.raw(nested + b"{}") == b"-\n"


async def test_another_users_process_gets_no_answer(running, monkeypatch):
    monkeypatch.setattr(server_module, "_is_ours", lambda _: False)
    with suppress(ConnectionResetError):
        assert await running.raw(running.opening("Stop") + b"{}") == b""
    assert len(running.journal) == 0


async def test_a_newer_version_takes_over(running, monkeypatch):
    monkeypatch.setattr(thin_client, "VERSION", "99.0")
    assert await running.raw(running.opening("Stop") + b"{}") == b"!\n"
    assert running.handed_over == 1


async def test_an_older_version_is_served(running, monkeypatch):
    monkeypatch.setattr(thin_client, "VERSION", "0.0.1")
    assert "a fact" in (await running.hook("UserPromptSubmit", PROMPT)).decode()


async def test_control_requests_are_answered(running):
    answer = await running.raw(running.opening("", "control", "") + b'{"do": "status"}')
    assert json.loads(answer) == {"did": "status"}
    await running.raw(running.opening("", "control", "") + b'{"do": ["nonsense"]}')
    await running.raw(running.opening("", "control", "") + b"[]")
    assert running.requests == [{"do": "status"}, {"do": ["nonsense"]}, {}]


async def test_the_status_line_needs_no_place_in_the_journal(running):
    document = {"session_id": SID}
    assert await running.hook(thin_client.STATUS, document) == b""
    await running.hook("UserPromptSubmit", PROMPT)
    assert (await running.hook(thin_client.STATUS, document)).startswith(b"\x1b[32m")
    assert running.journal.pending()


@pytest.mark.parametrize(
    ("environ", "asked"),
    [
        ({}, b"width 120 colour"),
        ({"COLUMNS": "33"}, b"width 33 colour"),
        ({"COLUMNS": "wide"}, b"width 120 colour"),
        ({"COLUMNS": "0"}, b"width 120 colour"),
        ({"COLUMNS": "9" * 5000}, b"width 120 colour"),
        ({"COLUMNS": "\u0663"}, b"width 120 colour"),
        ({"NO_COLOR": ""}, b"width 120 colour"),
        ({"NO_COLOR": "0"}, b"width 120 plain"),
        ({"TERM": "dumb"}, b"width 120 plain"),
    ],
)
async def test_the_status_line_is_as_wide_and_colourful_as_the_agent_says(running, environ, asked):
    await running.hook("UserPromptSubmit", PROMPT)
    running.sessions._live["claude-code", f"claude_{SID}"].host.status_line = _line
    assert await running.hook(thin_client.STATUS, {"session_id": SID}, **environ) == asked


async def _line(width: int, *, colour: bool) -> str:
    return f"width {width} {'colour' if colour else 'plain'}"


@pytest.mark.parametrize("value", [False, None, "yes", 1])
async def test_an_agent_that_does_not_say_that_it_shows_colours_gets_none(
    running, monkeypatch, value
):
    monkeypatch.setattr(ClaudeCode, "shows_colour", value)
    await running.hook("UserPromptSubmit", PROMPT)
    line = await running.hook(thin_client.STATUS, {"session_id": SID})
    assert line.decode().startswith("● cognee: cloud")


async def test_a_server_that_stands_still_does_not_hold_the_status_line_up(running, fake):
    await running.hook("UserPromptSubmit", PROMPT)
    stands, go = asyncio.Event(), asyncio.Event()

    async def stand(connection: Connection, request: Request) -> None:
        stands.set()
        await go.wait()
        await connection.answer(200, [])

    fake.on(RECALL, stand)
    waiting = asyncio.create_task(running.hook("UserPromptSubmit", PROMPT))
    await stands.wait()
    asked = len(fake.requests)
    for _ in range(20):
        line = await running.hook(thin_client.STATUS, {"session_id": SID})
        assert b"memory hits" in line
    assert not waiting.done()
    assert len(fake.requests) == asked
    go.set()
    await waiting


async def test_a_last_look_at_a_conversation_does_not_begin_it_again(running):
    await running.hook("UserPromptSubmit", PROMPT)
    await running.hook("SessionEnd", payload("SessionEnd.other", session_id=SID))
    assert await running.hook(thin_client.STATUS, {"session_id": SID}) == b""
    assert running.sessions._live == {}


async def test_an_event_is_worked_on_when_it_cannot_be_kept(running, monkeypatch, caplog):
    def full(*_: object) -> bool:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(running.journal, "add", full)
    assert "a fact" in (await running.hook("UserPromptSubmit", PROMPT)).decode()
    assert "is not on disk" in caplog.text


async def test_a_peer_that_leaves_changes_nothing(running, fake):
    await running.hook("UserPromptSubmit", PROMPT)
    _, writer = await asyncio.open_unix_connection(str(running.folder / "socket"))
    stop = payload("Stop", last_assistant_message="7431")
    writer.write(running.opening("Stop") + json.dumps(stop).encode())
    writer.transport.abort()
    await until(lambda: [entry["answer"] for entry in stored(fake)] == ["7431"])


# -- channels ----------------------------------------------------------------------------------


async def test_a_channel_serves_a_session(running, fake):
    reader, writer = await asyncio.open_unix_connection(str(running.folder / "socket"))
    writer.write(running.opening("s9", "channel"))
    assert "hello" in json.loads(await reader.readline())
    for number, (event, document) in enumerate(
        [
            ("Notification", PROMPT),
            ("UserPromptSubmit", {**PROMPT, "session_id": "s9"}),
            ("Stop", payload("Stop", last_assistant_message="7431", session_id="s9")),
        ]
    ):
        line = {"id": number, "event": event, "payload": document}
        writer.write(json.dumps(line).encode() + b"\n")
        answer = {}
        while answer.get("id") != number:
            answer = json.loads(await reader.readline())
        assert ("a fact" in json.dumps(answer)) is (event == "UserPromptSubmit")
    await until(lambda: [entry["answer"] for entry in stored(fake)] == ["7431"])
    (row,) = running.sessions.rows()
    assert row["session_id"] == "claude_s9"
    writer.close()
    await until(lambda: running.sessions.rows() == [])


async def test_what_an_agent_sends_again_after_its_channel_broke_counts_once(running, fake):
    turn = {"sessionId": "s9", "promptId": "p1"}
    prompt = {**turn, "eventId": "1-1-1", "prompt": "Which port is the billing database on?"}
    call = {**turn, "eventId": "1-1-2", "toolName": "bash", "input": {"command": "ls"}}
    reader, writer = await asyncio.open_unix_connection(str(running.folder / "socket"))
    writer.write(running.opening("s9", "channel", "pi"))
    for number, line in enumerate([("before_agent_start", prompt), ("tool_execution_end", call)]):
        message = {"id": number, "event": line[0], "payload": line[1]}
        writer.write(json.dumps(message).encode() + b"\n")
        while b'"answer"' not in await reader.readline():
            pass
    for event, again in [("before_agent_start", prompt), ("tool_execution_end", call)]:
        assert await running.hook(event, again, agent="pi") == b"{}"
    await running.hook("agent_end", {**turn, "eventId": "1-1-3", "text": "7431"}, agent="pi")
    await until(lambda: len(stored(fake)) > 1)
    assert [entry["type"] for entry in stored(fake)] == ["trace", "qa"]
    await until(lambda: len(running.journal) == 0)
    writer.close()


async def test_a_daemon_that_ends_ends_its_channels(running):
    reader, writer = await asyncio.open_unix_connection(str(running.folder / "socket"))
    writer.write(running.opening("s9", "channel"))
    await reader.readline()
    await running.server.stop(1)
    assert await reader.read() == b""
    writer.close()


# -- sessions ----------------------------------------------------------------------------------


async def test_agents_that_plugins_bring_are_found_once(running, monkeypatch):
    made: list[str] = []

    class Agent(type(sessions.BUILT_IN["claude-code"])):  # type: ignore[misc]
        name = "theirs"

    class FakeHost:
        def __init__(self, name: str, **_: object) -> None:
            made.append(name)
            self.registered = type("Registered", (), {"agents": {"theirs": Agent()}})

    monkeypatch.setattr(sessions, "Host", FakeHost)
    opening, _ = split_record(running.opening("Stop", agent="theirs"))
    for _ in range(2):
        assert (await running.sessions.agent_of(opening)).name == "theirs"
    assert made == ["theirs"]


async def test_an_agent_that_nobody_brings_is_not_asked_for_again_at_once(running, monkeypatch):
    made: list[str] = []

    def none(name: str, **_: object) -> Any:
        made.append(name)
        return type("Host", (), {"registered": type("Registered", (), {"agents": {}})})

    monkeypatch.setattr(sessions, "Host", none)
    opening, _ = split_record(running.opening("Stop", agent="nobody"))
    for _ in range(3):
        assert await running.sessions.agent_of(opening) is None
    assert made == ["nobody"]


async def test_a_host_that_cannot_be_made_knows_no_agents(running, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise SystemExit(3)

    monkeypatch.setattr(sessions, "Host", broken)
    opening, _ = split_record(running.opening("Stop", agent="theirs"))
    assert await running.sessions.agent_of(opening) is None


async def test_plugins_that_hang_hide_their_agents(running, monkeypatch):
    release = asyncio.Event()
    loop = asyncio.get_running_loop()

    def hangs(*_: object, **__: object) -> None:
        asyncio.run_coroutine_threadsafe(release.wait(), loop).result()

    monkeypatch.setattr(sessions, "Host", hangs)
    monkeypatch.setattr(sessions, "_AGENT_SECONDS", 0.1)
    opening, _ = split_record(running.opening("Stop", agent="theirs"))
    assert await running.sessions.agent_of(opening) is None
    release.set()


async def test_a_session_without_a_host_answers_nothing_and_keeps_its_events(
    running, monkeypatch, caplog
):
    def broken(*_: object, **__: object) -> None:
        raise ValueError("no")

    monkeypatch.setattr(live_session, "Host", broken)
    assert await running.hook("UserPromptSubmit", PROMPT) == b""
    assert len(running.journal) == 1
    assert "no host for" in caplog.text
    assert "ValueError" in caplog.text


async def test_a_prompt_does_not_wait_for_ever_for_its_plugins(running, monkeypatch):
    release = asyncio.Event()
    loop = asyncio.get_running_loop()

    def hangs(*_: object, **__: object) -> None:
        asyncio.run_coroutine_threadsafe(release.wait(), loop).result()
        raise ValueError("no")

    monkeypatch.setattr(live_session, "Host", hangs)
    monkeypatch.setattr(live_session, "LOAD_SECONDS", 0.05)
    assert await running.hook("UserPromptSubmit", PROMPT) == b""
    release.set()


async def test_an_adapter_that_fails_gets_nothing(running, monkeypatch, caplog):
    agent = sessions.BUILT_IN["claude-code"]

    def fails(*_: object, **__: object) -> None:
        raise KeyError("no")

    monkeypatch.setattr(type(agent), "read", fails)
    monkeypatch.setattr(type(agent), "origin", fails)
    assert await running.hook("UserPromptSubmit", PROMPT) == b""
    assert "adapter claude-code failed: KeyError" in caplog.text
    assert sessions.origin_of(agent, {}) == Origin()


async def test_an_adapter_without_an_empty_answer_gets_none(running, monkeypatch):
    agent = sessions.BUILT_IN["claude-code"]
    for broken in (lambda *_: None, lambda *_: {}["no"]):
        monkeypatch.setattr(type(agent), "empty", broken)
        assert await running.hook("Notification", PROMPT) == b""
        assert await running.hook("Stop", payload("Stop")) == b""


async def test_an_answer_that_fails_is_empty(running, monkeypatch):
    agent = sessions.BUILT_IN["claude-code"]
    monkeypatch.setattr(type(agent), "answer", lambda *_: None)
    assert await running.hook("UserPromptSubmit", PROMPT) == b""


async def test_a_host_that_fails_is_logged_and_the_next_event_goes_on(running, monkeypatch, caplog):
    async def fails(*_: object) -> None:
        raise ValueError("no")

    await running.hook("UserPromptSubmit", PROMPT)
    host = running.sessions._live["claude-code", f"claude_{SID}"].host
    with monkeypatch.context() as patch:
        patch.setattr(host, "dispatch", fails)
        assert await running.hook("UserPromptSubmit", PROMPT) == b""
    assert "UserPromptSubmit failed: ValueError" in caplog.text
    assert "a fact" in (await running.hook("UserPromptSubmit", PROMPT)).decode()


async def test_a_silent_session_ends_by_itself(running, fake):
    running.sessions._idle_seconds = 0.2
    await running.hook("UserPromptSubmit", PROMPT)
    assert RECALL in fake.paths()
    await until(lambda: running.sessions.rows() == [])


async def test_the_word_of_an_agent_that_is_gone_already_is_not_kept(running):
    running.sessions._idle_seconds = 0.05
    await running.hook("UserPromptSubmit", PROMPT)
    await until(lambda: running.sessions.rows() == [])
    assert await running.hook("SessionEnd", payload("SessionEnd.other", session_id=SID)) == b""
    assert running.sessions.rows() == []


@pytest.mark.parametrize("told", [True, False])
async def test_what_plugins_took_is_in_the_ledger_when_a_session_ends_or_the_daemon(running, told):
    paths = Paths.of(running.environ, "claude-code")
    Sealer.of(paths.key_file).seal(b"", "")  # makes the key, as the daemon's journal does
    await running.hook("UserPromptSubmit", PROMPT)
    folder = paths.ledger_dir
    assert Act.RAN not in {row.act for file in ledger_files(folder) for row in file.rows()}
    if told:
        await running.hook("SessionEnd", payload("SessionEnd.prompt_input_exit", session_id=SID))
    await running.sessions.close(Deadline.after(9))
    [file] = ledger_files(folder)
    calls = Counter(row.what for row in file.rows() if row.act is Act.RAN)
    assert {"recall", "capture"} <= calls.keys()
    asked, *injected = [
        row.prompt for row in file.rows() if row.act in {Act.RECALLED, Act.INJECTED}
    ]
    assert asked
    assert set(injected) == {asked}


async def test_the_status_tells_that_there_is_a_prompt_more_to_be_asked_for(running):
    """It comes after everything else that a page sees of a prompt."""
    await running.hook("UserPromptSubmit", PROMPT)
    host = running.sessions._live["claude-code", f"claude_{SID}"].host
    await until(lambda: [each["prompts"] for each in running.sessions.rows()] == [1])
    assert len(host.prompts.as_json()) == 1


async def test_what_plugins_took_is_in_the_ledger_while_the_rest_still_ends(running, monkeypatch):
    await running.hook("UserPromptSubmit", PROMPT)
    host = running.sessions._live["claude-code", f"claude_{SID}"].host
    [file] = ledger_files(Paths.of(running.environ, "claude-code").ledger_dir)
    sent = asyncio.Event()

    async def slow(_: Deadline) -> None:
        await sent.wait()

    monkeypatch.setattr(host, "flush", slow)
    closing = asyncio.create_task(running.sessions.close(Deadline.after(PATIENCE)))
    await until(lambda: "recall" in {row.what for row in file.rows() if row.act is Act.RAN})
    sent.set()
    await closing


async def test_a_conversation_that_goes_on_waits_for_its_end(running, fake):
    await running.hook("UserPromptSubmit", PROMPT)
    await running.hook("SessionEnd", payload("SessionEnd.other", session_id=SID))
    assert "a fact" in (await running.hook("UserPromptSubmit", PROMPT)).decode()
    assert len(running.sessions.rows()) == 1


async def test_an_ended_session_is_kept_while_a_plugin_is_at_work_for_it(running, monkeypatch):
    monkeypatch.setattr(live_session, "SEND_POLL_SECONDS", 0.05)
    await running.hook("UserPromptSubmit", PROMPT)
    host = running.sessions._live["claude-code", f"claude_{SID}"].host
    done = asyncio.Event()

    async def work() -> None:
        await done.wait()

    host.outlast("sync", work())
    await running.hook("SessionEnd", payload("SessionEnd.other", session_id=SID))
    await until(lambda: not running.sessions._ending)
    assert len(running.sessions.rows()) == 1
    # It holds up nobody who goes on with the conversation.
    assert "a fact" in (await running.hook("UserPromptSubmit", PROMPT)).decode()
    assert len(running.sessions.rows()) == 2
    done.set()
    await until(lambda: len(running.sessions.rows()) == 1)


async def test_a_session_that_ends_while_the_daemon_does_is_not_kept_for_a_plugin(running):
    await running.hook("UserPromptSubmit", PROMPT)
    host = running.sessions._live["claude-code", f"claude_{SID}"].host
    host.outlast("sync", asyncio.sleep(PATIENCE))
    await running.hook("SessionEnd", payload("SessionEnd.other", session_id=SID))
    await running.sessions.close(Deadline.after(PATIENCE))
    assert not host.unfinished
    assert running.sessions.rows() == []


@pytest.mark.parametrize("blocked", ["bridge", ""])
async def test_only_so_many_ended_sessions_wait_for_the_server(
    running, fake, monkeypatch, isolated_environment, blocked
):
    monkeypatch.setattr(sessions, "MAX_LINGERING", 1)
    fake.on(ENTRY, status(503))
    more = {"COGNEE_HOOKS_DISABLE": blocked}
    for session in ("a", "b", "c"):
        who = {"session_id": session}
        await running.hook("UserPromptSubmit", {**PROMPT, **who}, **more)
        await running.hook("Stop", {**payload("Stop", last_assistant_message="x"), **who}, **more)
        await until(lambda: ENTRY in fake.paths())
        await running.hook("SessionEnd", {**payload("SessionEnd.other"), **who}, **more)
    await until(lambda: not running.sessions._ending)
    assert len(running.sessions.rows()) == 1
    looks = [each for each in asyncio.all_tasks() if "when_finished" in repr(each.get_coro())]
    assert len(looks) == 1
    # What the other two left is on disk, for the next daemon.
    if blocked:
        assert len(running.journal) >= 4
    else:
        assert len(list(isolated_environment.rglob("bridge/*.json"))) == 3


async def test_what_cannot_be_used_any_more_is_not_taken_up(running, isolated_environment, caplog):
    for event, agent in (("Stop", "nobody"), ("Notification", "claude-code")):
        record = running.opening(event, agent=agent)
        opening, _ = split_record(record)
        running.journal.add(opening, b"{}")
    opening, _ = split_record(running.opening("Stop"))
    running.journal.add(opening, b"no json")
    assert len(running.journal) == 3
    journal = Journal(running.folder, running.sealer)
    await LiveSessions(journal).take_up()
    assert len(journal) == 0
    assert caplog.text.count("cannot be used") == 3


class Moody(ClaudeCode):
    """An adapter of a third party that fails where nobody expects it."""

    name = "moody"

    @property
    def session_prefix(self) -> str:
        raise ZeroDivisionError


async def test_an_adapter_that_fails_keeps_no_daemon_from_the_events_of_others(
    running, fake, caplog
):
    for agent in ("moody", "claude-code"):
        for event, document in (("UserPromptSubmit", PROMPT), ("Stop", payload("Stop"))):
            opening, _ = split_record(running.opening(event, agent=agent))
            number = len(running.journal)
            opening = replace(opening, ident=f"{number + 1:020d}-7")
            running.journal.add(opening, json.dumps(document).encode())
    taken_up = LiveSessions(Journal(running.folder, running.sealer))
    taken_up._agents["moody"] = Moody()
    await taken_up.take_up()
    await until(lambda: len(stored(fake)) == 1)
    assert "'moody' failed: ZeroDivisionError" in caplog.text
    await taken_up.close(Deadline.after(3))


async def test_an_event_that_no_daemon_survived_is_not_worked_on_again(running, fake, caplog):
    record = running.opening("UserPromptSubmit")
    opening, _ = split_record(record)
    running.journal.add(opening, json.dumps(PROMPT).encode())
    for _ in range(MAX_TRIES):
        assert Journal(running.folder, running.sealer).begin_again(opening.ident)
    journal = Journal(running.folder, running.sealer)
    taken_up = LiveSessions(journal)
    await taken_up.take_up()
    await until(lambda: len(journal) == 0)
    assert "put aside" in caplog.text
    await taken_up.close(Deadline.after(3))


async def test_taking_an_event_up_again_counts_only_until_it_is_worked_on(running):
    opening, _ = split_record(running.opening("UserPromptSubmit"))
    running.journal.add(opening, json.dumps(PROMPT).encode())
    each_daemon = []
    for _ in range(MAX_TRIES + 2):
        journal = Journal(running.folder, running.sealer)
        taken_up = LiveSessions(journal)
        each_daemon.append(taken_up)
        await taken_up.take_up()
        tried = running.folder / "journal" / f"{opening.ident}.tried"
        await until(lambda each=taken_up: each.rows()[0]["kept"] == 1)
        await until(lambda path=tried: not path.exists())
        assert len(journal) == 1
    for each in each_daemon:
        await each.close(Deadline.after(3))


async def test_events_in_the_spool_come_before_the_one_that_is_new(running, fake):
    first = running.opening("UserPromptSubmit")
    ident = split_record(first)[0].ident
    data = first + json.dumps(PROMPT).encode()
    path = running.folder / "spool" / f"{ident}.event"
    path.write_bytes(data)
    path.chmod(0o600)
    await running.hook("Stop", payload("Stop", last_assistant_message="7431"))
    await until(lambda: [entry["answer"] for entry in stored(fake)] == ["7431"])
    assert RECALL not in [each.path for each in fake.requests if b"billing service" in each.body]


# -- the daemon --------------------------------------------------------------------------------


@pytest.fixture
def in_place(isolated_environment: Path, monkeypatch) -> Iterator[Callable[..., Daemon]]:
    """Makes daemons that hold their lock."""
    monkeypatch.chdir(isolated_environment)
    locks: list[int] = []

    def make(paths: Paths, **options: Any) -> Daemon:
        paths.daemon_dir.mkdir(parents=True, exist_ok=True)
        locks.append(os.open(paths.daemon_dir / "lock", os.O_RDWR | os.O_CREAT))
        return Daemon(paths, locks[-1], **options)

    yield make
    for lock in locks:
        os.close(lock)


@pytest.fixture
def daemon(in_place) -> Daemon:
    return in_place(Paths.of(os.environ, "daemon"), idle_seconds=0.2)


async def test_an_idle_daemon_ends(daemon, caplog):
    caplog.set_level(logging.INFO)
    reader, writer = os.pipe()
    os.close(reader)
    async with asyncio.timeout(PATIENCE):
        await daemon.run(writer)
    assert "nothing happened" in caplog.text
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.close(writer)


async def test_who_only_asks_how_it_is_keeps_no_idle_daemon(daemon, isolated_environment):
    """A page that is open asks every second."""
    answered = 0
    running = asyncio.create_task(daemon.run())
    folder = Paths.of(os.environ, "daemon").daemon_dir
    async with asyncio.timeout(PATIENCE):
        while not running.done():
            for verb in ("status", "plugins"):
                answered += await asyncio.to_thread(control.ask, folder, verb) is not None
    assert answered


async def test_a_daemon_looks_into_the_spool_after_it_came_up(
    isolated_environment, monkeypatch, fake, in_place
):
    """A client that found nobody may be slower than the daemon that it started."""
    monkeypatch.setattr(daemon_module, "LOOK_SECONDS", (0.1, 0.3))
    environ = agent_environment(isolated_environment, fake.url)
    made = in_place(Paths.of(environ, "daemon"))
    running = asyncio.create_task(made.run())
    folder = Paths.of(environ, "daemon").daemon_dir
    await until((folder / "socket").exists)
    raw = {os.fsencode(name): os.fsencode(value) for name, value in environ.items()}
    thin_client.spool(
        os.fsencode(folder),
        thin_client.compose("hook", "claude-code", "PostToolUse", raw),
        json.dumps(payload("PostToolUse.Bash")).encode(),
    )
    await until(lambda: stored(fake))
    made._answer({"do": "stop"})
    async with asyncio.timeout(PATIENCE):
        await running


@pytest.mark.parametrize("change", ["gone", "another", "unlocked"])
async def test_a_daemon_that_nobody_can_find_ends(
    isolated_environment, monkeypatch, caplog, change, in_place
):
    monkeypatch.setattr(daemon_module, "LOOK_SECONDS", (0.1,))
    paths = Paths.of({"HOME": str(isolated_environment)}, "daemon")
    daemon, path, lock = in_place(paths), paths.daemon_dir / "socket", paths.daemon_dir / "lock"
    running = asyncio.create_task(daemon.run())
    await until(path.exists)
    if change == "unlocked":
        lock.unlink()
    else:
        path.rename(paths.daemon_dir / "kept")  # so that its number is not used again
    if change == "another":
        path.write_text("")
    async with asyncio.timeout(PATIENCE):
        await running
    assert "nobody can find it" in caplog.text
    assert path.exists() is (change != "gone")


async def test_a_daemon_that_nobody_can_find_does_not_wait_for_a_request_to_see_it(
    isolated_environment, monkeypatch, caplog, in_place
):
    monkeypatch.setattr(daemon_module, "LOOK_SECONDS", ())
    monkeypatch.setattr(daemon_module, "REST_SECONDS", 0.05)
    paths = Paths.of({"HOME": str(isolated_environment)}, "daemon")
    running = asyncio.create_task(in_place(paths).run())
    await until((paths.daemon_dir / "socket").exists)
    await asyncio.sleep(0.2)
    assert not running.done()
    (paths.daemon_dir / "lock").unlink()
    async with asyncio.timeout(PATIENCE):
        await running
    assert "nobody can find it" in caplog.text


@pytest.mark.parametrize("change", ["gone", "replaced"])
async def test_a_daemon_that_lost_its_lock_before_it_listens_leaves_the_socket_to_others(
    isolated_environment, daemon, change
):
    folder = Paths.of(os.environ, "daemon").daemon_dir
    (folder / "lock").rename(folder / "lost")
    if change == "replaced":
        (folder / "lock").touch()
    (folder / "socket").write_text("another daemon's")
    async with asyncio.timeout(PATIENCE):
        await daemon.run()
    assert (folder / "socket").read_text() == "another daemon's"


async def test_a_daemon_without_its_lock_takes_nothing_that_its_follower_would_miss(running):
    """Neither from the spool nor from a hook: both go to the follower."""
    running.in_charge = False
    raw = {os.fsencode(name): os.fsencode(value) for name, value in running.environ.items()}
    opening = thin_client.compose("hook", "claude-code", "PostToolUse", raw)
    document = json.dumps(payload("PostToolUse.Bash")).encode()
    thin_client.spool(os.fsencode(running.folder), opening, document)
    assert await running.raw(running.opening("PostToolUse") + document) == b""
    assert len(running.journal) == 0
    assert len([*(running.folder / "spool").iterdir()]) == 1
    running.in_charge = True
    await running.sessions.take_up_spool()
    assert len(running.journal) == 1


async def test_a_daemon_that_is_ending_takes_nothing_more(running):
    """What it took would be worked on beside what its sessions are just finishing."""
    await running.sessions.close(Deadline.after(1))
    document = json.dumps(payload("PostToolUse.Bash")).encode()
    assert await running.raw(running.opening("PostToolUse") + document) == b""
    assert len(running.journal) == 0
    running.journal.add(*split_record(running.opening("PostToolUse") + document))
    await running.sessions.take_up()
    assert running.sessions.rows() == []
    assert len(running.journal) == 1


async def test_it_tells_about_itself(daemon):
    assert daemon._answer({"do": "status"})["pid"] == os.getpid()
    assert daemon._answer({"do": "status"})["version"] == thin_client.VERSION
    assert daemon._answer({"do": "plugins"}) == {"sessions": []}
    assert daemon._answer({"do": "prompts", "session_id": "claude_1"}) == {"prompts": []}
    for nonsense in ({"do": "dance"}, {"do": ["status"]}, {"do": "prompts"}, {}):
        assert "no such request" in daemon._answer(nonsense)["error"]
    assert daemon._answer({"do": "stop"})["sessions"] == []
    assert daemon._stopping.is_set()


async def test_a_daemon_that_stands_still_is_replaced(daemon, monkeypatch):
    did: list[object] = []
    monkeypatch.setattr(daemon_module, "spawn_detached", lambda command: did.append(command[1:]))
    monkeypatch.setattr(daemon_module.os, "_exit", did.append)
    daemon._replace()
    assert did == [["-P", "-m", "cognee_hooks.daemon"], daemon_module.STALLED]


async def test_an_event_knows_whether_the_model_waits_for_it(running):
    agent = sessions.BUILT_IN["claude-code"]
    opening, _ = split_record(running.opening("UserPromptSubmit"))
    incoming = Incoming.of(agent, opening, PROMPT)
    assert incoming.waits
    assert not Incoming.of(agent, opening, PROMPT, replayed=True).waits
    machine = {**PROMPT, "prompt": "<task-notification>done</task-notification>"}
    assert not Incoming.of(agent, opening, machine).waits
    session = LiveSession(agent, "s", cwd="", environ=running.environ, journal=running.journal)
    assert session.patience_ms(incoming) > live_session.LOAD_SECONDS * 1000
    await session.ready()
    assert session.patience_ms(incoming) <= 9500
    await session.close(Deadline.after(2))

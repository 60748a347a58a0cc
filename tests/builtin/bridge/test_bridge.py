"""The plugin in its host: what it keeps, sends, says and leaves behind."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builtin_plugins.bridge import bridge as module
from builtin_plugins.bridge.drain import Drain
from cognee_hooks import hookimpl
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind
from cognee_hooks.events import PostToolUse, SessionEnd, SessionStart, Stop, UserPromptSubmit
from cognee_hooks.host import Host
from cognee_hooks.results import Act, CheckStatus, Failure, StoreRequest, StoreState
from cognee_hooks.services.crypto import Sealer
from cognee_hooks.services.names import session_file_stem
from tests.support.redacted import redacted
from tests.support.scripted import ENTRY, ScriptedClient, fails, scripted_host
from tests.support.waiting import until

SID = "claude_s1"
K = FailureKind
SESSIONS = f"/api/v1/sessions/{SID}"
EMPTY_SESSION = {"qas": [], "traces": [], "msg_count": 0, "tool_calls": 0}


@pytest.fixture
def client() -> ScriptedClient:
    made = ScriptedClient()
    made.scripts[SESSIONS] = lambda _: EMPTY_SESSION
    return made


@pytest.fixture
def make(isolated_environment, client) -> Callable[..., Host]:
    def build(session_id: str = SID, **environ: str) -> Host:
        return scripted_host(isolated_environment, client, session_id, **environ)

    return build


@pytest.fixture
def folder(isolated_environment) -> Path:
    return isolated_environment / ".cognee-plugin" / "hooks" / "claude-code" / "bridge"


def request(number: object, session_id: str = SID, **fields: Any) -> StoreRequest:
    entry = {"type": "qa", "question": f"question {number}", "answer": "", "context": ""}
    known = {"session_id": session_id, "dataset": "agent_sessions", "entry": redacted(entry)}
    return StoreRequest(**(known | fields))


async def close(host: Host) -> int:
    return await host.close(Deadline.after(0))


def away(client: ScriptedClient) -> None:
    client.scripts[ENTRY] = fails(K.REFUSED)
    client.scripts["/health"] = fails(K.REFUSED)


def back(client: ScriptedClient) -> None:
    del client.scripts[ENTRY]
    client.scripts.pop("/health", None)


def questions(client: ScriptedClient) -> list[str]:
    """What the server took; a refused request shows as well, so only the last ones count."""
    return [entry["question"].removeprefix("question ") for entry in client.entries]


async def rows_of(host: Host) -> list[Any]:
    called = await host.dispatcher.call("cognee_doctor_checks")
    flat: list[Any] = []
    for value in called.value:
        flat += value if isinstance(value, list) else [value]
    return [row for row in flat if row.name == "bridge"]


def notices(host: Host) -> str:
    return "\n".join(notice.text for notice in host.notices.take())


async def left_behind(make, client, *sessions: str) -> None:
    """Sessions that ended while the server was away; nobody of them is there any more."""
    away(client)
    for session in sessions:
        host = make(session)
        await host.services.health.probe(Deadline.after(60))
        await host.store(request(session, session))
        await close(host)
    client.unsent.clear()
    back(client)


async def by_hand(host: Host) -> str:
    return await host.registered.commands["send"].run("")


# -- by hand -----------------------------------------------------------------------------------


async def test_somebody_may_have_sent_what_waits_in_all_sessions(make, client):
    await left_behind(make, client, "claude_a", "claude_b")
    client.scripts |= {f"/api/v1/sessions/claude_{each}": lambda _: EMPTY_SESSION for each in "ab"}
    host = make("claude_by_hand")
    await host.start()
    told = await by_hand(host)
    assert told == "2 captured entries were sent to http://localhost:8011; nothing waits any more."
    assert not isinstance(told, Failure)
    assert sorted(questions(client)) == ["claude_a", "claude_b"]
    told = await by_hand(host)
    assert told == "No captured entries of claude-code wait for http://localhost:8011."
    await close(host)


async def test_where_the_server_is_away_it_is_said_that_all_is_kept(make, client, folder):
    await left_behind(make, client, "claude_a")
    away(client)
    host = make("claude_by_hand")
    await host.start()
    told = await by_hand(host)
    assert isinstance(told, Failure)
    assert told.startswith("0 captured entries were sent to http://localhost:8011; 1 still wait")
    assert len(list(folder.glob("*.json"))) == 1
    await close(host)


async def test_what_belongs_to_another_server_is_not_sent_to_this_one(make, client):
    await left_behind(make, client, "claude_a")
    host = make("claude_by_hand", COGNEE_BASE_URL="http://elsewhere:1")
    await host.start()
    assert (await by_hand(host)).startswith("No captured entries")
    assert client.entries == []
    await close(host)


async def test_a_file_that_others_can_write_keeps_nobody_from_sending_the_rest(
    make, client, folder
):
    await left_behind(make, client, "claude_a", "claude_b")
    client.scripts["/api/v1/sessions/claude_b"] = lambda _: EMPTY_SESSION
    (folder / f"{session_file_stem('claude_a')}.json").chmod(0o666)
    host = make("claude_by_hand")
    await host.start()
    assert (await by_hand(host)).startswith("1 captured entry was sent")
    assert questions(client) == ["claude_b"]
    await close(host)


async def test_without_a_folder_that_can_be_used_nothing_is_sent(make, folder):
    folder.parent.mkdir(parents=True)
    folder.write_text("in the way")
    host = make()
    await host.start()
    told = await by_hand(host)
    assert isinstance(told, Failure)
    assert told.startswith("Nothing was sent: ")
    await close(host)


# -- keeping and sending -----------------------------------------------------------------------


async def test_an_entry_is_on_disk_when_the_hook_returns_and_then_sent(make, client, folder):
    client.delays[ENTRY] = 0.2
    host = make()
    receipt = await host.store(request(1))
    assert receipt.state is StoreState.BUFFERED
    assert host.waiting == 1
    assert host.volatile == 0
    assert (folder / f"{session_file_stem(SID)}.json").exists()
    await host.flush(Deadline.after(60))
    assert questions(client) == ["1"]
    assert host.waiting == 0
    assert host.ledger.totals(SID)[Act.DELIVERED] == 1
    assert not (folder / f"{session_file_stem(SID)}.json").exists()
    await close(host)


async def test_what_one_host_could_not_send_the_next_one_does_in_order(make, client):
    away(client)
    host = make()
    for number in range(3):
        await host.store(request(number))
    assert await close(host) == 0
    client.unsent.clear()
    back(client)
    other = make()
    await other.start()
    await other.session_start(SessionStart(session_id=SID))
    await other.background.settle(Deadline.after(60))
    await other.store(request("new"))
    await other.flush(Deadline.after(60))
    assert questions(client) == ["0", "1", "2", "new"]
    totals = other.ledger.totals(SID)
    assert totals[Act.REPLAYED] == 3
    assert totals[Act.DELIVERED] == 1
    await close(other)


async def test_what_is_captured_while_the_server_is_away_is_counted_as_buffered(make, client):
    away(client)
    host = make()
    await host.services.health.probe(Deadline.after(60))
    await host.store(request(1))
    assert host.ledger.totals(SID)[Act.BUFFERED] == 1
    assert host.waiting == 1
    await close(host)


async def test_a_server_that_comes_back_gets_what_waits(make, client):
    away(client)
    host = make()
    await host.start()
    await host.services.health.probe(Deadline.after(60))
    await host.store(request(1))
    client.unsent.clear()
    back(client)
    await host.services.health.probe(Deadline.after(60))
    await until(lambda: not host.waiting)
    assert questions(client) == ["1"]
    await close(host)


async def test_news_of_a_server_without_anything_to_send_changes_nothing(make):
    host = make()
    await rows_of(host)
    await host.start()
    await host.services.health.probe(Deadline.after(60))
    await host.background.settle(Deadline.after(60))
    assert host.services.health.state == "ok"
    assert host.waiting == 0
    await close(host)


async def test_an_entry_of_another_session_is_kept_under_that_session_z15(make, client, folder):
    client.delays[ENTRY] = 0.2
    host = make()
    await host.store(request(1, "claude_other", dataset="theirs"))
    assert host.waiting == 1
    await host.flush(Deadline.after(60))
    (body,) = client.bodies(ENTRY)
    assert (body["session_id"], body["dataset_name"]) == ("claude_other", "theirs")
    assert host.ledger.totals("claude_other")[Act.DELIVERED] == 1
    await close(host)


async def test_an_entry_under_a_key_that_was_taken_is_taken_no_second_time(make, client):
    host = make()
    for _ in range(2):
        assert (await host.store(request(1, key="event/capture/0"))).state is StoreState.BUFFERED
    await host.flush(Deadline.after(60))
    assert questions(client) == ["1"]
    await close(host)


async def test_an_entry_without_a_session_is_left_to_the_core(make, client):
    host = make()
    await host.store(request(1, ""))
    assert host.volatile == 1
    await close(host)


async def test_a_prompt_does_not_wait_for_what_is_being_sent_p05(make, client):
    client.delays[ENTRY] = 30
    host = make()
    for number in range(5):
        await host.store(request(number))
    await asyncio.sleep(0.05)
    began = time.monotonic()
    await host.user_prompt_submit(UserPromptSubmit(session_id=SID, prompt="What now?"))
    assert time.monotonic() - began < 4
    await close(host)


async def test_nothing_private_is_in_any_file_p10(make, client, isolated_environment):
    away(client)
    host = make()
    secret = "the-" + "hidden-word"
    await host.user_prompt_submit(
        UserPromptSubmit(session_id=SID, prompt=f"keep this <private>{secret}</private> please")
    )
    await host.stop(Stop(session_id=SID, last_assistant_message="done"))
    await host.post_tool_use(
        PostToolUse(
            session_id=SID,
            tool_name="Bash",
            tool_input={"command": f"echo <private>{secret}</private>"},
            tool_response=f"<private>{secret}</private> and more",
        )
    )
    await host.background.settle(Deadline.after(60))
    assert host.waiting == 2
    files = [path for path in isolated_environment.rglob("*") if path.is_file()]
    assert not any(secret.encode() in path.read_bytes() for path in files)
    assert not any(b"keep this" in path.read_bytes() for path in files if "bridge" in path.parts)
    assert secret not in json.dumps([dict(each.body) for each in client.unsent], default=str)
    await close(host)


# -- limits and trouble ------------------------------------------------------------------------


async def test_beyond_the_limit_the_oldest_are_dropped_counted_and_told_once(make, client):
    away(client)
    host = make(COGNEE_BUFFER_LIMIT="2")
    await host.services.health.probe(Deadline.after(60))
    for number in range(5):
        await host.store(request(number))
    assert host.waiting == 2
    assert host.drops.as_dict() == {"queue_overflow": 3}
    assert host.ledger.totals(SID)[Act.DROPPED] == 3
    assert notices(host).count("COGNEE_BUFFER_LIMIT is 2") == 1
    await close(host)


@pytest.mark.parametrize("what", ["a file", "another user's folder", "the key"])
async def test_where_nothing_can_be_written_the_core_keeps_the_entry(
    make, client, folder, isolated_environment, what, monkeypatch
):
    if what == "a file":
        folder.parent.mkdir(parents=True)
        folder.write_text("in the way")
    elif what == "the key":
        (isolated_environment / ".local" / "share" / "cognee-hooks" / "key").mkdir(parents=True)
    else:
        folder.mkdir(parents=True)
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    host = make()
    await host.session_start(SessionStart(session_id=SID))
    await host.store(request(1))
    monkeypatch.undo()
    assert host.volatile == 1
    await host.flush(Deadline.after(60))
    assert questions(client) == ["1"]
    await close(host)


async def test_a_file_that_others_can_write_is_told_and_left_alone(make, client, folder):
    away(client)
    host = make()
    await host.store(request(1))
    await close(host)
    path = folder / f"{session_file_stem(SID)}.json"
    path.chmod(0o664)
    content = path.read_bytes()
    other = make()
    await other.session_start(SessionStart(session_id=SID))
    await other.background.settle(Deadline.after(60))
    assert (await other.store(request(2))).state is StoreState.BUFFERED
    assert other.volatile == 1
    assert "chmod go-rwx" in notices(other)
    assert any("only you can change" in row.detail for row in await rows_of(other))
    await close(other)
    assert path.read_bytes() == content


@pytest.mark.expects_faults
async def test_a_loop_that_a_fault_ended_begins_again_with_the_next_entry(
    make, client, monkeypatch
):
    host = make()
    broken = asyncio.Event()

    async def breaks(*_: Any, **__: Any) -> Any:
        broken.set()
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(Drain, "_round", breaks)
        await host.store(request(1))
        await broken.wait()
        await asyncio.sleep(0)
    await host.store(request(2))
    await host.flush(Deadline.after(60))
    assert questions(client) == ["1", "2"]
    await close(host)


# -- what earlier sessions left ----------------------------------------------------------------


async def test_entries_of_another_session_are_sent_too(make, client):
    away(client)
    host = make("claude_before")
    await host.store(request("old", "claude_before"))
    await close(host)
    client.unsent.clear()
    back(client)
    other = make()
    await other.session_start(SessionStart(session_id=SID))
    await until(lambda: client.entries)
    (body,) = client.bodies(ENTRY)
    assert body["session_id"] == "claude_before"
    await close(other)


async def test_what_pi_left_behind_is_replayed(client, isolated_environment):
    folder = isolated_environment / ".cognee-plugin" / "pi" / "bridge"
    folder.mkdir(parents=True)
    element = {
        "type": "qa",
        "question": "from pi",
        "answer": "a",
        "context": "c",
        "sessionId": "pi_1",
        "dataset": "mine",
        "_buffered_at": 5,
    }
    path = folder / f"{session_file_stem('pi_1')}.json"
    path.write_text(json.dumps({"entries": [element], "fail_count": 0, "fail_at": 0}))
    path.chmod(0o644)
    host = Host(
        "pi",
        environ={"HOME": str(isolated_environment)},
        session_id="pi_2",
        client=client,
        entry_points=(),
    )
    await host.session_start(SessionStart(session_id="pi_2"))
    await until(lambda: client.entries)
    (body,) = client.bodies(ENTRY)
    assert body["entry"] == {"type": "qa", "question": "from pi", "answer": "a", "context": "c"}
    assert (body["session_id"], body["dataset_name"]) == ("pi_1", "mine")
    await close(host)


async def test_a_buffer_without_its_key_is_refused_with_a_clear_line_and_kept(
    make, client, folder, isolated_environment, tmp_path
):
    away(client)
    host = make()
    await host.store(request(1))
    await close(host)
    # Another machine: the state folder was copied, the key was not.
    there = tmp_path / "there"
    shutil.copytree(isolated_environment / ".cognee-plugin", there / ".cognee-plugin")
    back(client)
    client.unsent.clear()
    other = scripted_host(there, client, "claude_new")
    await other.session_start(SessionStart(session_id="claude_new"))
    await other.background.settle(Deadline.after(60))
    await other.store(request(2, "claude_new"))
    await other.flush(Deadline.after(60))
    assert questions(client) == ["2"]
    assert "cannot be opened" in notices(other)
    (row,) = [row for row in await rows_of(other) if row.status is CheckStatus.WARNING]
    assert row.detail.startswith("1 kept entries")
    assert "key file" in row.remedy
    kept = next((there / ".cognee-plugin").rglob(f"{session_file_stem(SID)}.json"))
    assert len(json.loads(kept.read_text())["entries"]) == 1
    await close(other)


async def test_what_is_too_old_is_told_before_it_is_put_aside_w33(make, client, folder):
    away(client)
    host = make()
    for number in range(2):
        await host.store(request(number))
    await close(host)
    path = folder / f"{session_file_stem(SID)}.json"
    os.utime(path, (1, 1))
    other = make("claude_new")
    await other.session_start(SessionStart(session_id="claude_new"))
    await other.background.settle(Deadline.after(60))
    assert "2 captured entries of 1 sessions" in notices(other)
    assert (folder / "quarantine" / path.name).exists()
    (row,) = [row for row in await rows_of(other) if row.status is CheckStatus.WARNING]
    assert row.detail.startswith("2 entries were put aside")
    await close(other)


async def test_a_host_without_a_session_touches_nothing(make, folder):
    host = make("")
    # A host makes an id of its own up; only commands that list plugins have none.
    plugin = host.registry.manager.get_plugin("bridge")
    object.__setattr__(plugin._context.session, "session_id", "")
    await plugin.cognee_session_start()
    assert not folder.exists()
    await close(host)


# -- the end of a session ----------------------------------------------------------------------


async def test_at_the_end_what_waits_is_sent_before_other_plugins_are_told(
    isolated_environment, client
):
    seen: list[int] = []

    class Later:
        def __init__(self, context: Any) -> None:
            self._context = context

        @hookimpl
        def cognee_session_end(self) -> None:
            seen.append(self._context.waiting)

    away(client)
    host = Host(
        "claude-code",
        environ={"HOME": str(isolated_environment)},
        session_id=SID,
        client=client,
        entry_points=(),
        plugins={"later": Later},
    )
    await host.services.health.probe(Deadline.after(60))
    for number in range(3):
        await host.store(request(number))
    client.unsent.clear()
    back(client)
    await host.session_end(SessionEnd(session_id=SID))
    assert questions(client) == ["0", "1", "2"]
    assert seen == [0]
    await close(host)


async def test_at_the_end_a_server_that_is_away_costs_a_second_and_loses_nothing(make, client):
    away(client)
    client.delays["/health"] = 30
    host = make()
    client.delays[ENTRY] = 30
    await host.store(request(1))
    began = time.monotonic()
    await host.session_end(SessionEnd(session_id=SID))
    assert time.monotonic() - began < 4
    assert await close(host) == 0
    assert host.waiting == 1
    assert host.ledger.totals(SID)[Act.BUFFERED] == 1


async def test_at_the_end_a_server_that_refuses_is_not_sent_anything(make, client):
    away(client)
    host = make()
    await host.services.health.probe(Deadline.after(60))
    await host.store(request(1))
    client.unsent.clear()
    await host.session_end(SessionEnd(session_id=SID))
    assert client.entries == []
    assert host.waiting == 1
    await close(host)


async def test_at_the_end_a_server_that_works_is_not_asked_how_it_is(make, client):
    client.delays[ENTRY] = 0.2
    host = make()
    await host.services.health.probe(Deadline.after(60))
    client.unsent.clear()
    await host.store(request(1))
    await host.session_end(SessionEnd(session_id=SID))
    asked = [each.path for each in client.unsent]
    assert ENTRY in asked
    assert "/health" not in asked
    await close(host)


async def test_the_end_goes_on_for_its_time_at_most(make, client, monkeypatch):
    monkeypatch.setattr(module, "FINISH_SECONDS", 0.2)
    client.delays[ENTRY] = 30
    host = make()
    await host.services.health.probe(Deadline.after(60))
    for number in range(3):
        await host.store(request(number))
    began = time.monotonic()
    await host.session_end(SessionEnd(session_id=SID))
    assert time.monotonic() - began < 5
    assert host.waiting == 3
    await close(host)


async def test_the_end_of_a_session_that_captured_nothing_asks_nobody(make, client):
    host = make()
    await host.session_end(SessionEnd(session_id=SID))
    assert client.unsent == []
    await close(host)


# -- power cuts and the doctor -----------------------------------------------------------------


async def test_what_was_written_is_brought_to_the_disk_soon_after(make, client, monkeypatch):
    monkeypatch.setattr(module, "FLUSH_AFTER", 0.01)
    away(client)
    host = make()
    await host.services.health.probe(Deadline.after(60))
    Sealer.of(host.paths.key_file)  # it is made, and flushed, when it is first needed
    flushed: list[int] = []
    done = asyncio.Event()
    loop = asyncio.get_running_loop()

    def fsync(descriptor: int) -> None:
        flushed.append(descriptor)
        loop.call_soon_threadsafe(done.set)

    monkeypatch.setattr(os, "fsync", fsync)
    plugin = host.registry.manager.get_plugin("bridge")
    plugin.cognee_store_entry(request(1))
    plugin.cognee_store_entry(request(2))
    assert flushed == []
    await asyncio.wait_for(done.wait(), 60)
    await close(host)


async def test_the_doctor_tells_what_waits_and_for_whom(make, client):
    host = make()
    (row,) = await rows_of(host)
    assert (row.status, row.detail) == (CheckStatus.OK, "nothing waits to be sent")
    away(client)
    await host.services.health.probe(Deadline.after(60))
    await host.store(request(1))
    await close(host)
    other = make(COGNEE_BASE_URL="http://elsewhere:1")
    await other.services.health.probe(Deadline.after(60))
    await other.store(request(2))
    here, there = await rows_of(other)
    assert here.detail == "1 captured entries wait for http://elsewhere:1"
    assert here.remedy.endswith("at once: `cognee-hooks send --agent claude-code`")
    assert there.detail.startswith(
        "1 captured entries wait for http://localhost:8011, which is not"
    )
    await close(other)


async def test_the_doctor_says_that_the_folder_cannot_be_used(make, folder):
    folder.parent.mkdir(parents=True)
    folder.write_text("in the way")
    host = make()
    (row,) = await rows_of(host)
    assert row.status is CheckStatus.FAILED
    assert str(folder) in row.remedy
    await close(host)

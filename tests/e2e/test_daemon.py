"""The daemon and its thin client as real processes: nothing that was taken is lost."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from cognee_hooks.cli import main
from cognee_hooks.daemon import control, thin_client
from cognee_hooks.deadline import Deadline
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.process_table import is_alive
from tests.support.command import payload
from tests.support.daemon import (
    agent_environment,
    argv,
    daemon_of,
    folder_of,
    hook,
    running,
    start,
    stop_daemon,
)
from tests.support.fake_server import Connection, FakeServer, Request, stall, status
from tests.support.scripted import remembers as passages
from tests.support.waiting import PATIENCE, until

RECALL = "/api/v1/recall"
ENTRY = "/api/v1/remember/entry"
PROMPT = payload("UserPromptSubmit", prompt="Which port does the billing service use?")


async def remembers(connection: Connection, request: Request) -> None:
    """Answer a recall with a passage."""
    await connection.answer(200, passages("a fact in memory")(request.json))


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with FakeServer() as fake:
        fake.on(RECALL, remembers)
        yield fake


@pytest.fixture
async def environ(isolated_environment: Path, server: FakeServer) -> AsyncIterator[dict[str, str]]:
    made = agent_environment(isolated_environment, server.url)
    async with daemon_of(made):
        yield made


@pytest.fixture
def folder(environ: dict[str, str]) -> Path:
    return folder_of(environ)


def entries(server: FakeServer) -> list[dict]:
    return [each.json["entry"] for each in server.requests if each.path == ENTRY]


def answers(server: FakeServer) -> list[str]:
    return [entry["answer"] for entry in entries(server) if entry["type"] == "qa"]


async def turn(environ: dict[str, str], number: int = 1, session: str = "s1") -> None:
    """One prompt with its answer."""
    who = {"session_id": session, "prompt_id": f"p{number}"}
    await hook("UserPromptSubmit", {**PROMPT, **who}, environ)
    done = {**payload("Stop", last_assistant_message=f"answer {number}"), **who}
    assert (await hook("Stop", done, environ)).code == 0


def kill(folder: Path) -> int:
    """Kill the daemon, as the system does when memory is short."""
    pid: int = running(folder)["pid"]
    os.kill(pid, signal.SIGKILL)
    return pid


def daemons_of(environ: dict[str, str]) -> list[int]:
    """Processes that are daemons of this home."""
    home = f"HOME={environ['HOME']}\0".encode()
    alive = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            line = (process / "cmdline").read_bytes()
            if b"cognee_hooks.daemon" in line and home in (process / "environ").read_bytes():
                alive.append(int(process.name))
    return alive


def has_open(pid: int, path: Path) -> bool:
    """Whether a process has a file open."""
    links = []
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            links.append(each.readlink())
    return path in links


# -- a session ---------------------------------------------------------------------------------


async def first_answer(environ: dict[str, str]) -> str:
    """What a prompt gets that finds no daemon.

    The client waits four seconds for the daemon that it starts, which on a busy machine may come up
    too late; then it is tried again.
    """
    for _ in range(4):
        done = await hook("UserPromptSubmit", PROMPT, environ)
        assert (done.code, done.err) == (0, "")
        if done.out:
            break
        await asyncio.to_thread(stop_daemon, environ)
    return done.out


async def test_the_first_prompt_of_a_machine_gets_its_memory(environ, server):
    answer = json.loads(await first_answer(environ))
    assert "memory" in answer["hookSpecificOutput"]["additionalContext"]


async def test_a_turn_and_its_tool_calls_reach_the_server(environ, server):
    await hook("UserPromptSubmit", PROMPT, environ)
    tool = await hook("PostToolUse", payload("PostToolUse.Bash"), environ)
    stop = await hook("Stop", payload("Stop", last_assistant_message="port 7431"), environ)
    assert (tool.out, tool.err, tool.code) == ("", "", 0)
    assert (stop.out, stop.err, stop.code) == ("", "", 0)
    await until(lambda: len(entries(server)) == 2)
    assert {entry["type"] for entry in entries(server)} == {"qa", "trace"}


async def test_the_journal_is_empty_when_all_is_sent(environ, server, folder):
    await turn(environ)
    await until(lambda: answers(server) == ["answer 1"])
    await until(lambda: running(folder)["kept"] == 0)
    assert list((folder / "journal").iterdir()) == []


async def test_two_clients_that_start_at_once_end_with_one_daemon(environ, folder):
    await asyncio.gather(
        *(hook("SessionStart", payload("SessionStart.startup"), environ) for _ in range(6))
    )
    pid = running(folder)["pid"]
    alive = daemons_of(environ)
    assert alive == [pid]


async def test_agents_are_served_each_with_its_own_settings(environ, server, folder):
    start(environ)
    other = {**environ, "COGNEE_RECALL": "false"}
    first, second = await asyncio.gather(
        hook("UserPromptSubmit", {**PROMPT, "session_id": "a"}, environ),
        hook("UserPromptSubmit", {**PROMPT, "session_id": "b"}, other),
    )
    assert "memory" in first.out
    assert second.out == ""
    assert len(running(folder)["sessions"]) == 2


async def test_changed_settings_hold_for_the_same_conversation(environ):
    start(environ)
    assert "memory" in (await hook("UserPromptSubmit", PROMPT, environ)).out
    changed = {**environ, "COGNEE_RECALL": "false"}
    assert (await hook("UserPromptSubmit", PROMPT, changed)).out == ""


async def test_the_daemon_may_have_many_files_open_wherever_it_is_started(environ, folder):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        pid = start(environ)["pid"]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert resource.prlimit(pid, resource.RLIMIT_NOFILE)[0] >= min(hard, 4096)


async def test_everything_below_the_daemons_folder_is_private(environ, folder):
    await turn(environ)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in folder.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


async def test_the_log_holds_no_text_of_anybody(environ, folder, server):
    server.on(ENTRY, status(500))
    await hook("UserPromptSubmit", {**PROMPT, "prompt": "a word like rumpelstilzchen"}, environ)
    await hook("Stop", b'{"last_assistant_message": "rumpelstilzchen"}', environ)
    await hook("Stop", b"rumpelstilzchen", environ)
    log = (folder / "daemon.log").read_text()
    assert "no JSON object" in log
    assert "rumpelstilzchen" not in log


async def test_a_folder_with_a_long_name_is_no_obstacle(isolated_environment, server):
    home = isolated_environment / ("deep" * 30) / ("deeper" * 20)
    home.mkdir(parents=True)
    environ = agent_environment(home, server.url)
    async with daemon_of(environ):
        assert "memory" in await first_answer(environ)


async def test_an_agent_that_works_for_us_is_left_alone(environ, folder):
    nested = {**environ, "COGNEE_HOOKS_NESTED": "1"}
    done = await hook("UserPromptSubmit", PROMPT, nested, empty="{}")
    assert (done.code, done.out) == (0, "{}")
    assert not folder.exists()


# -- the pipe ----------------------------------------------------------------------------------


@pytest.mark.parametrize("running_before", [True, False])
async def test_p02_a_pipe_that_stays_open_holds_nobody_up(environ, server, running_before):
    async def taken() -> float:
        began = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *argv("Stop"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environ,
        )
        process.stdin.write(json.dumps(payload("Stop")).encode())
        assert await process.stdout.read() == b""
        assert await process.wait() == 0
        seconds = time.monotonic() - began
        process.stdin.close()
        return seconds

    if running_before:
        start(environ)
    # Who waits for the pipe's end is never quicker; who does not, may be slow now and then.
    for _ in range(5):
        if await taken() < thin_client.IDLE_SECONDS:
            return
        if not running_before:
            await asyncio.to_thread(stop_daemon, environ)
    pytest.fail("it waits until the pipe has been idle for long enough")


@pytest.mark.parametrize("running_before", [True, False])
async def test_p02_an_idle_pipe_is_given_up(environ, running_before, folder):
    if running_before:
        start(environ)
    process = await asyncio.create_subprocess_exec(
        *argv("UserPromptSubmit", empty="{}"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=environ,
    )
    async with asyncio.timeout(PATIENCE):
        assert await process.stdout.read() == b"{}"
    assert await process.wait() == 0
    process.stdin.close()
    assert not list(folder.glob("spool/*"))


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff\xfe", b'"text"'])
async def test_what_is_no_payload_changes_nothing(environ, data):
    start(environ)
    done = await hook("UserPromptSubmit", data, environ, empty="{}")
    assert (done.code, done.out, done.err) == (0, "{}", "")


async def test_a_large_payload_arrives_whole(environ, server):
    answer = "x" * 3_000_000
    start(environ)
    await hook("UserPromptSubmit", PROMPT, environ)
    done = await hook("Stop", payload("Stop", last_assistant_message=answer), environ)
    assert done.code == 0
    await until(lambda: answers(server))


@pytest.mark.parametrize("closed", [0, 1, 2])
async def test_closed_descriptors_do_no_harm(environ, closed):
    pid = start(environ)["pid"]
    code = f"import os; os.close({closed}); os.execv({argv('Stop')[0]!r}, {argv('Stop')!r})"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdin=asyncio.subprocess.DEVNULL, env=environ
    )
    assert await process.wait() == 0
    # A daemon that cannot be heard is no daemon that is gone.
    assert daemons_of(environ) == [pid]


@pytest.mark.parametrize("closed", [0, 1, 2])
async def test_a_daemon_is_started_whatever_is_closed(environ, folder, closed):
    code = (
        f"import os; os.close({closed}); "
        f"os.execv({argv('SessionStart')[0]!r}, {argv('SessionStart')!r})"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdin=asyncio.subprocess.DEVNULL, env=environ
    )
    assert await process.wait() == 0
    assert running(folder)["pid"] in daemons_of(environ)


async def test_a_daemon_that_waited_for_a_folder_that_is_gone_does_not_come_up(environ, folder):
    folder.mkdir(parents=True, mode=0o700)
    lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    await hook("Stop", payload("Stop"), environ)
    (waiting,) = await until(lambda: daemons_of(environ))
    await until(lambda: has_open(waiting, folder / "lock"))
    (folder / "lock").unlink()
    os.close(lock)
    await until(lambda: not is_alive(waiting))
    assert not (folder / "socket").exists()


# -- kills -------------------------------------------------------------------------------------


async def test_a_killed_daemon_loses_nothing_that_it_took(environ, server, folder):
    server.on(ENTRY, stall)
    await turn(environ)
    await until(lambda: ENTRY in server.paths())
    kill(folder)
    server.on(ENTRY, status(200, {"status": "session_stored", "entry_id": "e"}))
    server.requests.clear()
    await turn(environ, 2)
    await until(lambda: answers(server) == ["answer 1", "answer 2"])


async def test_a_daemon_killed_between_prompt_and_answer_changes_nothing(environ, server, folder):
    await hook("UserPromptSubmit", {**PROMPT, "prompt_id": "p1"}, environ)
    kill(folder)
    done = await hook(
        "Stop", payload("Stop", last_assistant_message="7431", prompt_id="p1"), environ
    )
    assert (done.code, done.out, done.err) == (0, "", "")
    await hook("SessionStart", payload("SessionStart.startup"), environ)
    await until(lambda: answers(server) == ["7431"])


async def test_events_without_a_daemon_are_taken_up_in_their_order(environ, server, folder):
    for number in range(4):  # nothing that the model waits for, so nobody waits for the daemon
        tool = payload("PostToolUse.Bash", tool_use_id=f"t{number}")
        tool["tool_input"] = {"command": f"echo {number}"}
        assert (await hook("PostToolUse", tool, environ)).code == 0
    await until(lambda: len(entries(server)) == 4)
    commands = [entry["method_params"]["command"] for entry in entries(server)]
    assert commands == [f"echo {number}" for number in range(4)]
    assert not list(folder.glob("spool/*"))


async def test_what_is_private_is_cut_before_it_is_spooled(environ, folder):
    folder.mkdir(parents=True, mode=0o700)
    blocked = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(blocked, fcntl.LOCK_EX)  # no daemon can come up
    text = 'shown <private>geheim "quoted" </private> shown <PRIVATE>geheim to the end'
    done = await hook("Stop", payload("Stop", last_assistant_message=text), environ)
    assert done.code == 0
    (spooled,) = (folder / "spool").iterdir()
    os.close(blocked)
    data = spooled.read_bytes()
    assert b"geheim" not in data
    kept = json.loads(data[data.index(b"{") :])
    assert kept["last_assistant_message"] == "shown  shown "


async def test_variables_of_others_are_not_spooled(environ, folder):
    environ |= {"ANTHROPIC_API_KEY": "sk-" + "1" * 20, "COGNEE_DATASET": "mine"}
    await hook("Stop", payload("Stop"), environ)
    for path in folder.rglob("*"):
        if path.is_file():
            assert b"ANTHROPIC" not in path.read_bytes()


async def test_a_stale_socket_is_replaced(environ, folder):
    folder.mkdir(parents=True, mode=0o700)
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(folder / "socket"))
    dead.close()
    assert "memory" in await first_answer(environ)


async def test_a_daemon_that_cannot_come_up_is_not_started_again_and_again(environ, folder):
    Paths.of(environ, "daemon").key_file.mkdir(parents=True)
    begun = await asyncio.to_thread(control.start, folder, environ, Deadline.after(60))
    assert begun is None
    log = (folder / "daemon.log").read_text()
    assert log.count("the daemon failed") == control.MAX_STARTS


async def test_sigterm_has_what_waits_sent_first(environ, server, folder):
    await turn(environ)
    pid = running(folder)["pid"]
    os.kill(pid, signal.SIGTERM)
    await until(lambda: not is_alive(pid))
    assert answers(server) == ["answer 1"]
    assert list((folder / "journal").iterdir()) == []
    assert not (folder / "socket").exists()


@pytest.mark.parametrize("blocked", ["bridge", ""])
async def test_sigterm_keeps_what_the_server_did_not_take(environ, server, folder, blocked):
    environ["COGNEE_HOOKS_DISABLE"] = blocked
    server.on(ENTRY, status(503))
    await turn(environ)
    pid = running(folder)["pid"]
    os.kill(pid, signal.SIGTERM)
    await until(lambda: not is_alive(pid))
    kept = folder / "journal" if blocked else folder.parent / "claude-code" / "bridge"
    assert [*kept.glob("*.sealed"), *kept.glob("*.json")]
    server.on(ENTRY, status(200, {"status": "session_stored", "entry_id": "e"}))
    server.requests.clear()
    start(environ)
    if not blocked:
        await hook("SessionStart", payload("SessionStart.startup", session_id="s2"), environ)
    await until(lambda: answers(server) == ["answer 1"])
    await until(lambda: running(folder)["kept"] == 0)


async def test_a_stopped_daemon_makes_nobody_wait_long(environ, server, folder):
    start(environ)
    pid = running(folder)["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        done = await hook("Stop", payload("Stop"), environ, empty="{}")
        assert (done.code, done.out) == (0, "{}")
        assert done.seconds < PATIENCE
        assert len(list(folder.glob("spool/*.event"))) == 1
    finally:
        os.kill(pid, signal.SIGCONT)
    # The daemon finds the event twice, in its socket and in the spool.
    await turn(environ, 2)
    await until(lambda: not list(folder.glob("spool/*")))
    await until(lambda: answers(server) == ["answer 2"])


async def test_a_newer_client_makes_the_daemon_hand_over(environ, server, folder, monkeypatch):
    await turn(environ)
    old = running(folder)["pid"]
    monkeypatch.setattr(thin_client, "VERSION", "99.0")
    connection = thin_client.connect(os.fsencode(folder))
    raw = {os.fsencode(name): os.fsencode(value) for name, value in environ.items()}
    connection.sendall(thin_client.compose("hook", "claude-code", "Stop", raw) + b"{}")
    assert connection.recv(10) == b"!\n"
    connection.close()
    await until(lambda: not is_alive(old))
    assert answers(server) == ["answer 1"]
    monkeypatch.undo()
    await turn(environ, 2)
    await until(lambda: answers(server) == ["answer 1", "answer 2"])
    assert running(folder)["pid"] != old


# -- ends --------------------------------------------------------------------------------------


async def test_a_session_ends_with_its_agent(environ, server, folder):
    """The agent is killed, so nobody tells that the session is over."""
    events = [
        ("UserPromptSubmit", json.dumps(PROMPT)),
        ("Stop", json.dumps(payload("Stop", last_assistant_message="7431"))),
    ]
    script = (
        "import subprocess, time\n"
        f"for event, data in {events!r}:\n"
        f"    command = [*{argv('')[:-1]!r}, event]\n"
        "    subprocess.run(command, input=data.encode(), stdout=subprocess.DEVNULL)\n"
        "print('done', flush=True)\n"
        "time.sleep(60)\n"
    )
    agent = subprocess.Popen(  # noqa: ASYNC220 - it lives beside the test
        [sys.executable, "-c", script], env=environ, stdout=subprocess.PIPE
    )
    await asyncio.to_thread(agent.stdout.readline)
    (row,) = running(folder)["sessions"]
    assert row["pid"] == agent.pid
    agent.kill()
    agent.wait()
    agent.stdout.close()
    await until(lambda: running(folder)["sessions"] == [])
    assert answers(server) == ["7431"]


async def test_the_agents_end_of_session_is_worked_on_behind_it(environ, server, folder):
    await turn(environ)
    done = await hook("SessionEnd", payload("SessionEnd.other"), environ)
    assert (done.code, done.out) == (0, "")
    await until(lambda: answers(server) == ["answer 1"])


async def test_a_session_that_ends_while_the_server_is_away_is_sent_later(environ, server, folder):
    server.on(ENTRY, status(503))
    who = {"session_id": "s1"}
    await turn(environ)
    await hook("SessionEnd", {**payload("SessionEnd.other"), **who}, environ)
    await until(lambda: ENTRY in server.paths())
    server.on(ENTRY, status(200, {"status": "session_stored", "entry_id": "e"}))
    server.requests.clear()
    await until(lambda: answers(server) == ["answer 1"], seconds=60)
    await until(lambda: running(folder)["sessions"] == [])


def test_nobody_answers_where_no_daemon_runs(isolated_environment):
    assert control.ask(isolated_environment / "nowhere", "status") is None


async def test_what_ended_sessions_left_can_be_sent_by_hand(
    environ, server, folder, monkeypatch, capsys
):
    server.on(ENTRY, status(503))
    await turn(environ)
    who = {"session_id": "s1"}
    await hook("SessionEnd", {**payload("SessionEnd.other"), **who}, environ)
    await until(lambda: ENTRY in server.paths())
    await asyncio.to_thread(stop_daemon, environ)
    server.on(ENTRY, status(200, {"status": "session_stored", "entry_id": "e"}))
    server.requests.clear()
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert await asyncio.to_thread(main, ["send", "--agent", "claude-code"]) == 0
    assert "1 captured entry was sent" in capsys.readouterr().out
    assert answers(server) == ["answer 1"]
    assert await asyncio.to_thread(main, ["send"]) == 0
    assert "No captured entries of claude-code wait" in capsys.readouterr().out

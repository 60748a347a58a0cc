"""The plugin in its host: what starts a server, what does not, and what is said about it."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import sys
import time
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest

from builtin_plugins.bootstrap import __main__ as worker
from builtin_plugins.bootstrap import commands, local_server
from builtin_plugins.bootstrap.keeper import ServerKeeper
from builtin_plugins.bootstrap.local_server import LocalServer
from builtin_plugins.bootstrap.plan import Places
from builtin_plugins.bootstrap.state import Phase, Process, ServerRecord
from cognee_hooks.deadline import Deadline
from cognee_hooks.doctor import examine
from cognee_hooks.errors import UsageError
from cognee_hooks.events import SessionStart
from cognee_hooks.host import Host
from cognee_hooks.host_parts.status import render_status
from cognee_hooks.services.filelock import KernelLock
from cognee_hooks.services.process_table import start_time
from tests.support.real_cognee import free_port
from tests.support.waiting import until

EMBEDDED = {"COGNEE_LOCAL_SERVER": "embedded"}
KEY = {"LLM_API_KEY": "any"}
ME = Process(pid=os.getpid(), started=start_time(os.getpid()))


def said(host: Host) -> str:
    return " | ".join(each.text for each in host.notices.take())


async def command(host: Host, name: str, argument: str = "") -> str:
    return await host.registered.commands[name].run(argument)


def server_of(host: Host) -> LocalServer:
    server: LocalServer = host.registry.manager.get_plugin("bootstrap")._server
    return server


async def offline(host: Host) -> None:
    await until(lambda: host.services.health.state == "offline", "the outage")


def healthy(host: Host) -> bool:
    return host.services.health.state == "ok"


def is_up(machine: Any, host: Host) -> bool:
    # A session may see that the server is healthy before its worker has noted that.
    return healthy(host) and machine.record.phase is Phase.READY


async def row(host: Host, name: str) -> Any:
    rows = await examine(host, Deadline.after(10))
    return next(each for each in rows if each.name == name)


# -- what starts nothing -------------------------------------------------------------------------


async def test_p08_a_server_of_the_persons_that_is_down_is_not_replaced(
    isolated_environment: Path,
):
    home, port = isolated_environment, free_port()
    environ = {"HOME": str(home), "COGNEE_BASE_URL": f"http://127.0.0.1:{port}", **KEY}
    host = Host("claude-code", environ=environ, session_id="claude_s", entry_points=())
    await host.start()
    await host.session_start(SessionStart(session_id="claude_s", source="startup"))
    await offline(host)
    assert (await host.status_line()).startswith("✕ cognee: offline")
    assert (await row(host, "local runtime")).status.value == "info"
    for name in ("up", "down"):
        with pytest.raises(UsageError):
            await command(host, name)
    await host.close(Deadline.after(2))
    assert not Places(home / ".cognee-plugin", port).own.exists()
    assert not (home / ".cognee-plugin" / "venv").exists()


async def test_without_a_model_key_nothing_starts_and_the_person_learns_what_to_do(machine):
    host = await machine.started()
    await offline(host)
    await until(lambda: host.notices._waiting, "a notice")
    text = said(host)
    assert "LLM_API_KEY is not set" in text
    assert "COGNEE_LOCAL_SERVER=embedded" in text
    assert "starting" not in await host.status_line()
    found = await row(host, "local runtime")
    assert found.status.value == "warning"
    assert "COGNEE_LOCAL_SERVER=embedded" in found.remedy
    with pytest.raises(UsageError, match="LLM_API_KEY"):
        await command(host, "up")
    assert not machine.launched


async def test_switched_off_nothing_is_looked_at_and_nothing_said(machine):
    host = await machine.started(COGNEE_LOCAL_BOOTSTRAP="off", **KEY)
    await offline(host)
    assert said(host) == ""
    assert "bootstrap off" in (await row(host, "local runtime")).detail
    assert not machine.launched


async def test_a_project_can_switch_it_off_and_not_on(machine, tmp_path: Path):
    (tmp_path / ".cognee-hooks.yaml").write_text("plugins: {bootstrap: {enabled: false}}")
    environ = {"HOME": str(machine.home), **KEY}
    host = Host("claude-code", environ=environ, cwd=str(tmp_path), entry_points=())
    assert host.registry.manager.get_plugin("bootstrap")._settings.enabled is False


@pytest.mark.expects_faults  # recall, too, waits for a server that hangs
async def test_w22_where_something_holds_the_port_nothing_is_started_or_announced(
    machine, monkeypatch: pytest.MonkeyPatch
):
    looked = asyncio.Event()
    later = ServerKeeper._look_later

    async def noted(self: ServerKeeper, verdict: Any) -> None:
        looked.set()
        await later(self, verdict)

    monkeypatch.setattr(ServerKeeper, "_look_later", noted)
    with socket.socket() as hanging:
        hanging.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        hanging.bind(("127.0.0.1", machine.places.port))
        hanging.listen()
        host = await machine.started(COGNEE_HEALTH_TIMEOUT_MS="200", **KEY)
        await asyncio.wait_for(looked.wait(), 30)
        assert "starting" not in await host.status_line()
        assert said(host) == ""
        assert not machine.launched


async def test_what_a_person_stopped_stays_down(machine):
    machine.put(ServerRecord(phase=Phase.STOPPED, at=time.time()))
    host = await machine.started(**EMBEDDED)
    await offline(host)
    await host.services.health.probe(Deadline.after(2))
    assert not machine.launched
    assert (await row(host, "local runtime")).remedy.startswith("run `cognee-hooks up`")


async def test_w22_after_a_failure_nobody_tries_again_before_its_time(
    machine, monkeypatch: pytest.MonkeyPatch
):
    machine.put(ServerRecord(phase=Phase.FAILED, detail="no network", at=time.time(), streak=3))
    host = await machine.started(**EMBEDDED)
    await offline(host)
    await asyncio.sleep(0.3)
    assert not machine.launched
    found = await row(host, "local runtime")
    assert found.detail.endswith("bootstrap: failed — no network")
    assert found.status.value == "warning"


# -- what starts one -----------------------------------------------------------------------------


@pytest.mark.boots_servers
async def test_one_setting_starts_the_embedded_server_and_it_is_looked_after(machine):
    host = await machine.started(**EMBEDDED)
    await until(lambda: is_up(machine, host), "a healthy server")
    first = machine.record
    assert (first.phase, first.version, first.streak) == (Phase.READY, "embedded", 1)
    assert first.server.alive
    assert "listening on" in machine.places.console.read_text()
    assert host.services.health.embedded

    # W23: one notice for one start, and none that it is connected.
    text = said(host)
    assert text.count("a local server is being started") == 1
    assert "onnected" not in text

    # A second terminal takes the server that is there.
    second = await machine.started(**EMBEDDED)
    await until(lambda: healthy(second), "the same server")
    assert machine.record == first
    assert (await command(second, "up")).endswith("already.")

    # W22: one that dies is started again.
    os.kill(first.server.pid, signal.SIGKILL)
    await until(lambda: not first.server.alive, "its end")
    await host.services.health.probe(Deadline.after(5))
    await until(lambda: machine.record.streak == 2 and is_up(machine, host), "another")
    running = machine.record.server
    assert running.pid != first.server.pid

    assert (await row(host, "server pidfile")).detail.endswith(f": {running.pid}, alive")
    assert (await command(host, "down")).startswith("The server is stopped.")
    assert not running.alive
    assert not (machine.places.shared / f"server-{machine.places.port}.pid").exists()
    assert machine.record.phase is Phase.STOPPED
    assert (await command(host, "down")).startswith("No server was running.")

    assert "The server runs at" in await command(host, "up", "--wait 120")
    assert machine.record.streak == 1
    text = await command(host, "logs", "-n 100")
    assert "server_spawned" in text
    assert "listening on" in text
    await command(host, "down")


@pytest.mark.boots_servers
async def test_while_a_server_starts_the_line_says_so_and_not_that_it_is_away(
    machine, monkeypatch: pytest.MonkeyPatch
):
    host = await machine.started(**EMBEDDED)
    await until(lambda: machine.launched, "a worker")
    keeper = host.registry.manager.get_plugin("bootstrap")._kept
    monkeypatch.setattr(keeper, "_phase", Phase.STARTING)
    line = await render_status(host.dispatcher, max_width=80, colour=False, otherwise="")
    assert line.startswith("◐ cognee: starting (local · agent_sessions)")
    assert "offline" not in line
    await until(lambda: healthy(host), "its end")


@pytest.mark.boots_servers
async def test_p08_up_and_down_leave_a_server_of_another_program_alone(machine):
    port = str(machine.places.port)
    data = str(machine.home / "other.db")
    serve = ("-m", "cognee_hooks", "server", "--port", port, "--data", data)
    other = await asyncio.create_subprocess_exec(sys.executable, *serve, stdout=PIPE)
    assert b"listening" in await other.stdout.readline()
    try:
        host = await machine.started(**EMBEDDED)
        await until(lambda: healthy(host), "its server")
        with pytest.raises(UsageError, match="did not start"):
            await command(host, "down")
        assert other.returncode is None
        assert (await command(host, "up")).endswith("already.")
        assert not machine.record.server.pid
    finally:
        other.terminate()
        await other.wait()


@pytest.mark.boots_servers
async def test_down_ends_what_is_just_being_started(machine):
    # A worker that looks twice with a long pause between.
    host = await machine.started(COGNEE_PRESENCE_REPROBE_DELAY="30", **EMBEDDED)
    await until(lambda: machine.record.working, "a worker")
    worker = machine.record.worker
    await command(host, "down")
    assert not worker.alive
    assert machine.record.phase is Phase.STOPPED


async def test_down_takes_no_other_process_for_the_server(machine):
    gone = Process(pid=os.getpid(), started="1")
    machine.put(ServerRecord(phase=Phase.READY, server=gone, at=time.time()))
    text = await command(machine.host(**EMBEDDED), "down")
    assert start_time(os.getpid())
    assert "None is started by itself" in text


@pytest.mark.parametrize("argument", ["-n x", "1 2", "--wait soon"])
async def test_an_argument_that_is_no_number_is_refused(machine, argument: str):
    with pytest.raises(UsageError, match="no number"):
        await command(machine.host(**EMBEDDED), "logs", argument)


async def test_logs_say_when_there_is_nothing(machine):
    assert "(nothing yet)" in await command(machine.host(**EMBEDDED), "logs")


@pytest.mark.boots_servers
async def test_w22_a_server_that_came_and_went_is_not_kept_waiting_for_by_an_old_failure(machine):
    machine.put(ServerRecord(phase=Phase.FAILED, detail="no network", at=time.time(), streak=9))
    host = await machine.started(**EMBEDDED)
    await offline(host)
    await command(host, "up", "--wait 120")
    await until(lambda: healthy(host), "a healthy server")
    first = machine.record.server
    os.kill(first.pid, signal.SIGKILL)
    await until(lambda: not first.alive, "its end")
    await host.services.health.probe(Deadline.after(5))
    await until(lambda: machine.record.server.pid != first.pid and healthy(host), "another one")


@pytest.mark.parametrize(
    ("shell", "file", "lacks"),
    [(None, "", True), ("k", "", False), (None, "k", False), ("", "k", True), (" ", "", True)],
)
def test_a_model_key_is_what_the_server_would_see(
    machine, shell: str | None, file: str, lacks: bool
):
    (machine.home / ".cognee").mkdir()
    (machine.home / ".cognee" / ".env").write_text(f"LLM_API_KEY={file}\n")
    host = machine.host(**({} if shell is None else {"LLM_API_KEY": shell}))
    plugin = host.registry.manager.get_plugin("bootstrap")
    assert plugin._server.lacks_model_key is lacks


async def test_what_workers_print_does_not_add_up_without_end(machine, monkeypatch):
    from builtin_plugins.bootstrap import local_server

    monkeypatch.setattr(local_server, "spawn_detached", lambda *_, **__: os.getpid())
    host = machine.host()
    server = host.registry.manager.get_plugin("bootstrap")._server
    log = server.plan.places.own / "worker.log"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"x" * (local_server.WORKER_LOG_BYTES + 1))
    server.launch()
    assert log.read_bytes() == b""
    assert log.with_name("worker.log.1").stat().st_size == local_server.WORKER_LOG_BYTES
    log.unlink()
    log.symlink_to(log)
    server.launch()


# -- when starting goes wrong --------------------------------------------------------------------


async def test_a_worker_that_cannot_be_started_is_not_tried_without_end(
    machine, monkeypatch: pytest.MonkeyPatch
):
    tries = 0

    def launch(self: LocalServer) -> Process:
        nonlocal tries
        tries += 1
        raise OSError(errno.ENOSPC, "No space left on device", "/home/x")

    monkeypatch.setattr(LocalServer, "launch", launch)
    host = await machine.started(**EMBEDDED)
    await until(lambda: tries, "a try")
    await asyncio.sleep(0.3)
    assert tries == 1
    text = said(host)
    assert text.count("did not start: /home/x: No space left on device. It is tried again") == 1


async def test_a_worker_that_ends_without_a_word_is_not_started_again_at_once(
    machine, monkeypatch: pytest.MonkeyPatch
):
    launched: list[Process] = []

    def launch(self: LocalServer) -> Process:
        launched.append(Process(pid=os.getpid(), started="1"))
        return launched[-1]

    monkeypatch.setattr(local_server, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(LocalServer, "launch", launch)
    host = await machine.started(**EMBEDDED)
    await until(lambda: host.notices._waiting[1:], "a notice")
    await asyncio.sleep(0.2)
    assert len(launched) == 1
    assert "it was killed, or cannot write to" in said(host)


async def test_who_comes_second_follows_the_worker_that_has_just_begun(
    machine, monkeypatch: pytest.MonkeyPatch
):
    def launch(self: LocalServer) -> Process:
        return Process(pid=os.getpid(), started="1")  # one that found the lock taken

    async def first() -> None:
        await asyncio.sleep(0.02)
        me = Process(pid=os.getpid(), started=start_time(os.getpid()))
        machine.put(ServerRecord(phase=Phase.STARTING, worker=me, at=time.time()))
        await asyncio.sleep(0.2)
        machine.put(ServerRecord(phase=Phase.READY, server=me, at=time.time()))

    monkeypatch.setattr(local_server, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(LocalServer, "launch", launch)
    server = server_of(machine.host(**EMBEDDED))
    phases: list[Phase] = []
    record, _ = await asyncio.gather(server.bring_up(phases.append, Deadline.after(30)), first())
    assert record.phase is Phase.READY
    assert Phase.STARTING in phases


async def test_a_clock_that_is_set_back_does_not_make_a_start_a_failure(
    machine, monkeypatch: pytest.MonkeyPatch
):
    def launch(self: LocalServer) -> Process:
        machine.put(ServerRecord(phase=Phase.READY, at=time.time() - 7200))
        return Process(pid=os.getpid(), started="1")

    monkeypatch.setattr(LocalServer, "launch", launch)
    record = await server_of(machine.host(**EMBEDDED)).bring_up(print, Deadline.after(30))
    assert record.phase is Phase.READY


def test_a_worker_that_comes_after_the_person_stopped_the_server_does_nothing(machine):
    machine.put(ServerRecord(phase=Phase.STOPPED, at=1.0))
    plan = server_of(machine.host(**EMBEDDED)).plan
    assert worker.main(plan.to_argument()) == 0
    assert machine.record == ServerRecord(phase=Phase.STOPPED, at=1.0)
    assert not machine.places.log.exists()


async def test_down_says_so_before_the_server_is_gone(machine, monkeypatch: pytest.MonkeyPatch):
    me = Process(pid=os.getpid(), started=start_time(os.getpid()))
    machine.put(ServerRecord(phase=Phase.READY, server=me, at=time.time()))
    seen: list[ServerRecord] = []

    async def end(*_: Any) -> bool:
        seen.append(machine.record)
        lock = KernelLock(machine.places.worker_lock)
        assert not lock.try_acquire()  # so no worker begins meanwhile
        return len(seen) > 1

    monkeypatch.setattr(commands, "end", end)
    host = machine.host(**EMBEDDED)
    with pytest.raises(UsageError, match="does not end"):
        await command(host, "down")
    assert (seen[0].phase, seen[0].server) == (Phase.STOPPED, me)
    # What is still there can be stopped again.
    assert (await command(host, "down")).startswith("The server is stopped.")
    assert machine.record.server == Process()


async def test_down_waits_for_the_first_word_of_a_worker_that_has_just_begun(
    machine, monkeypatch: pytest.MonkeyPatch
):
    me = Process(pid=os.getpid(), started=start_time(os.getpid()))
    lock = KernelLock(machine.places.worker_lock)
    assert lock.try_acquire()
    ended: list[int] = []

    async def end(pid: int, *_: Any) -> bool:
        ended.append(pid)
        lock.release()
        return True

    monkeypatch.setattr(commands, "end", end)
    stopping = asyncio.ensure_future(command(machine.host(**EMBEDDED), "down"))
    await asyncio.sleep(0.15)
    machine.put(ServerRecord(phase=Phase.CHECKING, worker=me, at=time.time()))
    await stopping
    assert ended == [me.pid]
    assert machine.record.phase is Phase.STOPPED


# -- what a person reads -------------------------------------------------------------------------


@pytest.mark.boots_servers
@pytest.mark.expects_faults  # recall, too, waits for a server that is none
async def test_up_names_the_port_that_something_else_holds(machine):
    with socket.socket() as hanging:
        hanging.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        hanging.bind(("127.0.0.1", machine.places.port))
        hanging.listen()
        host = machine.host(**EMBEDDED)
        with pytest.raises(UsageError, match=r"port \d+ is held by something .* End that program"):
            await command(host, "up", "--wait 60")
        found = await row(host, "local runtime")
        assert found.status.value == "warning"
        assert "is held by something" in found.detail
        assert found.remedy == "end that program, then run `cognee-hooks up`"


async def test_without_its_packages_the_small_server_names_the_command_that_brings_them(machine):
    machine.put(
        ServerRecord(phase=Phase.FAILED, detail="it needs x: `p -m pip install y`.", at=1.0)
    )
    found = await row(machine.host(**EMBEDDED), "local runtime")
    assert "it needs x: `p -m pip install y`." in found.detail


@pytest.mark.parametrize(
    ("record", "status", "told", "remedy"),
    [
        (
            ServerRecord(),
            "info",
            "nothing was started yet",
            "start an agent, or run `cognee-hooks up`",
        ),
        (ServerRecord(phase=Phase.READY, at=1.0), "info", "the server ended", "start an agent"),
        (
            ServerRecord(phase=Phase.INSTALLING, at=1.0, worker=ME),
            "info",
            "installing cognee, for ",
            "wait; `cognee-hooks up` shows how far it is",
        ),
        (
            ServerRecord(phase=Phase.STOPPED, at=1.0),
            "info",
            "stopped by hand",
            "run `cognee-hooks up` to start it again",
        ),
        (
            ServerRecord(phase=Phase.FAILED, detail="no room", at=1.0),
            "warning",
            "failed — no room",
            "see `cognee-hooks logs`, then run `cognee-hooks up`",
        ),
    ],
)
async def test_doctor_says_in_one_row_how_the_start_stands(
    machine, record: ServerRecord, status: str, told: str, remedy: str
):
    machine.put(record)
    found = await row(machine.host(**EMBEDDED), "local runtime")
    assert found.status.value == status
    assert told in found.detail
    assert found.remedy.startswith(remedy)


async def test_a_python_that_does_not_answer_is_told_and_nothing_changed(machine):
    python = machine.places.interpreter
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\nexec sleep 60\n")
    python.chmod(0o755)
    found = await row(machine.host(**KEY), "local runtime")
    assert "venv: does not answer" in found.detail
    assert python.exists()


async def test_logs_show_the_end_of_long_ones_without_secrets_and_wait_for_no_pipe(machine):
    value = "sk-proj-" + "Zx9" * 16
    machine.places.own.mkdir(parents=True)
    machine.places.log.write_text("x" * 5_000_000 + "\n" + f"the key is {value}\nlast\n")
    os.mkfifo(machine.places.console)
    text = await command(machine.host(**EMBEDDED), "logs", "-n 2")
    assert "last" in text
    assert "the key is [redacted" in text
    assert value not in text
    assert "(nothing yet)" in text


@pytest.mark.parametrize(
    ("record", "told"),
    [
        (ServerRecord(), None),
        (ServerRecord(phase=Phase.READY, at=1.0, server=ME), None),
        (ServerRecord(phase=Phase.READY, at=1.0), "ended; the next prompt starts it"),
        (ServerRecord(phase=Phase.INSTALLING, at=1.0, worker=ME), "installing cognee, for "),
        (ServerRecord(phase=Phase.STOPPED, at=1.0), "stopped by hand; `cognee-hooks up` starts it"),
        (
            ServerRecord(phase=Phase.FAILED, detail="no room.", at=1.0),
            "did not start: no room. `cognee-hooks up` tries again",
        ),
    ],
)
async def test_the_page_of_status_says_what_is_done_about_the_server(
    machine, record: ServerRecord, told: str | None
):
    machine.put(record)
    found = machine.host(**EMBEDDED).registry.manager.get_plugin("bootstrap").cognee_status_rows()
    assert (found is None) if told is None else found.text.startswith(told)


def test_the_page_of_status_says_that_there_is_no_model_key(machine):
    row = machine.host().registry.manager.get_plugin("bootstrap").cognee_status_rows()
    assert row.text.startswith("none is started, since LLM_API_KEY is not set")
    off = machine.host(COGNEE_LOCAL_BOOTSTRAP="off")
    assert off.registry.manager.get_plugin("bootstrap").cognee_status_rows() is None

"""One attempt, with programs that are no servers."""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from builtin_plugins.bootstrap import boot
from builtin_plugins.bootstrap.boot import Boot, BootOutcome
from builtin_plugins.bootstrap.errors import BootFailed
from builtin_plugins.bootstrap.log import BootLog
from builtin_plugins.bootstrap.pidfile import PidFile
from builtin_plugins.bootstrap.plan import WorkerPlan
from builtin_plugins.bootstrap.presence import READY, Presence, PresenceProbe, Verdict
from builtin_plugins.bootstrap.secrets_out import Cleaner
from builtin_plugins.bootstrap.settings import ServerKind
from builtin_plugins.bootstrap.state import Phase, Process
from cognee_hooks.deadline import Deadline
from cognee_hooks.services.process_table import end
from tests.support.real_cognee import free_port


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boot, "HEALTH_POLL", 0.05)
    monkeypatch.setattr(boot, "_LAST_LOOK_SECONDS", 0.2)
    monkeypatch.setattr(boot, "_LAST_LOOK_POLL", 0.05)


class Rig:
    """An attempt that starts a program of the test's, with verdicts of the test's."""

    def __init__(self, home: Path, program: str = "", **changes: Any) -> None:
        fields = {
            "url": f"http://127.0.0.1:{free_port()}",
            "kind": ServerKind.COGNEE,
            "shared": home / ".cognee-plugin",
            "python": "3.12",
            "install_seconds": 60,
            "boot_seconds": 60,
            "pause": 0,
            "log_max_bytes": 0,
        }
        self.plan = WorkerPlan(**(fields | changes))
        self.plan.places.venv.mkdir(parents=True)
        self.verdicts: list[Verdict] = []
        self.health: list[bool] = []
        self.installed = 0
        self.phases: list[Phase] = []
        self.servers: list[Process] = []

        async def ask(_: float) -> str:
            return READY if self.health and self.health.pop(0) else "refused"

        probe = PresenceProbe(self.plan.url, PidFile(self.plan.shared, self.plan.port), ask)
        looked = iter(lambda: self.verdicts.pop(0) if self.verdicts else Verdict.ABSENT, None)

        async def look(*, confirm: bool) -> Presence:
            return Presence(next(looked), {"tcp": "listening"})

        self.boot = Boot(
            self.plan,
            {"PATH": os.defpath, "HOME": str(home)},
            probe=probe,
            log=BootLog(self.plan.places.log, 0),
            tell=self.phases.append,
            started=self.servers.append,
        )
        probe.look = look  # type: ignore[method-assign]

        async def prepared() -> tuple[list[str], str]:
            self.installed += 1
            return [sys.executable, "-c", program], "1.6.5"

        self.boot._prepared = prepared  # type: ignore[method-assign]

    @property
    def events(self) -> list[str]:
        lines = self.plan.places.log.read_text().splitlines()
        return [json.loads(line)["event"] for line in lines]


SLEEPS = "import time; time.sleep(600)  # cognee"


async def ended(process: Process) -> bool:
    return await end(process.pid, process.started, Deadline.after(0), Deadline.after(10))


async def test_a_server_that_is_there_is_taken_as_it_is(isolated_environment: Path):
    rig = Rig(isolated_environment)
    rig.verdicts = [Verdict.READY]
    assert await rig.boot.run() == BootOutcome(None)
    assert (rig.installed, rig.servers) == (0, [])


@pytest.mark.parametrize("verdict", [Verdict.BUSY, Verdict.UNKNOWN])
@pytest.mark.parametrize("stage", ["pre_install", "post_install", "in_lock"])
async def test_where_something_may_be_there_nothing_is_started_over_it(
    isolated_environment: Path, verdict: Verdict, stage: str
):
    rig = Rig(isolated_environment, SLEEPS)
    stages = ["pre_install", "post_install", "in_lock"]
    rig.verdicts = [Verdict.ABSENT] * stages.index(stage) + [verdict]
    with pytest.raises(BootFailed, match=f"verdict={verdict}, stage={stage}"):
        await rig.boot.run()
    assert rig.servers == []
    assert rig.installed == (stage != "pre_install")
    assert "boot_refused_server_present" in rig.events
    assert not rig.plan.places.boot_lock.exists()


async def test_a_server_that_comes_up_is_noted_for_all_plugins(isolated_environment: Path):
    rig = Rig(isolated_environment, SLEEPS)
    rig.health = [False, True]
    outcome = await rig.boot.run()
    try:
        assert outcome.server == rig.servers[0]
        assert rig.phases == [Phase.CHECKING, Phase.STARTING]
        file = rig.plan.shared / f"server-{rig.plan.port}.pid"
        record = json.loads(file.read_text())
        assert set(record) == {"pid", "port", "version", "created_at", "start_time"}
        assert (record["pid"], record["port"]) == (rig.servers[0].pid, rig.plan.port)
        assert rig.events == ["server_spawned", "server_healthy"]
        assert not rig.plan.places.boot_lock.exists()
    finally:
        assert await ended(rig.servers[0])


async def test_a_server_that_ends_tells_why(isolated_environment: Path):
    rig = Rig(isolated_environment, "print('cannot open the database', flush=True)")
    with pytest.raises(BootFailed, match="cannot open the database"):
        await rig.boot.run()
    assert "server_exited_before_healthy" in rig.events
    assert not (rig.plan.shared / f"server-{rig.plan.port}.pid").exists()
    assert not rig.plan.places.boot_lock.exists()


async def test_a_server_that_takes_too_long_is_left_to_go_on(isolated_environment: Path):
    rig = Rig(isolated_environment, SLEEPS, boot_seconds=0.2)
    with pytest.raises(BootFailed, match="did not become healthy"):
        await rig.boot.run()
    assert rig.servers[0].alive
    assert await ended(rig.servers[0])


async def test_a_server_that_somebody_else_starts_meanwhile_is_taken(isolated_environment: Path):
    rig = Rig(isolated_environment, SLEEPS)
    rig.plan.places.boot_lock.write_text(
        json.dumps({"owner": "x", "pid": os.getpid(), "created_at": time.time()})
    )
    rig.health = [False, True]
    assert await rig.boot.run() == BootOutcome(None)
    assert rig.servers == []
    assert rig.plan.places.boot_lock.exists()


async def test_a_lock_that_never_comes_free_is_named(isolated_environment: Path):
    rig = Rig(isolated_environment, SLEEPS, boot_seconds=0.3)
    rig.plan.places.boot_lock.write_text(
        json.dumps({"owner": "x", "pid": os.getpid(), "created_at": time.time()})
    )
    with pytest.raises(BootFailed, match=r"server-bootstrap\.lock"):
        await rig.boot.run()


async def test_without_its_packages_the_embedded_server_says_what_to_install(
    isolated_environment: Path, monkeypatch: pytest.MonkeyPatch
):
    rig = Rig(isolated_environment, kind=ServerKind.EMBEDDED)
    del rig.boot._prepared
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(BootFailed, match=r"cognee-hooks\[embedded\]"):
        await rig.boot.run()


def test_a_plan_survives_the_command_line(isolated_environment: Path):
    plan = Rig(isolated_environment).plan
    assert WorkerPlan.from_argument(plan.to_argument()) == plan


def test_the_log_is_put_aside_when_it_is_long_and_bounds_what_it_is_told(tmp_path: Path):
    log = BootLog(tmp_path / "b.log", 100)
    log.write("first", error="x" * 100_000)
    log.write("second")
    assert len((tmp_path / "b.log.1").read_bytes()) < 5000
    assert json.loads((tmp_path / "b.log").read_text())["event"] == "second"


async def test_of_a_server_that_ends_the_line_with_the_error_is_shown(isolated_environment: Path):
    said = "ERROR: [Errno 98] address already in use\nINFO: Application shutdown complete."
    rig = Rig(isolated_environment, f"print({said!r}, flush=True)")
    with pytest.raises(BootFailed, match=r"healthy \(ERROR: \[Errno 98\] address already in use\)"):
        await rig.boot.run()


async def test_a_secret_that_a_server_quotes_is_neither_kept_in_the_log_nor_shown(
    isolated_environment: Path,
):
    value = "quoted" + "-by-the-model-4711"
    rig = Rig(isolated_environment, f"print('Error: bad key {value}', flush=True)")
    rig.boot._log.clean = Cleaner({"LLM_API_KEY": value})
    with pytest.raises(BootFailed) as failure:
        await rig.boot.run()
    assert "bad key [redacted" in str(failure.value)
    assert value not in rig.plan.places.log.read_text()


@pytest.mark.parametrize(
    ("verdict", "evidence", "told"),
    [
        (Verdict.BUSY, {"tcp": "listening"}, "port .* is held by something .* End that program"),
        (Verdict.BUSY, {"pid": "77"}, "process 77 lives and does not serve, .* Wait for it"),
        (Verdict.UNKNOWN, {"tcp": "no_verdict"}, "it cannot be told whether something holds port"),
    ],
)
async def test_a_refusal_says_what_is_there_and_what_to_do(
    isolated_environment: Path, verdict: Verdict, evidence: dict[str, str], told: str
):
    rig = Rig(isolated_environment)

    async def look(*, confirm: bool) -> Presence:
        return Presence(verdict, evidence)

    rig.boot._probe.look = look  # type: ignore[method-assign,assignment]
    with pytest.raises(BootFailed, match=told):
        await rig.boot.run()


async def test_what_a_server_is_started_with_holds_no_login_of_a_package_index(
    isolated_environment: Path,
):
    rig = Rig(isolated_environment, "import os; print('Error', sorted(os.environ), flush=True)")
    rig.boot._environ = {"PATH": os.defpath, "UV_INDEX_URL": "u", "LLM_MODEL": "m"}
    with pytest.raises(BootFailed, match="LLM_MODEL") as failure:
        await rig.boot.run()
    assert "UV_INDEX_URL" not in str(failure.value)


async def test_a_server_whose_worker_was_killed_is_waited_for(isolated_environment: Path):
    rig = Rig(isolated_environment)
    del rig.boot._probe.look
    rig.boot._pidfile.write(os.getpid(), "1.6.5")
    rig.health = [False, False, True, True]
    rig.boot._probe._pidfile = PidFile(rig.plan.shared, rig.plan.port, lambda _: "uvicorn")
    rig.boot._pidfile = rig.boot._probe._pidfile
    assert await rig.boot.run() == BootOutcome(None)
    assert rig.phases == [Phase.CHECKING, Phase.STARTING, Phase.STARTING]
    assert rig.servers == []


async def test_a_server_that_has_not_come_up_for_long_is_not_waited_for(
    isolated_environment: Path,
):
    rig = Rig(isolated_environment, boot_seconds=0)
    del rig.boot._probe.look
    rig.boot._pidfile.write(os.getpid(), "1.6.5")
    rig.boot._probe._pidfile = PidFile(rig.plan.shared, rig.plan.port, lambda _: "uvicorn")
    rig.boot._pidfile = rig.boot._probe._pidfile
    with pytest.raises(BootFailed, match=f"process {os.getpid()} lives and does not serve"):
        await rig.boot.run()


async def test_a_server_without_a_pump_or_a_note_is_a_server_nevertheless(
    isolated_environment: Path, monkeypatch: pytest.MonkeyPatch
):
    rig = Rig(isolated_environment, SLEEPS)
    rig.health = [True]
    spawn = boot.spawn_detached

    def full(command: list[str], **more: Any) -> int:
        if boot.PUMP in command:
            raise OSError(errno.ENOSPC, "No space left on device")
        return spawn(command, **more)

    def unwritten(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(boot, "spawn_detached", full)
    monkeypatch.setattr(PidFile, "write", unwritten)
    outcome = await rig.boot.run()
    assert outcome.server == rig.servers[0]
    assert await ended(rig.servers[0])
    assert rig.events[:2] == ["console_pump_start_failed", "server_pidfile_write_failed"]


async def test_a_program_that_cannot_be_started_is_named(isolated_environment: Path):
    rig = Rig(isolated_environment)

    async def prepared() -> tuple[list[str], str]:
        return ["/gone/python"], "1.6.5"

    rig.boot._prepared = prepared  # type: ignore[method-assign]
    with pytest.raises(BootFailed, match="/gone/python cannot be started: No such file"):
        await rig.boot.run()
    assert "server_spawn_failed_no_pid" in rig.events
    assert not rig.plan.places.boot_lock.exists()

from __future__ import annotations

import asyncio
import dataclasses
import errno
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builtin_plugins.bootstrap import installed, installer
from builtin_plugins.bootstrap.environment import server_environment
from builtin_plugins.bootstrap.errors import BootFailed
from builtin_plugins.bootstrap.installer import CogneeInstaller, find_uv, gist
from builtin_plugins.bootstrap.log import BootLog
from builtin_plugins.bootstrap.pidfile import PidFile
from builtin_plugins.bootstrap.plan import WorkerPlan
from builtin_plugins.bootstrap.secrets_out import Cleaner
from builtin_plugins.bootstrap.settings import ServerKind
from cognee_hooks.services.process import Completed

_UV = """#!{python} -S
import json, os, pathlib, sys
here = pathlib.Path({here!r})
words = sys.argv[1:]
with open(here / "calls", "a") as calls:
    calls.write(json.dumps(words) + "\\n")
if (here / "fails").exists():
    sys.exit((here / "fails").read_text() or "no network, says the installer")
if words[0] == "venv":
    if (here / "lacks").exists() and words[2] == (here / "lacks").read_text():
        sys.exit("error: No interpreter found for Python " + words[2])
    python = pathlib.Path(words[-1]) / "bin" / "python"
    python.parent.mkdir(parents=True, exist_ok=True)
    python.write_text('#!/bin/sh\\nexec cat "$(dirname "$0")/../found.json"\\n')
    python.chmod(0o755)
else:
    version = (here / "gives").read_text() if (here / "gives").exists() else words[-1][-5:]
    found = pathlib.Path(words[-2]).parent.parent / "found.json"
    found.write_text(json.dumps({{"version": version, "absent": [], "python": [3, 12]}}))
"""


class Rig:
    """An installer whose uv is a script that writes down what it is asked."""

    def __init__(self, home: Path, environ: dict[str, str]) -> None:
        self.home = home
        self.plan = WorkerPlan(
            url="http://localhost:8011",
            kind=ServerKind.COGNEE,
            shared=home / ".cognee-plugin",
            python="3.12",
            install_seconds=60,
            boot_seconds=60,
            pause=0,
            log_max_bytes=0,
        )
        self.plan.shared.mkdir()
        self.uv = home / "uv"
        self.uv.write_text(_UV.format(python=sys.executable, here=str(home)))
        self.uv.chmod(0o755)
        self.told = 0
        self.environ = server_environment(
            {"PATH": os.defpath} | environ, {}, home=home, email="e", password="p"
        )

    @property
    def calls(self) -> list[list[str]]:
        file = self.home / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        return [json.loads(line) for line in lines]

    @property
    def events(self) -> list[str]:
        lines = self.plan.places.log.read_text().splitlines()
        return [json.loads(line)["event"] for line in lines]

    def has(
        self,
        version: str,
        absent: tuple[str, ...] = (),
        *,
        marked: bool = True,
        python: tuple[int, int] = (3, 12),
        program: str = 'exec cat "$(dirname "$0")/../found.json"',
    ) -> None:
        """Put an environment with a cognee in place."""
        interpreter = self.plan.places.interpreter
        interpreter.parent.mkdir(parents=True)
        interpreter.write_text(f"#!/bin/sh\n{program}\n")
        interpreter.chmod(0o755)
        found = {"version": version, "absent": list(absent), "python": python}
        (self.plan.places.venv / "found.json").write_text(json.dumps(found))
        if marked:
            self.plan.places.ready_marker.write_text(json.dumps({"cognee_version": version}))

    @property
    def marked(self) -> str:
        """Which version is said to be installed to the end."""
        file = self.plan.places.ready_marker
        return json.loads(file.read_text())["cognee_version"] if file.exists() else ""

    async def ensure(self) -> str:
        log = BootLog(self.plan.places.log, 0, Cleaner(self.environ))
        return await CogneeInstaller(self.plan, self.environ, log, self._tell).ensure()

    def _tell(self) -> None:
        self.told += 1


@pytest.fixture
def make(isolated_environment: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Rig]:
    def build(**environ: str) -> Rig:
        rig = Rig(isolated_environment, environ)
        monkeypatch.setattr(installer, "find_uv", lambda *_: str(rig.uv))
        return rig

    return build


async def test_a_machine_with_nothing_gets_the_pin(make: Callable[..., Rig]):
    rig = make()
    assert await rig.ensure() == "1.6.5"
    venv = str(rig.plan.places.venv)
    python = str(rig.plan.places.interpreter)
    assert rig.calls == [
        ["venv", "--python", "3.12", venv],
        ["--no-progress", "pip", "install", "--upgrade", "--python", python, "cognee==1.6.5"],
    ]
    marker = json.loads(rig.plan.places.ready_marker.read_text())
    assert (marker["cognee_version"], marker["python"]) == ("1.6.5", python)
    assert abs(marker["updated_at"] - time.time()) < 60
    assert not rig.plan.places.install_lock.exists()
    for name in ("system", "data", "cache"):
        assert (rig.home / ".cognee" / name).is_dir()


async def test_what_is_installed_is_not_installed_again(make: Callable[..., Rig]):
    rig = make()
    rig.has("1.6.5")
    assert await rig.ensure() == "1.6.5"
    assert (rig.calls, rig.told) == ([], 0)
    assert rig.events == ["cognee_install_skipped_at_pin"]


@pytest.mark.parametrize("version", ["1.6.0", "1.7.2"])
async def test_w19_another_plugins_cognee_is_neither_downgraded_nor_fought_over(
    make: Callable[..., Rig], version: str
):
    rig = make()
    rig.has(version)
    assert await rig.ensure() == version
    assert rig.calls == []


async def test_w19_what_is_too_old_is_replaced_in_its_environment(make: Callable[..., Rig]):
    rig = make()
    rig.has("1.5.1")
    assert await rig.ensure() == "1.6.5"
    assert [call[0] for call in rig.calls] == ["--no-progress"]


async def test_w19_an_environment_that_is_broken_is_made_anew(make: Callable[..., Rig]):
    rig = make()
    rig.has("")
    leftover = rig.plan.places.venv / "leftover"
    leftover.touch()
    assert await rig.ensure() == "1.6.5"
    assert rig.calls[0][0] == "venv"
    assert not leftover.exists()


async def test_w19_a_version_that_is_not_what_was_asked_for_is_no_success(
    make: Callable[..., Rig],
):
    rig = make()
    (rig.home / "gives").write_text("1.5.0")
    with pytest.raises(BootFailed, match=r"cognee 1\.5\.0 is what is there"):
        await rig.ensure()


async def test_an_extra_that_is_missing_is_added_to_the_version_that_is_there(
    make: Callable[..., Rig],
):
    rig = make(DB_PROVIDER="postgres")
    rig.has("1.6.0", absent=("asyncpg",))
    assert await rig.ensure() == "1.6.0"
    assert rig.calls[-1][-1] == "cognee[postgres-binary]==1.6.0"
    assert "cognee_install_missing_extras" in rig.events


async def test_a_failed_installation_says_what_the_installer_said(make: Callable[..., Rig]):
    rig = make()
    (rig.home / "fails").touch()
    with pytest.raises(BootFailed, match="no network, says the installer"):
        await rig.ensure()
    assert not rig.plan.places.install_lock.exists()
    assert rig.events[-1] == "cognee_install_failed"


async def test_v56_who_finds_the_lock_taken_and_the_work_done_goes_on(make: Callable[..., Rig]):
    rig = make()
    rig.has("1.6.5")
    lock = rig.plan.places.install_lock
    content = json.dumps({"owner": "x", "pid": os.getpid(), "created_at": time.time()})
    lock.write_text(content)
    assert await rig.ensure() == "1.6.5"
    assert lock.read_text() == content
    assert rig.events == ["install_lock_lost_skip_at_pin"]


async def test_w18_without_uv_pythons_own_tools_are_used(
    make: Callable[..., Rig], monkeypatch: pytest.MonkeyPatch
):
    rig = make()
    monkeypatch.setattr(installer, "find_uv", lambda *_: "")
    ran: list[Any] = []

    async def run(command: list[str], **_: Any) -> Any:
        ran.append(command)
        raise OSError(2, "not there")

    monkeypatch.setattr(installer, "run", run)
    with pytest.raises(BootFailed):
        await rig.ensure()
    assert ran[-1] == [sys.executable, "-m", "venv", str(rig.plan.places.venv)]


def test_w18_uv_is_the_extras_then_one_on_the_path_then_another_plugins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    own = tmp_path / "uv" / "uv"
    own.parent.mkdir()
    on_path = tmp_path / "bin" / "uv"
    on_path.parent.mkdir()
    environ = {"PATH": str(on_path.parent)}
    assert Path(find_uv(environ, tmp_path)).is_relative_to(sys.prefix)
    monkeypatch.setitem(sys.modules, "uv", None)
    assert find_uv(environ, tmp_path) == ""
    for each in (own, on_path):
        each.write_text("#!/bin/sh\n")
        each.chmod(0o755)
        assert find_uv(environ, tmp_path) == str(each)


def test_w18_nothing_is_ever_downloaded_into_a_shell():
    folder = Path(installer.__file__).parent
    text = "".join(each.read_text() for each in folder.glob("*.py"))
    assert "curl" not in text.lower().replace("curl_ca_bundle", "")
    assert "astral.sh" not in text
    assert "shell=True" not in text


async def test_data_folders_that_cannot_be_made_are_named(make: Callable[..., Rig]):
    rig = make()
    (rig.home / ".cognee").write_text("a file")
    with pytest.raises(BootFailed, match="cannot create cognee data dirs"):
        await rig.ensure()


# -- what was begun and never came to its end ----------------------------------------------------


async def test_an_installation_that_was_killed_half_way_is_done_again(make: Callable[..., Rig]):
    rig = make()
    rig.has("1.6.5", marked=False)  # cognee is there, and who knows what of what it needs
    assert await rig.ensure() == "1.6.5"
    assert [call[0] for call in rig.calls] == ["--no-progress"]
    assert "--reinstall" in rig.calls[0]
    assert rig.marked == "1.6.5"
    assert await rig.ensure() == "1.6.5"
    assert len(rig.calls) == 1


async def test_what_nobody_vouches_for_is_used_where_it_cannot_be_installed_again(
    make: Callable[..., Rig],
):
    rig = make()
    rig.has("1.6.0", marked=False)
    (rig.home / "fails").touch()
    assert await rig.ensure() == "1.6.0"
    assert rig.events[-1] == "install_unverified_best_effort"
    assert rig.marked == ""


async def test_before_anything_changes_nothing_counts_as_installed(make: Callable[..., Rig]):
    rig = make()
    rig.has("1.5.1")
    (rig.home / "fails").touch()
    with pytest.raises(BootFailed):
        await rig.ensure()
    assert rig.marked == ""


async def test_who_waits_for_the_lock_does_not_take_half_an_installation_for_a_whole_one(
    make: Callable[..., Rig], monkeypatch: pytest.MonkeyPatch
):
    rig = make()
    rig.has("1.6.5", marked=False)
    monkeypatch.setattr(installer, "LOCK_MARGIN", -59.8)  # leaves 0.2 s
    monkeypatch.setattr(installer, "POLL_SECONDS", 0.05)
    lock = rig.plan.places.install_lock
    # The stale time follows from the margin, so its holder seems to come from the future.
    lock.write_text(
        json.dumps({"owner": "x", "pid": os.getpid(), "created_at": time.time() + 3600})
    )
    began = time.monotonic()
    assert await rig.ensure() == "1.6.5"
    assert time.monotonic() - began >= 0.2
    assert rig.calls == []


# -- when it is not known what is there ----------------------------------------------------------


@pytest.mark.parametrize("program", ["exec sleep 60", "kill -9 $$"], ids=["slow", "killed"])
async def test_w19_a_python_that_only_does_not_answer_is_not_taken_away(
    make: Callable[..., Rig], monkeypatch: pytest.MonkeyPatch, program: str
):
    rig = make()
    rig.has("1.6.5", program=program)
    monkeypatch.setattr(installer, "PROBE_SECONDS", 0.3)
    with pytest.raises(BootFailed, match="does not say what is installed"):
        await rig.ensure()
    assert rig.plan.places.interpreter.exists()
    assert rig.calls == []
    assert not rig.plan.places.install_lock.exists()


async def test_w19_a_system_without_room_for_a_process_proves_nothing(
    make: Callable[..., Rig], monkeypatch: pytest.MonkeyPatch
):
    rig = make()
    rig.has("1.6.5")

    async def run(*_: Any, **__: Any) -> Completed:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(installed, "run", run)
    with pytest.raises(BootFailed, match="cannot be run now: Cannot allocate memory"):
        await rig.ensure()
    assert rig.plan.places.interpreter.exists()


async def test_w19_an_environment_whose_python_was_taken_away_is_made_anew(
    make: Callable[..., Rig],
):
    rig = make()
    rig.has("1.6.5")
    rig.plan.places.interpreter.unlink()
    rig.plan.places.interpreter.symlink_to(rig.home / "gone")
    assert await rig.ensure() == "1.6.5"
    assert rig.calls[0][0] == "venv"


@pytest.mark.parametrize("python", [(3, 9), (3, 15)])
async def test_w19_an_environment_with_a_python_that_cognee_does_not_run_on_is_made_anew(
    make: Callable[..., Rig], python: tuple[int, int]
):
    rig = make()
    rig.has("1.5.1", python=python)
    assert await rig.ensure() == "1.6.5"
    assert rig.calls[0][0] == "venv"


async def test_what_an_environment_prints_when_it_starts_is_no_finding(make: Callable[..., Rig]):
    rig = make()
    program = 'echo "{}"; echo hello; exec cat "$(dirname "$0")/../found.json"'
    rig.has("1.6.5", program=program)
    assert await rig.ensure() == "1.6.5"
    assert rig.calls == []


async def test_nothing_is_changed_under_a_server_that_runs_from_it(make: Callable[..., Rig]):
    rig = make()
    rig.has("1.5.1")
    serving = f"import time; time.sleep(60)  # {rig.plan.places.interpreter} -m uvicorn"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", serving)
    try:
        PidFile(rig.plan.shared, 9999).write(process.pid, "1.5.1")
        (rig.plan.shared / "server-x.pid").write_text("{}")
        with pytest.raises(BootFailed, match="the server at port 9999 runs from there"):
            await rig.ensure()
        assert (rig.calls, rig.marked) == ([], "1.5.1")
    finally:
        process.kill()
        await process.wait()
    assert await rig.ensure() == "1.6.5"


# -- which python, and what is said --------------------------------------------------------------


async def test_where_the_default_python_cannot_be_had_ours_takes_its_place(
    make: Callable[..., Rig],
):
    rig = make()
    (rig.home / "lacks").write_text("3.12")
    assert await rig.ensure() == "1.6.5"
    assert [call[2] for call in rig.calls[:2]] == ["3.12", sys.executable]
    assert "default_python_not_had" in rig.events


async def test_a_python_that_the_person_named_has_no_stand_in(make: Callable[..., Rig]):
    rig = make()
    rig.plan = dataclasses.replace(rig.plan, python="3.13")
    (rig.home / "lacks").write_text("3.13")
    with pytest.raises(BootFailed, match=r"No interpreter found.*COGNEE_PLUGIN_PYTHON"):
        await rig.ensure()
    assert len(rig.calls) == 1


async def test_w18_without_uv_a_failure_says_where_to_get_it(
    make: Callable[..., Rig], monkeypatch: pytest.MonkeyPatch
):
    rig = make()
    monkeypatch.setattr(installer, "find_uv", lambda *_: "")

    async def run(*_: Any, **__: Any) -> Completed:
        return Completed(1, b"", b"ensurepip is not available")

    monkeypatch.setattr(installer, "run", run)
    with pytest.raises(BootFailed, match=r"ensurepip is not.*pip install 'cognee-hooks\[bootstrap"):
        await rig.ensure()


async def test_a_step_that_takes_too_long_is_told_as_that(
    make: Callable[..., Rig], monkeypatch: pytest.MonkeyPatch
):
    rig = make()

    async def run(*_: Any, **__: Any) -> Completed:
        return Completed(None, b"", b"Downloading")

    monkeypatch.setattr(installer, "run", run)
    with pytest.raises(BootFailed, match="it was not done within 60 s"):
        await rig.ensure()


async def test_the_login_of_a_package_index_is_neither_kept_nor_shown(make: Callable[..., Rig]):
    secret = "Tr0ub4dor" + "-and-3"
    rig = make(UV_INDEX_ACME_PASSWORD=secret)
    (rig.home / "fails").write_text(f"error: 401 for https://me:{secret}@pypi.example/simple\n")
    with pytest.raises(BootFailed):
        await rig.ensure()
    assert secret not in rig.plan.places.log.read_text()


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("", ""),
        ("error: it broke\n", "it broke"),
        (
            "error: Request failed\n  cause: Failed to download x\n  cause: dns error\n",
            "Request failed: dns error",
        ),
        ("x" * 9000, "x" * 300),
        (
            "Using Python\nerror: No solution found\n  cause: It was not found.\nhint: No network.",
            "No solution found: It was not found.",
        ),
        (
            "WARNING: x\nERROR: None fits\nERROR: No match for cognee\n",
            "None fits: No match for cognee",
        ),
    ],
)
def test_of_what_an_installer_said_the_beginning_and_the_cause_are_shown(said: str, expected: str):
    assert gist(said) == expected

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builtin_plugins.bootstrap import installer
from builtin_plugins.bootstrap.environment import server_environment
from builtin_plugins.bootstrap.errors import BootFailed
from builtin_plugins.bootstrap.installer import Installer, find_uv
from builtin_plugins.bootstrap.log import BootLog
from builtin_plugins.bootstrap.plan import Plan
from builtin_plugins.bootstrap.settings import ServerKind

_UV = """#!{python} -S
import json, os, pathlib, sys
here = pathlib.Path({here!r})
words = sys.argv[1:]
with open(here / "calls", "a") as calls:
    calls.write(json.dumps(words) + "\\n")
if (here / "fails").exists():
    sys.exit("no network, says the installer")
if words[0] == "venv":
    python = pathlib.Path(words[-1]) / "bin" / "python"
    python.parent.mkdir(parents=True, exist_ok=True)
    python.write_text('#!/bin/sh\\nexec cat "$(dirname "$0")/../found.json"\\n')
    python.chmod(0o755)
else:
    version = (here / "gives").read_text() if (here / "gives").exists() else words[-1][-5:]
    found = pathlib.Path(words[-2]).parent.parent / "found.json"
    found.write_text(json.dumps({{"version": version, "absent": []}}))
"""


class Rig:
    """An installer whose uv is a script that writes down what it is asked."""

    def __init__(self, home: Path, environ: dict[str, str]) -> None:
        self.home = home
        self.plan = Plan(
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

    def has(self, version: str, absent: tuple[str, ...] = ()) -> None:
        """Put an environment with a cognee in place."""
        python = self.plan.places.interpreter
        python.parent.mkdir(parents=True)
        python.write_text('#!/bin/sh\nexec cat "$(dirname "$0")/../found.json"\n')
        python.chmod(0o755)
        found = {"version": version, "absent": list(absent)}
        (self.plan.places.venv / "found.json").write_text(json.dumps(found))

    async def ensure(self) -> str:
        return await Installer(
            self.plan, self.environ, BootLog(self.plan.places.log, 0), self._tell
        ).ensure()

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
    assert rig.events == ["cognee_install_failed"]


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

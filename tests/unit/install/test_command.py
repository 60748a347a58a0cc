from __future__ import annotations

import sys
from pathlib import Path

import pytest

import cognee_hooks
from cognee_hooks.errors import InstallRefused
from cognee_hooks.install import command


def test_a_hook_starts_the_thin_client_with_this_interpreter():
    program, isolated, without_site, client, agent, event = command.hook_argv("codex", "Stop")
    assert (isolated, without_site, agent, event) == ("-I", "-S", "codex", "Stop")
    assert program == sys.executable
    assert client == str(Path(cognee_hooks.__file__).parent / "daemon" / "client.py")
    assert command.MARKER in client


def test_an_answer_that_changes_nothing_is_passed_on():
    assert command.hook_argv("gemini-cli", "BeforeAgent", "{}")[-2:] == ["BeforeAgent", "{}"]


def test_a_link_to_the_interpreter_stays_a_link(tmp_path):
    link = tmp_path / "python"
    link.symlink_to(sys.executable)
    assert command.launcher_argv(executable=str(link))[0] == str(link)


def test_a_relative_interpreter_becomes_absolute(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert command.launcher_argv(executable="bin/python")[0] == str(tmp_path / "bin" / "python")


def test_windows_is_refused():
    with pytest.raises(InstallRefused, match="Windows is not supported yet"):
        command.launcher_argv(platform="win32")


def test_an_interpreter_without_a_path_is_refused():
    with pytest.raises(InstallRefused, match="does not know its own path"):
        command.launcher_argv(executable="")


@pytest.mark.parametrize("path", ["/a\n/python", "/\udcff/python"])
def test_a_path_that_no_settings_file_can_carry_is_refused(path):
    with pytest.raises(InstallRefused, match="holds characters"):
        command.launcher_argv(executable=path)


@pytest.mark.parametrize(
    ("interpreter", "warned"),
    [
        ("/home/u/.local/share/uv/tools/cognee-hooks/bin/python", False),
        ("/home/u/.cache/uv/archive-v0/abc/bin/python", True),
        ("/elsewhere/uv-cache/environments-v2/x/bin/python", True),
        ("/home/u/.local/pipx/.cache/0123/bin/python", True),
        ("/tmp/venv/bin/python", True),
        ("/scratch/venv/bin/python", True),
        ("/tmpfoo/venv/bin/python", False),
    ],
)
def test_an_environment_that_will_be_thrown_away_is_warned_about(interpreter, warned):
    environ = {"UV_CACHE_DIR": "/elsewhere/uv-cache", "TMPDIR": "/scratch"}
    argv = [interpreter, "-I", "-S", "/usr/lib/cognee_hooks/daemon/client.py"]
    found = command.warnings(environ, argv=argv)
    assert bool(found) is warned
    assert all(interpreter in each for each in found)


def test_a_client_in_a_place_that_will_be_thrown_away_is_warned_about():
    assert command.warnings({}, argv=["/usr/bin/python", "/tmp/x/cognee_hooks/daemon/client.py"])


def test_our_own_place_is_looked_at_by_default(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/tmp/venv/bin/python")
    assert command.warnings({})

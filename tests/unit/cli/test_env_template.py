from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

import pytest

from cognee_hooks import Host
from cognee_hooks.cli import env_template, main
from cognee_hooks.cli.env_template import TEMPLATE
from cognee_hooks.configuration.envfile import parse

_ASSIGNMENT = re.compile(r"# ([A-Z][A-Z_]*=.*)")


@pytest.fixture
def path(isolated_environment) -> Path:
    return isolated_environment / ".cognee" / ".env"


def examples() -> dict[str, str]:
    lines = (_ASSIGNMENT.fullmatch(line) for line in TEMPLATE.splitlines())
    return dict(match[1].split("=", 1) for match in lines if match)


def test_the_template_sets_nothing():
    assert parse(TEMPLATE) == {}
    assert all(line.startswith("#") for line in TEMPLATE.splitlines() if line)


def test_every_example_works_once_it_is_uncommented():
    uncommented = "\n".join(f"{name}={value}" for name, value in examples().items())
    assert parse(uncommented) == examples()
    assert len(examples()) >= 15


def test_no_example_has_a_comment_behind_it_which_other_plugins_would_take_for_the_value():
    assert not any("#" in value for value in examples().values())


def test_what_it_names_are_settings_and_valid_ones(isolated_environment):
    environ = {"HOME": str(isolated_environment), **examples()}
    settings = Host("claude-code", environ=environ).settings
    known = {row.env for row in settings.rows()} | {"COGNEE_BACKEND"}
    ours = {name for name in examples() if name.startswith("COGNEE_")}
    assert ours <= known
    assert not settings.problems


def test_it_is_written_for_its_owner_only(capsys, path):
    assert main(["config", "--init"]) == 0
    assert path.read_text() == TEMPLATE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert str(path) in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["file", "folder", "dangling"])
def test_what_is_there_stays_as_it_is(capsys, path, tmp_path, kind):
    path.parent.mkdir()
    if kind == "file":
        path.write_text("LLM_API_KEY=mine\n")
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(tmp_path / "nowhere")
    assert main(["config", "--init"]) == 1
    assert "stays as it is" in capsys.readouterr().err
    assert not (tmp_path / "nowhere").exists()
    assert kind != "file" or path.read_text() == "LLM_API_KEY=mine\n"


def test_a_file_that_was_moved_is_written_where_it_is_looked_for(path, tmp_path, monkeypatch):
    monkeypatch.setenv("COGNEE_ENV_FILE", str(tmp_path / "own.env"))
    assert main(["config", "--init"]) == 0
    assert (tmp_path / "own.env").read_text() == TEMPLATE
    assert not path.exists()


def test_a_folder_that_cannot_be_written_is_said(capsys, path):
    path.parent.write_text("")
    assert main(["config", "--init"]) == 1
    assert "cannot be written" in capsys.readouterr().err


def test_a_full_disk_leaves_no_half_of_it(path, monkeypatch):
    def full(descriptor, *_):
        os.close(descriptor)
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(env_template.os, "fdopen", full)
    with pytest.raises(OSError, match="full"):
        env_template.write(path)
    assert not path.exists()

from __future__ import annotations

import os
import subprocess

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.services.git import Git


def _soon():
    return Deadline.after(60)


@pytest.fixture
def environ(tmp_path):
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}


@pytest.fixture
def repository(tmp_path, environ):
    folder = tmp_path / "repo é"
    folder.mkdir()
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    _git(folder, environ, "init", "-q", "-b", "trunk")
    _git(folder, environ, *identity, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def _git(folder, environ, *arguments):
    subprocess.run(["git", *arguments], cwd=folder, env=environ, check=True)


async def test_facts_of_a_repository(repository, environ):
    git = Git(environ)
    (repository / "sub").mkdir()
    assert await git.repository_root(repository / "sub", _soon()) == repository
    assert await git.branch(repository, _soon()) == "trunk"
    head = await git.head(repository, _soon())
    assert len(head) == 40
    _git(repository, environ, "checkout", "-q", head)
    assert await git.branch(repository, _soon()) == ""


async def test_outside_of_a_repository_nothing_is_known(tmp_path, environ):
    git = Git(environ | {"GIT_DIR": "/somewhere/else"})
    assert await git.repository_root(tmp_path, _soon()) is None
    assert await git.branch(tmp_path, _soon()) == ""
    assert await git.head(tmp_path, _soon()) == ""


@pytest.mark.parametrize("cwd", ["absent", "nul\0name"])
async def test_a_folder_that_cannot_be_is_no_repository(tmp_path, environ, cwd):
    assert await Git(environ).repository_root(tmp_path / cwd, _soon()) is None


async def test_without_git_nothing_is_known(tmp_path, environ):
    assert await Git(environ, program="/no/git").repository_root(tmp_path, _soon()) is None


async def test_programs_that_the_repository_names_are_not_started(repository, environ, tmp_path):
    trap = tmp_path / "trap"
    config = ["core.fsmonitor", "core.pager", "core.sshCommand", "core.editor"]
    for name in config:
        _git(repository, environ, "config", name, f"touch {trap}")
    git = Git(environ)
    await git.repository_root(repository, _soon())
    await git.branch(repository, _soon())
    await git.head(repository, _soon())
    assert not trap.exists()


async def test_a_git_that_hangs_is_given_up_at_the_deadline(tmp_path, environ):
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\nexec sleep 80\n")
    slow.chmod(0o755)
    assert await Git(environ, program=str(slow)).head(tmp_path, Deadline.after(0.3)) == ""

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
    assert len(await git.head(repository, _soon())) == 40


async def test_outside_of_a_repository_nothing_is_known(tmp_path, environ):
    git = Git(environ | {"GIT_DIR": "/somewhere/else"})
    assert await git.repository_root(tmp_path, _soon()) is None
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
    await git.head(repository, _soon())
    assert not trap.exists()


async def test_a_git_that_hangs_is_given_up_at_the_deadline(tmp_path, environ):
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\nexec sleep 80\n")
    slow.chmod(0o755)
    assert await Git(environ, program=str(slow)).head(tmp_path, Deadline.after(0.3)) == ""


async def test_every_file_that_git_tracks_or_would_track_is_listed(repository, environ):
    (repository / "new folder").mkdir()
    for name in ("new folder/inner.py", "ünï.py", "line\nbreak.py", "skipped.log", "gone.py"):
        (repository / name).write_text("x")
    (repository / ".gitignore").write_text("*.log\n")
    _git(repository, environ, "add", "gone.py")
    (repository / "gone.py").unlink()
    found = await Git(environ).files(repository, _soon())
    names = [".gitignore", "gone.py", "line\nbreak.py", "new folder/inner.py", "ünï.py"]
    assert found == [name.encode() for name in names]


async def test_of_a_folder_below_the_top_its_own_files_are_listed_from_there(repository, environ):
    (repository / "sub").mkdir()
    for name in ("a.py", "sub/b.py"):
        (repository / name).write_text("x")
    assert await Git(environ).files(repository / "sub", _soon()) == [b"b.py"]


async def test_files_outside_of_a_repository_are_not_known(tmp_path, environ):
    assert await Git(environ).files(tmp_path, _soon()) is None
    assert await Git(environ, program="/no/git").files(tmp_path, _soon()) is None


async def test_listing_files_starts_no_filter_that_the_repository_names(
    repository, environ, tmp_path
):
    trap = tmp_path / "trap"
    (repository / ".gitattributes").write_text("* filter=evil diff=evil\n")
    (repository / "a.py").write_text("x")
    for name in ("filter.evil.clean", "diff.evil.textconv", "diff.evil.command"):
        _git(repository, environ, "config", name, f"touch {trap}")
    assert await Git(environ).files(repository, _soon()) == [b".gitattributes", b"a.py"]
    assert not trap.exists()


async def test_the_origin_is_told_as_it_is_written_down(repository, environ):
    assert await Git(environ).origin(repository, _soon()) == ""
    _git(repository, environ, "remote", "add", "origin", "https://h/o/r.git")
    assert await Git(environ).origin(repository, _soon()) == "https://h/o/r.git"


@pytest.mark.parametrize(
    ("url", "config"),
    [
        ("ext::sh -c touch% {trap}", {"protocol.ext.allow": "always"}),
        ("ssh://host/path", {"core.sshCommand": "touch {trap};"}),
        ("{folder}", {"remote.origin.uploadpack": "touch {trap};"}),
        ("evil::x", {}),
    ],
    ids=["ext", "ssh", "file", "helper"],
)
async def test_what_is_missing_is_fetched_from_nowhere(repository, environ, tmp_path, url, config):
    """A commit that is not there makes git ask the remote, with the programs that it names."""
    trap = tmp_path / "trap"
    helpers = tmp_path / "git-remote-evil"
    helpers.write_text(f"#!/bin/sh\ntouch {trap}\n")
    helpers.chmod(0o755)
    environ = environ | {"PATH": f"{tmp_path}:{environ['PATH']}"}
    partial = {
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": url,
    }
    for name, value in (partial | config).items():
        _git(repository, environ, "config", name, value.format(trap=trap, folder=repository))
    (repository / ".git" / "HEAD").write_text("1" * 40 + "\n")
    git = Git(environ)
    assert await git.head(repository, _soon()) == ""
    assert await git.files(repository, _soon()) == []
    assert not trap.exists()


async def test_a_repository_cannot_claim_another_folder_as_its_own(repository, environ, tmp_path):
    private = tmp_path / "private"
    private.mkdir()
    _git(repository, environ, "config", "core.worktree", str(private))
    assert await Git(environ).repository_root(repository, _soon()) is None


async def test_a_bare_repository_that_came_with_a_clone_is_not_believed(repository, environ):
    bare = repository / "fixtures"
    bare.mkdir()
    _git(bare, environ, "init", "-q", "--bare")
    for name, value in {"core.bare": "false", "core.worktree": ".."}.items():
        _git(bare, environ, "config", name, value)
    git = Git(environ)
    assert await git.repository_root(bare, _soon()) is None
    assert await git.files(bare, _soon()) is None


async def test_a_work_tree_of_a_bare_repository_is_one(environ, tmp_path, repository):
    bare, tree = tmp_path / "bare.git", tmp_path / "tree"
    _git(tmp_path, environ, "clone", "-q", "--bare", str(repository), str(bare))
    _git(bare, environ, "worktree", "add", "-q", str(tree))
    assert await Git(environ).repository_root(tree, _soon()) == tree
    assert await Git(environ).repository_root(bare, _soon()) is None


async def test_a_folder_whose_name_is_not_utf_8_is_found(environ, tmp_path):
    folder = tmp_path / os.fsdecode(b"n\xff")
    _git(tmp_path, environ, "init", "-q", str(folder))
    assert await Git(environ).repository_root(folder, _soon()) == folder


async def test_a_pipe_in_the_place_of_a_list_holds_nobody(repository, environ, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    _git(repository, environ, "config", "core.excludesFile", str(tmp_path / "pipe"))
    assert await Git(environ).files(repository, Deadline.after(0.3)) is None

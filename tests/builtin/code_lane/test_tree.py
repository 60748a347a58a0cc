from __future__ import annotations

import os
from pathlib import Path

import pytest

from builtin_plugins.code_lane import tree
from builtin_plugins.code_lane.tree import Extent, fingerprint, measure, why_not
from cognee_hooks.deadline import Deadline
from cognee_hooks.services.git import Git
from tests.support.repositories import git, make_repository


async def look(folder: Path) -> str:
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder.parent)}
    return await fingerprint(Git(environ), folder, Deadline.after(30))


async def test_nothing_changed_is_the_same(repository):
    first = await look(repository)
    assert len(first) == 64
    assert await look(repository) == first


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "src/pay.py").write_text("x = 1\n"),
        lambda folder: (folder / "src/pay.py").unlink(),
        lambda folder: (folder / "new.py").write_text("x"),
        lambda folder: (folder / "ünï cödé.py").write_text("x"),
        lambda folder: git(folder, "commit", "-q", "--allow-empty", "-m", "second"),
    ],
    ids=["content", "deleted", "new", "new-not-ascii", "commit"],
)
async def test_every_kind_of_change_is_seen(repository, change):
    before = await look(repository)
    change(repository)
    assert await look(repository) != before


async def test_w17_a_file_in_an_untracked_folder_is_seen_when_it_changes_later(repository):
    inner = repository / "new" / "deep" / "näme.py"
    inner.parent.mkdir(parents=True)
    inner.write_text("x = 1\n")
    before = await look(repository)
    inner.write_text("x = 1  # longer\n")
    assert await look(repository) != before
    (inner.parent / "other.py").write_text("y")
    assert await look(repository) != before


async def test_w17_a_folder_below_the_top_is_looked_at_from_where_it_is(repository):
    before = await look(repository / "src")
    (repository / "outside.py").write_text("x")
    assert await look(repository / "src") == before
    (repository / "src" / "pay.py").write_text("x = 2\n")
    assert await look(repository / "src") != before


async def test_w17_what_lies_in_repositories_inside_is_seen(repository):
    inner = make_repository(repository / "vendor" / "inner", {"a.py": "x"})
    untracked = make_repository(repository / "vendor" / "inner" / "deeper", {"b.py": "x"})
    git(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "sub")
    files = [inner / "a.py", untracked / "b.py", repository / "sub" / "a.py"]
    for file in files:
        before = await look(repository)
        file.write_text("another length")
        assert await look(repository) != before
    assert await look(repository) == await look(repository)


async def test_w17_a_repository_inside_that_git_cannot_read_hides_no_change(
    repository, monkeypatch
):
    (repository / "broken" / ".git").mkdir(parents=True)
    (repository / "broken" / ".git" / "HEAD").write_text("nonsense")
    (repository / "broken" / "a.py").write_text("x")
    before = await look(repository)
    assert before
    (repository / "broken" / "a.py").write_text("another length")
    assert await look(repository) != before
    for number in range(3):
        make_repository(repository / f"r{number}", {"a.py": "x"})
    monkeypatch.setattr(tree, "MOST_REPOSITORIES", 3)
    assert await look(repository) == ""


async def test_a_work_tree_beside_and_a_detached_head_are_followed_too(repository):
    git(repository, "worktree", "add", "-q", "--detach", "../beside")
    beside = repository.parent / "beside"
    before = await look(beside)
    assert before
    (beside / "src" / "pay.py").write_text("x = 2\n")
    assert await look(beside) != before


async def test_names_that_are_not_utf_8_are_followed(tmp_path):
    folder = make_repository(tmp_path / os.fsdecode(b"n\xff"), {})
    before = await look(folder)
    fill(folder, os.fsdecode(b"b\xe9.py"))
    assert await look(folder) != before


async def test_vector_65_the_indexers_snapshot_is_no_change(repository):
    before = await look(repository)
    (repository / ".enola").mkdir()
    (repository / ".enola" / "facts.jsonl").write_text("{}")
    assert await look(repository) == before


async def test_without_git_or_a_commit_nothing_is_known(tmp_path, monkeypatch, repository):
    assert await look(tmp_path) == ""
    unborn = tmp_path / "unborn"
    unborn.mkdir()
    git(unborn, "init", "-q")
    assert await look(unborn) == ""
    monkeypatch.setattr(tree, "MOST_FILES", 2)
    assert await look(repository) == ""


async def test_no_file_is_opened(repository):
    # Opening a pipe would wait for a writer for ever.
    os.mkfifo(repository / "pipe.py")
    assert await look(repository)


def fill(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("xx")
    return folder


@pytest.mark.parametrize(("most", "complete"), [(3000, True), (2, False)])
def test_vector_61_source_files_are_counted_up_to_a_limit(tmp_path, most, complete):
    fill(tmp_path, "a.ts", "b.py", "README.md", ".enola/x.json", "node_modules/d.js", "src/c.go")
    assert measure(tmp_path, most) == Extent(3, 6, complete)


def test_links_are_not_followed(tmp_path):
    folder = fill(tmp_path / "one", "a.py")
    (folder / "loop").symlink_to(folder)
    (folder / "link.py").symlink_to(folder / "a.py")
    assert measure(folder, 10).files == 1


def test_a_folder_that_cannot_be_read_is_passed_over(tmp_path):
    assert measure(tmp_path / "absent", 10) == Extent(0, 0, complete=True)


def test_a_tree_of_too_many_entries_is_left_alone(tmp_path, monkeypatch):
    fill(tmp_path, *(f"{number}.txt" for number in range(12)))
    monkeypatch.setattr(tree, "_MOST_ENTRIES", 10)
    assert why_not(measure(tmp_path, 10), 10) == "its folder holds too much"


@pytest.mark.parametrize(("files", "indexed"), [(0, False), (1, True), (3000, True), (3001, False)])
def test_vector_59_what_is_indexed_unasked_is_neither_empty_nor_large(files, indexed):
    assert (why_not(Extent(files, files * 100, complete=files <= 3000), 3000) == "") is indexed


def test_few_but_huge_files_are_not_indexed_unasked():
    assert "larger than 200 kB" in why_not(Extent(3, 300_000, complete=True), 10)


def test_gits_own_folder_is_not_counted(tmp_path):
    assert measure(make_repository(tmp_path / "r"), 10).files == 3

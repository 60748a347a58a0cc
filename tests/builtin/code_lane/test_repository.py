from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builtin_plugins.code_lane.repository import (
    Repository,
    canonical,
    dataset_name,
    is_remote,
    repository_of,
)
from cognee_hooks.errors import UsageError
from cognee_hooks.services.names import safe_dataset_name

NAMES = [
    ("/home/dev/work/a/service", "codebase-service-b111881b", "service-b111881bbb56.json"),
    ("/home/dev/work/b/service", "codebase-service-49e559ea", "service-49e559eaed57.json"),
    ("/home/dev/My Repo!", "codebase-my-repo-47d95b8d", "My-Repo-47d95b8df3dd.json"),
    ("/home/dev/.dotfiles", "codebase-dotfiles-28a9f481", "dotfiles-28a9f4811aab.json"),
    ("/home/dev/日本語", "codebase-repo-60c79526", "repo-60c79526b1ea.json"),
    ("/", "codebase-repo-8a5edab2", "repo-8a5edab28263.json"),
    ("https://github.com/org/repo", "codebase-repo-bdb72e6e", "repo-bdb72e6e68b8.json"),
    ("https://github.com/org/repo.git/", "codebase-repo-bdb72e6e", "repo-bdb72e6e68b8.json"),
    ("git@github.com:o/r.git", "codebase-r-e213ce01", "r-e213ce016853.json"),
    ("ssh://git@host.example/o/r", "codebase-r-7c7545d6", "r-7c7545d6a8a6.json"),
    ("/home/dev/work/a/service/", "codebase-service-7440e4bd", "service-7440e4bd62ea.json"),
]
DOTTED = [
    (
        "https://example.com/Org/Cool_Repo.v2",
        "codebase-cool_repo-v2-348639e7",
        "Cool_Repo.v2-348639e7e46d.json",
    ),
    (
        "https://github.com/org/repo.git.git",
        "codebase-repo-git-deb25368",
        "repo.git-deb25368bca2.json",
    ),
]


@pytest.mark.parametrize(("spec", "dataset", "file"), NAMES)
def test_vectors_1_to_12_names_are_those_of_the_other_cognee_plugins(spec, dataset, file):
    found = Repository(canonical(spec), is_remote(spec))
    assert (found.dataset, found.file_name) == (dataset, file)


@pytest.mark.parametrize(("spec", "dataset", "file"), DOTTED)
def test_vectors_11_and_13_a_dot_becomes_a_hyphen(spec, dataset, file):
    """The server makes a dataset with a dot in its name, and builds nothing in it."""
    found = Repository(canonical(spec), is_remote(spec))
    assert (found.dataset, found.file_name) == (dataset, file)


@given(st.text(min_size=1, max_size=300))
def test_every_dataset_name_is_one_that_the_server_takes_as_it_is(spec):
    name = dataset_name(spec)
    assert safe_dataset_name(name) == name


def test_long_names_keep_their_digests():
    one, other = dataset_name("/a/" + "x" * 200), dataset_name("/b/" + "x" * 200)
    assert one != other
    assert len(one) == 100


def test_a_folder_is_known_by_its_real_path(tmp_path):
    folder = tmp_path / "real"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert canonical(str(tmp_path / "link") + "/") == str(folder)
    assert canonical(str(tmp_path / "loop")) == str(tmp_path / "loop")
    assert canonical("nul\0name") == "nul\0name"


def test_a_blank_at_the_end_of_a_name_makes_no_other_folder_of_it(tmp_path):
    for name in ("work", "work "):
        (tmp_path / name).mkdir()
    assert canonical(f"{tmp_path}/work ") == f"{tmp_path}/work "
    assert repository_of("work ", str(tmp_path), tmp_path).spec == f"{tmp_path}/work "
    (tmp_path / "work ").rmdir()
    assert canonical(f" {tmp_path}/work ") == f"{tmp_path}/work"
    assert repository_of(" work ", str(tmp_path), tmp_path).spec == f"{tmp_path}/work"


@pytest.mark.parametrize("spec", ["http://h/o/r", "git@h:o/r", "ssh://h/o/r", "HTTPS://h/o/r"])
def test_vectors_14_and_15_what_is_remote(spec):
    assert is_remote(spec)


@pytest.mark.parametrize(
    "spec", ["git://h/o/r", "dev@h:o/r", "file:///r", "github.com/o/r", "ftp://h/r"]
)
def test_w26_and_vector_15_an_address_that_the_server_cannot_clone_is_no_path(spec, tmp_path):
    assert not is_remote(spec)
    assert not is_remote(".")
    with pytest.raises(UsageError, match="no address that the server can clone"):
        repository_of(spec, str(tmp_path), tmp_path)


def test_w26_what_is_not_there_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="there is no folder"):
        repository_of("absent", str(tmp_path), tmp_path)
    with pytest.raises(UsageError, match="is a file"):
        repository_of("file", str(tmp_path), tmp_path)


def test_a_spec_is_relative_to_the_sessions_folder(tmp_path):
    (tmp_path / "sub").mkdir()
    assert repository_of("sub", str(tmp_path), tmp_path).spec == str(tmp_path / "sub")
    assert repository_of("", str(tmp_path), tmp_path).spec == str(tmp_path)
    assert repository_of("~/sub", "/", tmp_path).spec == str(tmp_path / "sub")
    assert repository_of("HTTPS://h/o/r.git", "", tmp_path).spec == "https://h/o/r"


@pytest.mark.parametrize(
    "url", ["https://ann:pw@h/o/r", "https://token@h/o/r", "ssh://git:pw@h/o/r", "https://[h/o/r"]
)
def test_an_address_with_credentials_is_refused(url):
    with pytest.raises(UsageError):
        repository_of(url, "", Path("/home/dev"))

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

from cognee_hooks.cli import main
from cognee_hooks.errors import UsageError
from cognee_hooks.scaffold.package import NewPackage, PluginKind

KINDS = list(PluginKind)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", KINDS)
def test_a_package_is_whole_and_its_entry_point_leads_to_its_class(kind, here):
    assert main(["new-plugin", "my-own-thing", "--kind", kind]) == 0
    folder = here / "cognee-hooks-my-own-thing"
    project = tomllib.loads((folder / "pyproject.toml").read_text())
    entry_points = project["project"]["entry-points"]["cognee_hooks"]
    assert entry_points == {"my-own-thing": "cognee_hooks_my_own_thing:MyOwnThing"}
    module = ast.parse((folder / "cognee_hooks_my_own_thing" / "__init__.py").read_text())
    assert "MyOwnThing" in {getattr(each, "name", "") for each in module.body}
    assert (folder / "tests" / "test_my_own_thing.py").exists()
    assert (folder / "README.md").exists()
    assert "$" not in "".join(each.read_text() for each in folder.rglob("*.py"))


@pytest.mark.parametrize(
    "name", ["", "Big", "two words", "-x", "x-", "1st", "../x", "a" * 41, "ünï", "x--y"]
)
def test_a_name_that_cannot_be_installed_is_refused_with_an_example(name):
    with pytest.raises(UsageError, match="such as employee-ids"):
        NewPackage(name, PluginKind.LANE)


@pytest.mark.parametrize("name", ["capture", "code-lane", "redaction"])
def test_a_name_of_ours_is_refused(name):
    with pytest.raises(UsageError, match="take another"):
        NewPackage(name, PluginKind.LANE)


def test_nothing_is_written_over(here, capsys):
    folder = here / "mine"
    folder.mkdir()
    (folder / "notes").write_text("mine")
    assert main(["new-plugin", "mine", "--folder", "mine"]) == 2
    assert "not empty" in capsys.readouterr().err
    assert [each.name for each in folder.iterdir()] == ["notes"]
    (folder / "notes").unlink()
    assert main(["new-plugin", "mine", "--folder", "mine"]) == 0


def test_what_comes_next_is_said(capsys):
    main(["new-plugin", "mine"])
    lines = capsys.readouterr().out.splitlines()
    assert [each for each in lines if each.startswith("next: ")] == [
        "next: cd cognee-hooks-mine",
        "next: pip install -e '.[test]'",
        "next: pytest",
        "next: cognee-hooks plugins",
    ]

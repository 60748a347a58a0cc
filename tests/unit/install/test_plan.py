from __future__ import annotations

import pytest

from cognee_hooks.errors import UsageError
from cognee_hooks.install import INSTALLERS
from cognee_hooks.install.plan import Installer, Place, Scope


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", "/home/u/.agent/x"),
        (" ", "/home/u/.agent/x"),
        ("~", "/home/u"),
        ("~/else", "/home/u/else"),
        ("/abs", "/abs"),
        ("here", "/project/here"),
    ],
)
def test_an_agents_folder_follows_its_own_variable(tmp_path, value, expected):
    place = Place(environ={"HOME": "/home/u", "AGENT_DIR": value}, cwd=tmp_path / "/project")
    assert str(place.folder("AGENT_DIR", ".agent", "x")) == expected


def test_a_scope_that_an_agent_does_not_know_is_wrong_usage(place, in_project):
    place.require("pi", Scope.USER)
    with pytest.raises(UsageError, match="pi has no scope 'project'; there is: user"):
        in_project.require("pi", Scope.USER)


def test_a_plugin_folder_is_not_for_every_agent(project):
    place = Place(environ={}, cwd=project, plugin_folder=project)
    with pytest.raises(UsageError, match="--plugin-folder is not for pi"):
        place.require("pi", Scope.USER)


@pytest.mark.parametrize("name", INSTALLERS)
def test_every_installer_is_one(name):
    assert isinstance(INSTALLERS[name], Installer)

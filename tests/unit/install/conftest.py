from __future__ import annotations

from pathlib import Path

import pytest

from cognee_hooks.install.plan import Place, Scope, Tools


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def place(home: Path, project: Path) -> Place:
    """Somebody's home, with no agent's variable set and no program on the path; hooks only."""
    return Place(environ={"HOME": str(home), "PATH": ""}, cwd=project, tools=Tools.NONE)


@pytest.fixture
def in_project(home: Path, project: Path) -> Place:
    return Place(
        environ={"HOME": str(home), "PATH": ""},
        cwd=project,
        scope=Scope.PROJECT,
        tools=Tools.NONE,
    )

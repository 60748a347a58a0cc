from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.code_session import CodeSession
from tests.support.repositories import make_repository


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "shop")


@pytest.fixture
async def session(isolated_environment: Path, repository: Path) -> Callable[..., CodeSession]:
    made: list[CodeSession] = []

    async def build(cwd: Path | None = None, **environ: str) -> CodeSession:
        made.append(CodeSession(isolated_environment, cwd or repository, **environ))
        await made[-1].host.start()
        return made[-1]

    yield build
    for each in made:
        await each.host.close(each.soon)

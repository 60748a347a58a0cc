from __future__ import annotations

import os
import time
from datetime import datetime
from pathlib import Path

import pytest

from cognee_hooks.cli import agent_checks
from cognee_hooks.cli.agent_checks import check_agent
from cognee_hooks.daemon import thin_client
from cognee_hooks.install import INSTALLERS, engine
from cognee_hooks.install.plan import Place
from cognee_hooks.results import CheckResult, CheckStatus
from cognee_hooks.services.crypto import Sealer
from cognee_hooks.services.paths import Paths


@pytest.fixture
def environ(isolated_environment: Path) -> dict[str, str]:
    return {"HOME": str(isolated_environment)}


@pytest.fixture
def status(monkeypatch) -> dict[str, object]:
    """What the daemon says; nothing where it is empty."""
    said: dict[str, object] = {}
    monkeypatch.setattr(agent_checks.control, "ask", lambda *_: said or None)
    return said


def rows(agent: str, environ: dict[str, str]) -> dict[str, CheckResult]:
    return {row.name: row for row in check_agent(agent, environ, Path(environ["HOME"]))}


def install(agent: str, environ: dict[str, str]) -> None:
    place = Place(environ=environ, cwd=Path(environ["HOME"]))
    engine.apply(INSTALLERS[agent].install(place), datetime.now().astimezone())


@pytest.mark.parametrize("agent", sorted(INSTALLERS))
def test_it_says_whether_the_agent_calls_us(agent, environ, status):
    before = rows(agent, environ)["agent"]
    assert before.status is CheckStatus.INFO
    assert f"cognee-hooks install {agent}" in before.remedy
    install(agent, environ)
    assert rows(agent, environ)["agent"].status is CheckStatus.OK


def test_it_says_which_other_agents_call_us(environ, status):
    assert rows("pi", environ)["other agents"].detail == "no other one calls us"
    install("claude-code", environ)
    install("pi", environ)
    assert rows("pi", environ)["other agents"].detail == "claude-code call us, too"


def test_hooks_of_another_installation_are_named(environ, status):
    install("claude-code", environ)
    path = Path(environ["HOME"]) / ".claude" / "settings.json"
    path.write_text(path.read_text().replace('"-I"', '"-B"'))
    row = rows("claude-code", environ)["agent"]
    assert row.status is CheckStatus.WARNING
    assert "another installation" in row.detail


def test_a_file_that_nobody_can_read_is_named(environ, status):
    path = Path(environ["HOME"]) / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text("{broken")
    row = rows("claude-code", environ)["agent"]
    assert row.status is CheckStatus.WARNING
    assert str(path) in row.detail


def test_hooks_that_codex_does_not_trust_are_named(environ, status):
    assert "trust" not in rows("codex", environ)
    install("codex", environ)
    row = rows("codex", environ)["trust"]
    assert row.status is CheckStatus.WARNING
    assert "UserPromptSubmit" in row.detail


def test_an_agent_that_cannot_be_set_up_is_said_to_be_none(environ, status):
    found = rows("calude-code", environ)
    assert list(found) == ["agent", "daemon"]
    assert "'calude-code'; there are: claude-code" in found["agent"].detail


def test_it_says_whether_the_daemon_runs(environ, status):
    assert "does not run" in rows("pi", environ)["daemon"].detail
    began = time.time() - 7300
    status |= {"pid": os.getpid(), "version": thin_client.VERSION, "sessions": [1, 2]}
    row = rows("pi", environ)["daemon"]
    assert row.status is CheckStatus.OK
    assert row.detail == f"version {thin_client.VERSION}, process {os.getpid()}, 2 sessions"
    status |= {"began": began}
    assert "up 2 h, 2 sessions" in rows("pi", environ)["daemon"].detail
    assert "MiB" in rows("pi", environ)["daemon memory"].detail
    status |= {"version": "0.0.1", "sessions": None}
    row = rows("pi", environ)["daemon"]
    assert row.status is CheckStatus.WARNING
    assert "cognee-hooks daemon restart" in row.remedy


def test_a_key_that_cannot_be_used_is_named(environ, status):
    key = Paths.of(environ, "daemon").key_file
    assert "encryption" not in rows("pi", environ)
    assert not key.exists(), "a look makes no key"
    Sealer.of(key)
    assert "encryption" not in rows("pi", environ)
    key.chmod(0o666)
    row = rows("pi", environ)["encryption"]
    assert row.status is CheckStatus.FAILED
    assert str(key) in row.remedy

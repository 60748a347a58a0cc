"""A third party's plugin, installed as its users would install it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from cognee_hooks.daemon.thin_client import VERSION
from tests.support.command import payload
from tests.support.installation import Installation
from tests.support.servers import Server

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "redact_employee_ids"
PLUGIN = "employee-ids"
TEXT = "ask EMP-123456 or emp 654321"

RAISING = """\
from cognee_hooks import Redactor, hookimpl


def fail(text):
    raise ValueError("never shown: " + text)


class Plugin:
    @hookimpl
    def cognee_register_redactors(self):
        return [Redactor(name="raising", function=fail)]


def plugin(context):
    return Plugin()
"""


def _package(folder: Path, name: str, source: str) -> Path:
    folder.mkdir()
    (folder / f"{name}.py").write_text(source)
    (folder / "pyproject.toml").write_text(
        f"""\
[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"
[project]
name = "cognee-hooks-{name}"
version = "1.0.0"
[project.entry-points.cognee_hooks]
{name} = "{name}:plugin"
[tool.hatch.build.targets.wheel]
only-include = ["{name}.py"]
"""
    )
    return folder


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """A fresh environment with the project and the example."""
    made = Installation.fresh(tmp_path_factory.mktemp("installed"))
    made.install(ROOT, EXAMPLE)
    return made


@pytest.fixture
def raising(installation: Installation, tmp_path: Path):
    """A second plugin, whose redactor raises, installed for one test."""
    installation.install(_package(tmp_path / "raising", "raising", RAISING))
    yield
    installation.remove("cognee-hooks-raising")


def rows(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    return {row["name"]: row for row in json.loads(done.stdout)}


def test_the_installed_command_knows_its_version(installation: Installation) -> None:
    done = installation.run("--version")
    assert (done.returncode, done.stdout) == (0, f"cognee-hooks {VERSION}\n")


def test_it_is_found_by_its_entry_point(installation: Installation) -> None:
    row = rows(installation.run("plugins", "--json"))[PLUGIN]
    assert row["state"] == "active"
    assert row["distribution"] == "cognee-hooks-employee-ids"
    assert row["version"] == "1.0.0"
    assert row["hooks"] == ["cognee_register_redactors"]
    assert not row["built_in"]


def test_it_redacts_by_pattern_and_by_function(installation: Installation) -> None:
    done = installation.run("redact", stdin=TEXT)
    assert done.stdout == "ask [redacted:employee-id] or [redacted:employee-id]"


def test_it_can_be_blocked_by_an_option(installation: Installation) -> None:
    assert installation.run("redact", "-p", f"no:{PLUGIN}", stdin=TEXT).stdout == TEXT


def test_it_can_be_blocked_by_the_environment(installation: Installation) -> None:
    done = installation.run("plugins", "--all", "--json", COGNEE_HOOKS_DISABLE=PLUGIN)
    assert rows(done)[PLUGIN]["state"] == "blocked"
    assert "COGNEE_HOOKS_DISABLE" in rows(done)[PLUGIN]["reason"]
    assert installation.run("redact", stdin=TEXT, COGNEE_HOOKS_DISABLE=PLUGIN).stdout == TEXT


def test_it_can_be_blocked_by_the_configuration(
    installation: Installation, isolated_environment: Path
) -> None:
    folder = isolated_environment / "config" / "cognee-hooks"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(f"plugins:\n  block: [{PLUGIN}]\n")
    assert installation.run("redact", stdin=TEXT).stdout == TEXT


def test_what_it_takes_out_does_not_reach_the_server(
    installation: Installation, embedded_server: Server
) -> None:
    call = payload("PostToolUse.Bash", session_id="example-plugin")
    call["tool_input"]["command"] = "grep EMP-123456 staff.csv"
    call["tool_response"]["stdout"] = TEXT
    environ = {"COGNEE_BASE_URL": embedded_server.url, "COGNEE_API_KEY": embedded_server.key}
    done = installation.run("run", "claude-code", "PostToolUse", stdin=json.dumps(call), **environ)
    assert (done.returncode, done.stdout) == (0, "")
    stored = _session(embedded_server, "claude_example-plugin")
    assert "[redacted:employee-id]" in stored
    assert "123456" not in stored


@pytest.mark.usefixtures("raising")
def test_where_a_redactor_raises_nothing_is_sent_and_the_doctor_says_why(
    installation: Installation, embedded_server: Server
) -> None:
    environ = {"COGNEE_BASE_URL": embedded_server.url, "COGNEE_API_KEY": embedded_server.key}
    session = "claude_raising-plugin"
    for event in ("UserPromptSubmit", "PostToolUse.Bash", "Stop"):
        document = payload(event, session_id="raising-plugin")
        done = installation.run(
            "run", "claude-code", event.split(".")[0], stdin=json.dumps(document), **environ
        )
        assert done.returncode == 0
    answer = httpx.get(
        f"{embedded_server.url}/api/v1/sessions/{session}",
        headers={"X-Api-Key": embedded_server.key},
        timeout=60,
    )
    assert answer.status_code == 404

    doctor = installation.run("doctor", "--json", **environ)

    assert doctor.returncode == 1
    row = rows(doctor)["redaction"]
    assert row["status"] == "failed"
    assert "'raising'" in row["detail"]
    assert "ValueError" in row["detail"]
    assert "never shown" not in doctor.stdout + doctor.stderr


@pytest.mark.usefixtures("raising")
def test_a_redactor_that_raises_lets_no_text_through_on_the_command_line(
    installation: Installation,
) -> None:
    done = installation.run("redact", stdin=TEXT)
    assert (done.returncode, done.stdout) == (1, "")
    assert "raising" in done.stderr
    assert "Traceback" not in done.stderr


def _session(server: Server, session: str) -> str:
    answer = httpx.get(
        f"{server.url}/api/v1/sessions/{session}", headers={"X-Api-Key": server.key}, timeout=60
    )
    return answer.raise_for_status().text

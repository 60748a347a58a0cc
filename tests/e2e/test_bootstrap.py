"""A machine with nothing on it: installing into an agent and starting it ends with a memory.

The project is installed as a person does it, into an environment of its own. What differs from a
person's machine is the port that is the default there, so that nothing of this machine is met.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from builtin_plugins.bootstrap import state
from builtin_plugins.bootstrap.plan import Places
from builtin_plugins.bootstrap.state import Phase
from builtin_plugins.bootstrap.version import PIN
from tests.support import api, pi_agent, real_agents, real_cognee
from tests.support.agent_process import scrubbed
from tests.support.chat_wire import chat_model
from tests.support.messages_endpoint import messages_endpoint
from tests.support.model_endpoint import ModelEndpoint
from tests.support.pi_driver import PiDriver
from tests.support.real_agents import CLAUDE_CODE_VERSIONS, ClaudeCode
from tests.support.scripted_model import ScriptedModel
from tests.support.waiting import wait_until

ROOT = Path(__file__).parents[2]
PI = "1.6.0"
FACT = "The invoice archive is kept in the granite bucket, never in the basalt one."
QUESTION = "Where is the invoice archive kept?"
LEAK = "granite bucket"
"""A part of the fact that turns out to be a secret."""
BOOT_SECONDS = 900.0
_DEFAULT = re.compile(r"http://localhost:8011")
_OF_MODELS = ("LLM_", "EMBEDDING_", "HF_", "TIKTOKEN_", "TELEMETRY_", "COGNEE_SKIP_")

# Before a test has a home of its own: what was downloaded once is not downloaded again, and the
# way to the package index is the one of this machine.
UV = [sys.executable, "-m", "uv"]
UV_CACHE = subprocess.run(
    [*UV, "cache", "dir"], capture_output=True, text=True, check=True
).stdout.strip()
WAY_OUT = {
    name: value
    for name, value in os.environ.items()
    if name.startswith(("UV_", "SSL_CERT_")) or name.upper().endswith("_PROXY")
} | {"UV_CACHE_DIR": UV_CACHE, "UV_PYTHON_DOWNLOADS": "never"}


@dataclass(frozen=True)
class Installation:
    """An environment with the project in it, and the port that is the default one there."""

    folder: Path
    port: int


class Machine:
    """A home folder, in which the project is installed and nothing else."""

    def __init__(self, home: Path, installation: Installation) -> None:
        self.home = home
        self.project = home / "project"
        self.project.mkdir()
        self.places = Places(home / ".cognee-plugin", installation.port)
        # A busy machine may be slow to recall; how slow is not the subject here.
        self.environment = {**WAY_OUT, "COGNEE_RECALL_TIMEOUT_MS": "9000"}
        self._url = f"http://127.0.0.1:{installation.port}"
        self._program = installation.folder / "bin" / "cognee-hooks"

    @property
    def record(self) -> state.ServerRecord:
        return state.read(self.places.state)

    def set(self, settings: Mapping[str, str]) -> None:
        """Write what a person writes into the one file of settings."""
        file = self.home / ".cognee" / ".env"
        file.parent.mkdir()
        file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        file.chmod(0o600)

    def run(self, *arguments: str, said: str = "") -> subprocess.CompletedProcess[str]:
        """Run the installed command as the person would, who may say something to it."""
        return subprocess.run(
            [self._program, *arguments],
            cwd=self.project,
            env=scrubbed(self.home, self.environment),
            input=said,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def row(self, name: str) -> dict[str, Any]:
        """A row of what doctor says."""
        rows = json.loads(self.run("doctor", "--json").stdout)
        return next(each for each in rows if each["name"] == name)

    def serves(self) -> bool:
        """Whether the server is there; fails where its start has failed."""
        assert self.record.phase is not Phase.FAILED, self.record.detail
        try:
            return httpx.get(f"{self._url}/health", timeout=5).status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False

    def remembers(self) -> bool:
        """Whether the server finds the fact; asked apart from agents, who bring more to keep."""
        if not self._keys.exists():
            return False
        with self._client() as client:
            return FACT in api.recall(client, QUESTION, "agent_sessions").text

    def history(self) -> str:
        """What the server has noted down of recalls."""
        with self._client() as client:
            return client.get("/api/v1/recall").text

    @property
    def _keys(self) -> Path:
        return self.places.shared / "api_key.json"

    def _client(self) -> httpx.Client:
        headers = {"X-Api-Key": json.loads(self._keys.read_text())["api_key"]}
        return httpx.Client(base_url=self._url, headers=headers, timeout=30)

    def close(self) -> None:
        """End all that was started."""
        self.run("down")
        self.run("daemon", "stop")
        for process in (self.record.worker, self.record.server):
            if process.alive:
                os.kill(process.pid, signal.SIGKILL)


def port_apart() -> int:
    """A free port that the system gives to nobody by itself."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """The project in an environment of its own; what it needs is there before a home is taken."""
    real_cognee.install(PIN)
    pi_agent.install(PI)
    real_agents.install("claude-code", CLAUDE_CODE_VERSIONS[0])
    folder = tmp_path_factory.mktemp("installed") / "venv"
    python = str(folder / "bin" / "python")
    what = f"{ROOT}[bootstrap,embedded]"
    for command in (
        ["venv", "--python", sys.executable, str(folder)],
        ["pip", "install", "--python", python, what],
    ):
        subprocess.run([*UV, "--quiet", *command], check=True, timeout=300)
    made = Installation(folder, port_apart())
    core = next(folder.glob("lib/python3*/site-packages/cognee_hooks/core_settings.py"))
    text, count = _DEFAULT.subn(f"http://localhost:{made.port}", core.read_text())
    assert count == 1
    core.unlink()  # it may be a link into the cache
    core.write_text(text)
    return made


@pytest.fixture
def machine(isolated_environment: Path, installation: Installation) -> Iterator[Machine]:
    made = Machine(isolated_environment, installation)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def pi_model() -> Iterator[ScriptedModel]:
    with chat_model() as model:
        yield model


@pytest.fixture
def claude_model() -> Iterator[ScriptedModel]:
    with messages_endpoint() as model:
        yield model


@pytest.fixture
def pi(machine: Machine, pi_model: ScriptedModel) -> PiDriver:
    driver = PiDriver(PI, machine.home, pi_model.url, machine.environment)
    assert machine.run("install", "pi", "--yes").returncode == 0
    return driver


@pytest.fixture
def claude(machine: Machine, claude_model: ScriptedModel) -> ClaudeCode:
    program = real_agents.install("claude-code", CLAUDE_CODE_VERSIONS[0])
    given = (machine.home, claude_model.url, machine.project, machine.environment)
    driver = ClaudeCode(program, *given)
    assert machine.run("install", "claude-code", "--yes").returncode == 0
    return driver


def recalls(agent: PiDriver | ClaudeCode, model: ScriptedModel) -> bool:
    """Ask in a session of its own; tells whether the model was given the fact."""
    agent.prompt(QUESTION)
    return FACT in "\n".join(model.context_texts())


@pytest.mark.real_cognee
@pytest.mark.boots_servers
def test_with_a_model_key_starting_an_agent_brings_server_and_memory(
    machine: Machine,
    model_endpoint: ModelEndpoint,
    pi: PiDriver,
    pi_model: ScriptedModel,
    claude: ClaudeCode,
    claude_model: ScriptedModel,
):
    # All that makes cognee work without a network, as a person would set their own model.
    known = real_cognee.RealCognee(PIN, machine.home, model_endpoint.url)
    settings = known._environment(real_cognee.install(PIN))
    machine.set({name: settings[name] for name in settings if name.startswith(_OF_MODELS)})

    pi.prompt(f"Remember this. {FACT} {{{{say: Noted.}}}}")
    wait_until(lambda: machine.record.phase is Phase.INSTALLING, "installing", 120)
    row = machine.row("local runtime")
    assert (row["status"], "installing cognee" in row["detail"]) == ("info", True)
    wait_until(machine.serves, "a server", BOOT_SECONDS)
    wait_until(lambda: machine.record.phase is Phase.READY, "the record of it")
    assert machine.record.version == PIN
    server = machine.record.server
    assert server.alive
    assert "Uvicorn running" in machine.places.console.read_text()

    # What was said before there was a server is memory, for the other agent as well.
    wait_until(machine.remembers, "what the first session brought", 120)
    assert recalls(pi, pi_model)
    assert recalls(claude, claude_model)
    assert machine.record.server == server

    # One that dies is noticed, and started again.
    os.kill(server.pid, signal.SIGKILL)
    wait_until(lambda: not server.alive, "its end")
    pi.prompt("Is anybody there?")
    wait_until(lambda: machine.record.server.pid not in {0, server.pid}, "another server", 300)
    wait_until(machine.serves, "its health", 300)
    wait_until(machine.remembers, "its memory", 120)

    # What leaks is taken out of all that it has noted down, and it goes on working.
    assert LEAK in machine.history()
    told = json.loads(machine.run("scrub", "--yes", "--json", said=LEAK).stdout)
    assert LEAK not in machine.history()
    databases = machine.home / ".cognee" / "system" / "databases"
    for name in ("cognee_db", "cache.db"):
        files = [databases / each for each in (name, f"{name}-wal")]
        assert not any(LEAK.encode() in each.read_bytes() for each in files if each.exists())
    states = {row["place"]: row["state"] for row in told["places"]}
    assert states[str(databases / "cognee_db")] == "cleaned"
    assert not [place for place in states if "history" in place]
    assert machine.serves()

    # Put down by hand it stays down.
    again = machine.record.server
    assert machine.run("down").stdout.startswith("The server is stopped.")
    assert not again.alive
    pi.prompt("And now?")
    assert machine.record.phase is Phase.STOPPED
    assert not machine.record.worker.alive


@pytest.mark.boots_servers
def test_with_one_setting_the_small_server_comes_by_itself(
    machine: Machine, claude: ClaudeCode, claude_model: ScriptedModel
):
    machine.set({"COGNEE_LOCAL_SERVER": "embedded"})
    claude.prompt(f"Remember this. {FACT} {{{{say: Noted.}}}}")
    wait_until(machine.serves, "a server", 60)
    wait_until(machine.remembers, "what the first session brought", 60)
    assert recalls(claude, claude_model)
    assert machine.row("local runtime")["status"] == "ok"

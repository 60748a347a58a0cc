"""Real agents, our installation in them, and a real cognee server: everything a person has."""

from __future__ import annotations

import json
import os
import random
import signal
import string
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import api, pi_agent
from tests.support.agent_machine import AgentMachine
from tests.support.agent_process import Completed
from tests.support.chat_wire import chat_model
from tests.support.messages_endpoint import messages_endpoint
from tests.support.model_endpoint import ModelEndpoint
from tests.support.pi_agent import PACKAGES
from tests.support.pi_driver import PiDriver
from tests.support.real_agents import (
    CLAUDE_CODE_VERSIONS,
    CODEX_VERSION,
    ClaudeCode,
    Codex,
    install,
)
from tests.support.real_cognee import RealCognee
from tests.support.responses_endpoint import responses_endpoint
from tests.support.scripted_model import ScriptedModel
from tests.support.servers import Server, ServerPool, mint_key
from tests.support.waiting import wait_until

pytestmark = pytest.mark.real_cognee

NEW, OLD = (f"claude-code-{version}" for version in CLAUDE_CODE_VERSIONS)
CODEX = f"codex-{CODEX_VERSION}"
OLD_PI, PI = (f"pi-{version}" for version in PACKAGES)
AGENTS = (NEW, OLD, CODEX, PI, OLD_PI)
MODELS = {"claude-code": messages_endpoint, "codex": responses_endpoint, "pi": chat_model}
OUTAGE = "=== Cognee memory: recall skipped (server unreachable)"
HEADER = "=== Cognee memory ==="


@dataclass(frozen=True)
class Agent:
    """A real agent that is set up on a machine, and the model that it talks to.

    Attributes:
        driver: Starts it.
        model: What it asks.
        prefix: How our ids of its sessions begin.
    """

    driver: ClaudeCode | Codex | PiDriver
    model: ScriptedModel
    prefix: str

    def session_id(self, session: str) -> str:
        """Our id of one of its sessions."""
        return f"{self.prefix}_{session}"

    def memory(self) -> list[str]:
        """What we put into the newest model request."""
        return [text for text in self.model.context_texts() if "Cognee memory" in text]


class Desk:
    """Sets agents up on one machine, each when it is first asked for."""

    def __init__(self, machine: AgentMachine, stack: ExitStack) -> None:
        self.machine = machine
        self._stack = stack
        self._agents: dict[str, Agent] = {}

    def __getitem__(self, name: str) -> Agent:
        if name not in self._agents:
            self._agents[name] = self._set_up(*name.rsplit("-", 1))
        return self._agents[name]

    def _set_up(self, name: str, version: str) -> Agent:
        machine = self.machine
        model = self._stack.enter_context(MODELS[name]())
        given = (machine.home, model.url, machine.project, machine.environment)
        driver: ClaudeCode | Codex | PiDriver
        if name == "claude-code":
            driver = ClaudeCode(install(name, version), *given)
        elif name == "codex":
            settings = "model_auto_compact_token_limit = 50_000"
            driver = Codex(install(name, version), *given, settings=settings)
        else:
            driver = PiDriver(version, machine.home, model.url, machine.environment)
        machine.command("install", name, "--yes")
        return Agent(driver, model, name.partition("-")[0])


@pytest.fixture(scope="session")
def programs() -> list[Path]:
    """Folders of the agents' programs; installed here, before a test has a home of its own."""
    for version in PACKAGES:
        pi_agent.install(version)
    return [install(*name.rsplit("-", 1)).parent for name in (NEW, OLD, CODEX)]


@pytest.fixture
def dataset() -> str:
    return f"agents_{uuid.uuid4().hex[:8]}"


@pytest.fixture
def desk(
    real_cognee_165: Server,
    dataset: str,
    programs: list[Path],
    isolated_environment: Path,
) -> Iterator[Desk]:
    with ExitStack() as stack:
        machine = AgentMachine(
            isolated_environment,
            real_cognee_165.url,
            real_cognee_165.key,
            dataset,
            *programs,
        )
        yield Desk(stack.enter_context(machine), stack)


@pytest.fixture
def killable_cognee(
    model_endpoint: ModelEndpoint, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealCognee]:
    """A real server of the test's own."""
    folder = tmp_path_factory.mktemp("killable")
    with RealCognee("1.6.5", folder, model_endpoint.url) as server:
        yield server


def opening(text: str) -> str:
    """A prompt without its directives."""
    return text.partition(" {{")[0]


def shown(done: Completed) -> tuple[int, str, str]:
    """What a person sees of a run."""
    return done.returncode, done.answer, done.stderr


@pytest.mark.parametrize(("one", "other"), [(NEW, CODEX), (CODEX, PI), (OLD_PI, OLD)])
def test_what_was_said_to_one_agent_is_read_by_the_model_of_another(
    desk: Desk, one: str, other: str
):
    machine = desk.machine
    fact = "The orders service goes out through the BluePelican pipeline."
    told = desk[one].driver.prompt(f"How do orders go out? {{{{say: {fact}}}}}")
    session = desk[one].session_id(told.session)
    machine.wait_for_turns(session, 1)
    machine.improve(session)

    asked = desk[other].driver.prompt("Deploy orders: which pipeline do they go out through?")

    assert (asked.returncode, asked.answer) == (0, "Done.")
    (memory,) = desk[other].memory()
    assert memory.startswith(HEADER)
    assert fact in memory


@pytest.mark.parametrize("name", [NEW, CODEX, PI])
def test_a_secret_that_a_tool_prints_is_nowhere_on_the_server(
    desk: Desk, name: str, servers: ServerPool, real_cognee_165: Server
):
    machine, agent = desk.machine, desk[name]
    secret = "ghp_" + "".join(random.choices(string.ascii_letters + string.digits, k=36))
    harmless = f"build {uuid.uuid4().hex} passed"
    notes = f"export GITHUB_TOKEN={secret}\n{harmless}\n"
    (machine.project / "notes.txt").write_text(notes)

    done = agent.driver.prompt(
        f"Show the notes. {{{{tool: cat notes.txt}}}} {{{{say: Its token is {secret}.}}}}"
    )

    assert done.answer == f"Its token is {secret}."
    assert secret in json.dumps(agent.model.requests[-1])
    session = agent.session_id(done.session)
    machine.wait_for_turns(session, 1)
    machine.improve(session)
    (trace,) = machine.session(session)["traces"]
    assert harmless in trace["method_return_value"]
    assert "[redacted:" in trace["method_return_value"]
    part = secret[8:28]
    assert part not in json.dumps(machine.session(session))
    assert part not in api.recall(machine.api, "GITHUB_TOKEN token notes", machine.dataset).text
    cognee = servers.process(real_cognee_165.name)
    assert isinstance(cognee, RealCognee)
    assert holders(cognee.log.parent, harmless)
    assert holders(cognee.log.parent, part) == []
    # What is kept on this side is encrypted or redacted too.
    assert holders(machine.home / ".cognee-plugin", part) == []


def holders(folder: Path, text: str) -> list[str]:
    """Files below a folder that hold a text."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [str(path) for path in files if text.encode() in path.read_bytes()]


# Before the first tool call, and after it.
@pytest.mark.parametrize(("name", "results"), [(NEW, 0), (CODEX, 1), (PI, 0), (PI, 1)])
def test_a_daemon_that_is_killed_in_the_middle_changes_nothing(desk: Desk, name: str, results: int):
    machine, agent = desk.machine, desk[name]
    prompt = "Try it {}. {{{{tool: echo tried}}}} {{{{say: fine}}}}"
    usual = agent.driver.prompt(prompt.format("once"))

    with (
        agent.model.held("Try it again", results) as release,
        agent.driver.start(prompt.format("again")) as running,
    ):
        agent.model.wait_for("Try it again", results)
        machine.wait_for_journal(prompts=1)
        killed = machine.kill_daemon()
        release()
        done = running.wait()

    assert shown(done) == shown(usual)
    for run, number in ((usual, "once"), (done, "again")):
        session = agent.session_id(run.session)
        machine.wait_for_turns(session, 1)
        assert machine.turns(session) == [(prompt.format(number), "fine")]
        assert len(machine.session(session)["traces"]) == 1
    assert machine.daemon()["pid"] not in {None, killed}


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_that_is_killed_loses_no_captured_turn(desk: Desk, name: str):
    machine, agent = desk.machine, desk[name]
    first = agent.driver.prompt("Say one. {{say: one}}")
    session = agent.session_id(first.session)
    resuming = agent.driver.resuming(first.session)

    second = "Say two. {{tool: echo until-here}} {{say: two}}"
    with (
        agent.model.held("Say two", results=1),
        agent.driver.start(second, *resuming) as running,
    ):
        agent.model.wait_for("Say two", results=1)
        running.kill()
        done = running.wait()

    assert (done.returncode, done.answer) == (-signal.SIGKILL, "")
    wait_until(lambda: machine.session(session)["traces"], "the tool call on the server")
    assert machine.turns(session) == [("Say one. {{say: one}}", "one")]
    (trace,) = machine.session(session)["traces"]
    assert "until-here" in trace["method_return_value"]
    wait_until(lambda: machine.daemon()["sessions"] == [], "the end of the session")
    machine.wait_for_journal()


def test_a_server_that_is_killed_changes_one_line_for_the_agents(
    killable_cognee: RealCognee,
    dataset: str,
    programs: list[Path],
    isolated_environment: Path,
):
    server, prompt = killable_cognee, "{} turn. {{{{tool: echo {}}}}} {{{{say: fine}}}}"
    with ExitStack() as stack:
        key = mint_key(server.url)
        machine = AgentMachine(isolated_environment, server.url, key, dataset, *programs)
        desk = Desk(stack.enter_context(machine), stack)
        agents = [desk[NEW], desk[CODEX], desk[PI]]
        usual = [each.driver.prompt(prompt.format("First", 1)) for each in agents]

        releases, running = [], []
        for agent in agents:
            releases.append(stack.enter_context(agent.model.held("Second", results=1)))
            turn = agent.driver.start(prompt.format("Second", 2))
            running.append(stack.enter_context(turn))
        for agent in agents:
            agent.model.wait_for("Second", results=1)
        machine.wait_for_journal(prompts=len(agents))
        os.kill(server.pid, signal.SIGKILL)
        server.stop()
        for release in releases:
            release()
        second = [each.wait() for each in running]
        third = [each.driver.prompt(prompt.format("Third", 3)) for each in agents]

        for agent, first, *later in zip(agents, usual, second, third, strict=True):
            assert [shown(each) for each in later] == [shown(first)] * 2
            assert agent.model.wait_for("Third", results=1)
            (text,) = agent.memory()
            # Claude Code goes on after an empty line, with words of its own.
            line = text.partition("\n\n")[0]
            assert line.startswith(OUTAGE)
            assert "\n" not in line
        server.start()
        for agent, *runs in zip(agents, usual, second, third, strict=True):
            for run, name in zip(runs, ("First", "Second", "Third"), strict=True):
                session = agent.session_id(run.session)
                machine.wait_for_turns(session, 1)
                assert [opening(q) for q, _ in machine.turns(session)] == [f"{name} turn."]
                assert len(machine.session(session)["traces"]) == 1


@pytest.mark.parametrize("name", [NEW, OLD, CODEX])
def test_sub_agents_and_compaction_leave_the_turns_of_the_person_alone(desk: Desk, name: str):
    machine, agent = desk.machine, desk[name]
    asking = "Ask around. {{agent: look [[tool: echo below]] [[say: looked]]}} {{say: asked}}"
    # Codex does not wait for its sub-agents, and takes them along when it ends.
    waiting_for = "Ask around" if name == CODEX else "nothing"
    with agent.model.held(waiting_for, results=1) as release, agent.driver.start(asking) as running:
        agent.model.wait_for("^look", results=1)
        release()
        first = running.wait()
    session = agent.session_id(first.session)
    said = ["Ask around."]
    if name == CODEX:
        filling = agent.driver.resume(
            first.session, "Fill it. {{tool: echo full}} {{tokens: 60000}}"
        )
        assert filling.returncode == 0
        said.append("Fill it.")
    else:
        assert agent.driver.resume(first.session, "/compact").returncode == 0
    last = agent.driver.resume(first.session, "And after? {{say: still here}}")

    assert (first.answer, last.answer) == ("asked", "still here")
    machine.wait_for_turns(session, len(said) + 1)
    assert [opening(question) for question, _ in machine.turns(session)] == [*said, "And after?"]
    below = [each["method_return_value"] for each in machine.session(session)["traces"]]
    assert any("below" in each for each in below)


@pytest.mark.parametrize("name", [NEW, CODEX, PI])
def test_an_agent_from_which_we_are_uninstalled_knows_nothing_of_us(desk: Desk, name: str):
    machine, agent = desk.machine, desk[name]
    machine.command("uninstall", agent.driver.name, "--yes")
    done = agent.driver.prompt("Are you alone? {{say: yes}}")
    assert (done.returncode, done.answer) == (0, "yes")
    assert agent.memory() == []
    assert machine.daemon()["pid"] is None
    settings = [".claude/settings.json", ".codex/hooks.json", ".codex/config.toml"]
    extensions = machine.home.glob(".pi/agent/extensions/*")
    files = [path for each in settings if (path := machine.home / each).exists()]
    assert all("cognee" not in path.read_text() for path in [*files, *extensions])

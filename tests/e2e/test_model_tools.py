"""Real agents whose model uses our tools: by skill and command line, and from the MCP server."""

from __future__ import annotations

import json
import re
import shlex
import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support import api
from tests.support.agent_machine import AgentMachine
from tests.support.messages_endpoint import messages_endpoint
from tests.support.real_agents import (
    CLAUDE_CODE_VERSIONS,
    CODEX_VERSION,
    ClaudeCode,
    Codex,
    install,
)
from tests.support.responses_endpoint import responses_endpoint
from tests.support.scripted_model import ScriptedModel
from tests.support.servers import Server
from tests.support.waiting import wait_until

NEW, OLD = (f"claude-code-{version}" for version in CLAUDE_CODE_VERSIONS)
CODEX = f"codex-{CODEX_VERSION}"
CLI = (sys.executable, "-m", "cognee_hooks")


@dataclass(frozen=True)
class Desk:
    """One agent on a machine, and its model."""

    machine: AgentMachine
    driver: ClaudeCode | Codex
    model: ScriptedModel

    def set_up(self, *options: str) -> None:
        """Install ourselves in the agent."""
        self.machine.command("install", self.driver.name, "--yes", *options)

    def session_id(self, session: str) -> str:
        """Our id of one of the agent's sessions."""
        return f"{self.driver.name.partition('-')[0]}_{session}"

    def results(self) -> str:
        """The newest model request, with the results of all tool calls."""
        return json.dumps(self.model.requests[-1], ensure_ascii=False)


@pytest.fixture(scope="module", autouse=True)
def programs() -> dict[str, Path]:
    """The agents, before a test has a home of its own."""
    return {name: install(*name.rsplit("-", 1)) for name in (NEW, OLD, CODEX)}


@pytest.fixture
def desk(
    request: pytest.FixtureRequest,
    programs: dict[str, Path],
    isolated_environment: Path,
    embedded_server: Server,
) -> Iterator[Desk]:
    name: str = request.param
    dataset = f"tools_{uuid.uuid4().hex[:8]}"
    with ExitStack() as stack:
        machine = stack.enter_context(
            AgentMachine(
                isolated_environment,
                embedded_server.url,
                embedded_server.key,
                dataset,
                programs[name].parent,
            )
        )
        codex = name == CODEX
        model = stack.enter_context(responses_endpoint() if codex else messages_endpoint())
        made = (Codex if codex else ClaudeCode)(
            programs[name], machine.home, model.url, machine.project, machine.environment
        )
        if codex:
            made.prompt("Write your settings.")
        yield Desk(machine, made, model)


def skill(desk: Desk, name: str) -> str:
    """The text of an installed skill."""
    folder = ".codex" if desk.driver.name == "codex" else ".claude"
    return (desk.machine.home / folder / "skills" / name / "SKILL.md").read_text()


def told_command(text: str, arguments: dict[str, Any]) -> str:
    """The command line that a skill tells, with arguments in the place of its example."""
    found = re.search(r"```sh\n(.*?)\n```", text, re.DOTALL)
    assert found is not None
    lines = found[1].split("\n")
    return "\n".join([lines[0], json.dumps(arguments), *lines[2:]])


@pytest.mark.parametrize("desk", [NEW, OLD, CODEX], indirect=True)
def test_the_model_uses_a_skill_in_the_session_that_runs_and_nothing_of_that_is_captured(
    desk: Desk,
):
    desk.set_up()
    fact = 'It\'s "quoted" $(echo no) `echo no`, and PapaStore keeps the books.'
    remember = told_command(skill(desk, "cognee-remember"), {"content": fact})
    recall = told_command(skill(desk, "cognee-recall"), {"query": "Who keeps the PapaStore books?"})

    done = desk.driver.prompt(
        f"Keep it. {{{{tool: {remember}}}}} {{{{tool: {recall}}}}} {{{{tool: echo other}}}} "
        "{{say: kept}}"
    )

    assert (done.returncode, done.answer) == (0, "kept")
    assert "cognee-remember: Store something" in desk.results()
    assert "cognee-datasets: " not in desk.results()
    session = desk.session_id(done.session)
    assert f"in the live session {session} " in desk.results()
    assert f"Stored in dataset '{desk.machine.dataset}'" in desk.results()
    kept = api.recall(desk.machine.api, "PapaStore books", desk.machine.dataset).text
    assert json.dumps(fact)[1:-1] in kept
    desk.machine.wait_for_turns(session, 1)
    (trace,) = desk.machine.session(session)["traces"]
    assert "other" in trace["method_return_value"]

    # What the model does not see, a person can call.
    desk.driver.prompt("$cognee-datasets" if desk.driver.name == "codex" else "/cognee-datasets it")
    assert "cognee-datasets - <<'COGNEE_WORDS'" in desk.results()


@pytest.mark.parametrize("desk", [NEW, OLD, CODEX], indirect=True)
def test_the_model_uses_tools_of_the_mcp_server(desk: Desk):
    desk.set_up("--mcp")
    done = desk.driver.prompt(
        'Keep it. {{mcp: cognee_remember {"content": "OscarService listens on 7431."}}} '
        '{{mcp: cognee_recall {"query": "Where does OscarService listen?"}}} '
        "{{mcp: cognee_recall {}}} {{tool: echo other}} {{say: kept}}",
        # A scripted model answers before the server is there, which Codex waits for only if told.
        *(["-c", "mcp_servers.cognee-hooks.required=true"] if desk.driver.name == "codex" else []),
    )

    assert (done.returncode, done.answer) == (0, "kept")
    assert f"Stored in dataset '{desk.machine.dataset}'" in desk.results()
    kept = api.recall(desk.machine.api, "OscarService", desk.machine.dataset).text
    assert "OscarService listens on 7431." in kept
    session = desk.session_id(done.session)
    desk.machine.wait_for_turns(session, 1)
    (trace,) = desk.machine.session(session)["traces"]
    assert "other" in trace["method_return_value"]


@pytest.mark.parametrize("desk", [NEW], indirect=True)
def test_a_command_that_the_agent_runs_switches_the_conversation_that_goes_on(desk: Desk):
    desk.set_up()
    other = f"{desk.machine.dataset}_2"
    command = shlex.join(["env", "PYTHONSAFEPATH=1", *CLI, "datasets", other, "--create"])
    with desk.driver.converse() as talk:
        assert talk.say(f"Switch. {{{{tool: {command}}}}} {{{{say: switched}}}}") == "switched"
        assert f"Switched to dataset '{other}'" in desk.results()
        found = re.search(r"\(session (claude_[\w-]+__2)\)", desk.results())
        assert found is not None
        talk.say("And what now? {{say: more}}")
        wait_until(lambda: desk.machine.turns(found[1]), "the turn in the new session")
        assert talk.end() == 0

"""Real agents that really compact: what the model is told with the prompt after it."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import pi_agent
from tests.support.agent_machine import AgentMachine
from tests.support.agent_process import scrubbed
from tests.support.chat_wire import chat_model
from tests.support.messages_endpoint import messages_endpoint
from tests.support.pi_agent import PACKAGES
from tests.support.pi_driver import PiDriver
from tests.support.real_agents import (
    CLAUDE_CODE_VERSIONS,
    CODEX_VERSION,
    OPENCODE_VERSION,
    ClaudeCode,
    Codex,
    install,
)
from tests.support.responses_endpoint import responses_endpoint
from tests.support.scripted_model import ScriptedModel
from tests.support.servers import Server
from tests.support.waiting import wait_until

NEW, OLD = CLAUDE_CODE_VERSIONS
HEADER = "=== Cognee memory: from before the compaction ==="
ASKED = "How do orders go out?"
SAID = "Through the BluePelican pipeline."
FIRST = f"{ASKED} {{{{say: {SAID}}}}}"
LAST = "And what was that about?"


@pytest.fixture(scope="module", autouse=True)
def installed() -> None:
    """All agents, before a test has a home of its own."""
    for version in PACKAGES:
        pi_agent.install(version)
    for version in CLAUDE_CODE_VERSIONS:
        install("claude-code", version)
    install("codex", CODEX_VERSION)
    install("opencode", OPENCODE_VERSION)


@pytest.fixture
def machine(isolated_environment: Path, embedded_server: Server) -> Iterator[AgentMachine]:
    dataset = f"compaction_{uuid.uuid4().hex[:8]}"
    server = (embedded_server.url, embedded_server.key)
    with AgentMachine(isolated_environment, *server, dataset) as made:
        yield made


@pytest.fixture
def messages() -> Iterator[ScriptedModel]:
    with messages_endpoint() as model:
        yield model


@pytest.fixture
def chat() -> Iterator[ScriptedModel]:
    with chat_model() as model:
        yield model


@pytest.fixture
def responses() -> Iterator[ScriptedModel]:
    with responses_endpoint() as model:
        yield model


def claude_code(machine: AgentMachine, model: ScriptedModel, version: str) -> ClaudeCode:
    machine.command("install", "claude-code", "--yes")
    program = install("claude-code", version)
    return ClaudeCode(program, machine.home, model.url, machine.project, machine.environment)


def pi(machine: AgentMachine, model: ScriptedModel, version: str) -> PiDriver:
    driver = PiDriver(version, machine.home, model.url, machine.environment)
    driver.compact_early()
    machine.command("install", "pi", "--yes")
    return driver


def anchors(model: ScriptedModel) -> list[str]:
    """The anchors in the newest request, of which a model sees the old ones too."""
    return [text for text in model.context_texts() if HEADER in text]


def check_anchor(model: ScriptedModel) -> None:
    """The newest request answers the last prompt, and holds one anchor of the first turn."""
    assert model.prompts()[-1].endswith(LAST)
    (anchor,) = anchors(model)
    assert f"- Q: {ASKED}" in anchor
    assert f"- A: {SAID}" in anchor


def begun(claude: ClaudeCode) -> str:
    """A session with enough in it for every version to compact."""
    session = claude.prompt(FIRST).session
    assert claude.resume(session, "And on Mondays?").returncode == 0
    return session


@pytest.mark.parametrize("version", [NEW, OLD])
def test_claude_codes_next_prompt_after_a_compaction_holds_the_anchor(
    machine: AgentMachine, messages: ScriptedModel, version: str
):
    claude = claude_code(machine, messages, version)
    session = begun(claude)
    assert claude.resume(session, "/compact").returncode == 0
    assert claude.resume(session, LAST).returncode == 0
    check_anchor(messages)

    # It is part of the conversation now, and does not come a second time.
    assert claude.resume(session, "Thanks for it.").returncode == 0
    assert len(anchors(messages)) == 1
    ours = f"claude_{session}"
    wait_until(lambda: machine.anchors(ours), "the anchor on the server")
    (stored,) = machine.anchors(ours)
    assert SAID in stored


def test_claude_codes_compaction_in_one_process(machine: AgentMachine, messages: ScriptedModel):
    claude = claude_code(machine, messages, NEW)
    with claude.converse() as conversation:
        conversation.say(FIRST)
        conversation.say("/compact")
        conversation.say(LAST)
        check_anchor(messages)
        assert conversation.end() == 0


def test_claude_codes_compaction_because_its_context_is_full(
    machine: AgentMachine, messages: ScriptedModel
):
    claude = claude_code(machine, messages, NEW)
    session = claude.prompt(FIRST).session
    filling = claude.resume(session, "Fill it. {{tool: echo full}} {{tokens: 990000}}")
    assert filling.returncode == 0
    assert claude.resume(session, LAST).returncode == 0
    check_anchor(messages)


def test_the_anchor_outlives_the_daemon(machine: AgentMachine, messages: ScriptedModel):
    claude = claude_code(machine, messages, NEW)
    session = begun(claude)
    assert claude.resume(session, "/compact").returncode == 0
    machine.wait_for_journal()
    machine.kill_daemon()
    assert claude.resume(session, LAST).returncode == 0
    check_anchor(messages)


@pytest.mark.parametrize("version", PACKAGES)
def test_pis_next_prompt_after_a_compaction_holds_the_anchor(
    machine: AgentMachine, chat: ScriptedModel, version: str
):
    with pi(machine, chat, version).rpc() as session:
        session.prompt(FIRST)
        session.prompt("And more of it, in a great many words. " + "words " * 200)
        done = session.ask(type="compact")
        assert done["success"], done
        session.prompt(LAST)
        check_anchor(chat)
        assert session.end() == 0


@pytest.mark.parametrize("version", PACKAGES)
def test_pis_compaction_because_its_context_is_full(
    machine: AgentMachine, chat: ScriptedModel, version: str
):
    with pi(machine, chat, version).rpc() as session:
        session.prompt(FIRST)
        session.prompt("Fill it. " + "words " * 200 + "{{tokens: 127000}}")
        session.until(lambda record: record["type"] == "compaction_end")
        session.prompt(LAST)
        check_anchor(chat)
        assert session.end() == 0


def test_codexs_next_prompt_after_a_compaction_holds_the_anchor(
    machine: AgentMachine, responses: ScriptedModel
):
    codex = Codex(
        install("codex", CODEX_VERSION),
        machine.home,
        responses.url,
        machine.project,
        machine.environment,
        settings="model_auto_compact_token_limit = 50_000",
    )
    machine.command("install", "codex", "--yes", "--trust")
    session = codex.prompt(FIRST).session
    filling = codex.resume(session, "Fill it. {{tool: echo full}} {{tokens: 60000}}")
    assert filling.returncode == 0
    assert codex.resume(session, LAST).returncode == 0
    check_anchor(responses)


OPENCODE_SETTINGS = """{
  "model": "fake/scripted", "small_model": "fake/scripted", "share": "disabled",
  "permission": {"*": "allow"},
  "provider": {"fake": {
    "npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "%s/v1", "apiKey": "none"},
    "models": {"scripted": {"limit": {"context": 100000, "output": 1000}}}
  }}
}"""


def test_opencodes_next_prompt_after_a_compaction_holds_the_anchor(
    machine: AgentMachine, chat: ScriptedModel
):
    settings = machine.home / ".config" / "opencode" / "opencode.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(OPENCODE_SETTINGS % chat.url)
    machine.command("install", "opencode", "--yes")
    switches = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    for prompt, *flags in ([f"{FIRST} {{{{tokens: 99900}}}}"], [LAST, "--continue"]):
        subprocess.run(
            [install("opencode", OPENCODE_VERSION), "run", *flags],
            cwd=machine.project,
            env=scrubbed(machine.home, machine.environment | switches),
            input=prompt,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
    # It is part of the system prompt, for this turn only.
    assert chat.prompts()[-1] == LAST
    told = [each["content"] for each in chat.requests[-1]["messages"] if each["role"] == "system"]
    (anchor,) = [text for text in told if HEADER in text]
    assert f"- A: {SAID}" in anchor

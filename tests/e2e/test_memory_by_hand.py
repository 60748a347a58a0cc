"""Real pi, a real daemon, a memory server: what people and the model do with memory by hand."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import pi_agent
from tests.support.agent_machine import AgentMachine
from tests.support.chat_endpoint import ChatEndpoint
from tests.support.pi_agent import PACKAGES, Rpc
from tests.support.pi_driver import PiDriver
from tests.support.servers import Server
from tests.support.waiting import wait_until


@pytest.fixture(scope="module", autouse=True)
def installed() -> None:
    """The agents, before a test has a home of its own."""
    for version in PACKAGES:
        pi_agent.install(version)


@pytest.fixture
def machine(isolated_environment: Path, embedded_server: Server) -> Iterator[AgentMachine]:
    server = (embedded_server.url, embedded_server.key)
    dataset = f"by_hand_{uuid.uuid4().hex[:8]}"
    with AgentMachine(isolated_environment, *server, dataset) as made:
        yield made


@pytest.fixture
def model() -> Iterator[ChatEndpoint]:
    with ChatEndpoint() as endpoint:
        yield endpoint


def typed(session: Rpc, command: str) -> str:
    """Type a command, and return what is shown for it."""
    return str(session.command(command)["message"])


@pytest.mark.parametrize("version", PACKAGES)
def test_people_and_the_model_use_memory_by_hand_and_switch_datasets(
    machine: AgentMachine, model: ChatEndpoint, version: str
):
    pi = PiDriver(version, machine.home, model.url.removesuffix("/v1"), machine.environment)
    machine.command("install", "pi", "--yes")
    other = f"{machine.dataset}_2"
    with pi.rpc() as session:
        session.ui("setStatus")
        told = typed(session, "/cognee-remember OscarService keeps its books in the PapaStore.")
        assert f"Stored in dataset '{machine.dataset}' (node_set: user_context)." in told
        session.prompt('Look {{call: cognee_recall {"query": "Which books has OscarService?"}}}')
        results = [each for each in model.requests[-1]["messages"] if each["role"] == "tool"]
        assert "PapaStore" in str(results[-1]["content"])

        session.send(type="prompt", message=f"/cognee-datasets {other}")
        question = session.ui("confirm")
        assert question["title"] == f"Create the dataset '{other}'?"
        session.send(type="extension_ui_response", id=question["id"], confirmed=True)
        told = str(session.ui("notify")["message"])
        assert f"Switched to dataset '{other}'" in told
        switched = re.search(r"\(session (pi_[\w-]+__2)\)", told)
        assert switched is not None
        assert f"synced into '{machine.dataset}'" in told

        session.prompt("And where are they now?")
        wait_until(lambda: machine.turns(switched[1]), "the turn in the new session")
        assert machine.session(switched[1])["dataset_id"] != ""
        assert f" * {other} (" in typed(session, "/cognee-datasets")
    first = switched[1].removesuffix("__2")
    assert [question for question, _ in machine.turns(first)] != []
    assert "And where are they now?" not in str(machine.turns(first))

"""Every command and every tool in a real pi against a real cognee: what is shown, what is stored.

One machine, one session of pi and one server for all of them; each test uses names of its own.
"""

from __future__ import annotations

import json
import re
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support import api, pi_agent
from tests.support.agent_machine import AgentMachine
from tests.support.chat_endpoint import ChatEndpoint, text_of
from tests.support.pi_agent import PACKAGES, Rpc
from tests.support.pi_driver import PiDriver
from tests.support.repositories import FILES, git
from tests.support.servers import Server
from tests.support.waiting import wait_until

pytestmark = pytest.mark.real_cognee

VERSION = tuple(PACKAGES)[-1]
SLOW = 120.0
"""Seconds that the server may take for one thing, on a machine that is busy with tests."""
COMMANDS = {
    "cognee",
    "cognee-doctor",
    "cognee-remember",
    "cognee-search",
    "cognee-index",
    "cognee-code",
    "cognee-sync",
    "cognee-datasets",
    "cognee-forget",
}
TOOLS = {
    "cognee_remember": {"content", "file", "node_set", "dataset"},
    "cognee_recall": {"query", "search_type", "session_only", "top_k"},
    "cognee_search": {"query", "top_k", "dataset", "search_type"},
    "cognee_code": {
        *("seed", "operation", "name", "start", "source", "target", "targets", "kind", "limit"),
        *("max_depth", "direction", "repo", "dataset", "top_k"),
    },
    "cognee_forget": {"dataset", "data_id", "entire_dataset"},
    "cognee_sync": {"dataset"},
}
"""The tools of the reference, with their parameters."""


@dataclass(frozen=True)
class Desk:
    """A person at a pi.

    Attributes:
        machine: What pi runs on, with the server behind.
        model: What pi asks.
        pi: The session.
        session_id: Our id of it.
    """

    machine: AgentMachine
    model: ChatEndpoint
    pi: Rpc
    session_id: str

    def type(self, line: str) -> tuple[str, str]:
        """Type a command; returns what is shown, and how."""
        shown = self.pi.command(line, SLOW)
        return shown["message"], shown["notifyType"]

    def answer(self, **value: Any) -> str:
        """Answer the question that is asked; returns its title."""
        kind = "select" if "value" in value else "confirm"
        question = self.pi.ui(kind, SLOW)
        self.pi.send(type="extension_ui_response", id=question["id"], **value)
        return str(question["title"])

    def call(self, *calls: tuple[str, dict[str, Any]], confirm: bool | None = None) -> list[str]:
        """Have the model call tools, one after the other; returns what it gets.

        Args:
            calls: Names of tools, with arguments.
            confirm: What to answer to the question that a tool asks; None where none does.
        """
        self.model.requests.clear()
        wanted = " ".join(f"{{{{call: {name} {json.dumps(given)}}}}}" for name, given in calls)
        self.pi.send(type="prompt", message=f"Do {wanted}")
        if confirm is not None:
            assert self.answer(confirmed=confirm).startswith("Permanently delete ")
        self.pi.until(lambda each: each["type"] == "agent_end", SLOW)
        results = [each for each in self.model.requests[-1]["messages"] if each["role"] == "tool"]
        return [text_of(each) for each in results[-len(calls) :]]

    def documents(self, dataset: str = "") -> list[dict[str, Any]]:
        """What the server lists in a dataset."""
        server, name = self.machine.api, dataset or self.machine.dataset
        rows = server.get("/api/v1/datasets").raise_for_status().json()
        found = [row["id"] for row in rows if row["name"] == name]
        if not found:
            return []
        listed = server.get(f"/api/v1/datasets/{found[0]}/data").raise_for_status().json()
        items: list[dict[str, Any]] = listed["data"] if isinstance(listed, dict) else listed
        return [{**each, "dataset_id": found[0]} for each in items]

    def contents(self, dataset: str = "") -> list[str]:
        """What the documents of a dataset hold."""
        return [
            self.machine.api.get(
                f"/api/v1/datasets/{each['dataset_id']}/data/{each['id']}/raw"
            ).text
            for each in self.documents(dataset)
        ]


@pytest.fixture(scope="module")
def desk(real_cognee_165: Server) -> Iterator[Desk]:
    pi_agent.install(VERSION)
    server = (real_cognee_165.url, real_cognee_165.key)
    dataset = f"typed_{uuid.uuid4().hex[:8]}"
    with (
        tempfile.TemporaryDirectory(prefix="ch-", ignore_cleanup_errors=True) as folder,
        AgentMachine(Path(folder), *server, dataset) as machine,
        ChatEndpoint() as model,
    ):
        # The repository is indexed by hand here, and what is recalled by itself would hold the
        # directions to the model of earlier tests.
        machine.environment |= {"COGNEE_CODE_AUTOINDEX": "off", "COGNEE_RECALL": "false"}
        for name, content in FILES.items():
            path = machine.project / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
        git(machine.project, "init", "-q", "-b", "main")
        git(machine.project, "add", ".")
        git(machine.project, "commit", "-q", "-m", "first")
        url = model.url.removesuffix("/v1")
        pi = PiDriver(VERSION, machine.home, url, machine.environment)
        machine.command("install", "pi", "--yes")
        with pi.rpc() as session:
            session.ui("setStatus")
            page = session.command("/cognee", SLOW)["message"]
            row = re.search(r"^Session: +(\S+)$", page, re.MULTILINE)
            assert row is not None, page
            yield Desk(machine, model, session, row[1])


def name() -> str:
    """A word that nothing else holds."""
    return f"Word{uuid.uuid4().hex[:10]}"


# -- what is offered -------------------------------------------------------------------------------


def test_all_commands_and_tools_of_the_reference_are_offered_with_all_their_parameters(desk: Desk):
    desk.pi.prompt("Hello")
    rows = desk.pi.ask(type="get_commands")["data"]["commands"]
    offered = {row["name"]: row["description"] for row in rows}
    assert set(offered) >= COMMANDS
    assert all(offered[each] for each in COMMANDS)
    declared = desk.model.tools()
    for tool, parameters in TOOLS.items():
        assert set(declared[tool]["parameters"]["properties"]) >= parameters, tool


# -- status ----------------------------------------------------------------------------------------


def test_cognee_shows_how_memory_is(desk: Desk):
    text, level = desk.type("/cognee")
    head, *lines = text.splitlines()
    assert (head, level) == ("Cognee Memory — connected", "info")
    rows = dict(re.match(r"([\w ]+): +(.*)", line).groups() for line in lines)  # type: ignore[union-attr]
    assert rows["Mode"] == "own server (COGNEE_BASE_URL is set)"
    assert re.fullmatch(
        rf"{re.escape(desk.machine.environment['COGNEE_BASE_URL'])} — reachable in \d+ ms "
        r"\(version 1\.6\.5\S*\)",
        rows["Server"],
    )
    assert rows["API key"] == "shell env"
    assert rows["Federation"].startswith("off (set COGNEE_PLUGIN_READ_DATASET_IDS")
    assert rows["Session"].startswith("pi_")
    assert {"Dataset", "Capture", "Queue", "Breaker", "Sync", "Recall", "Code graph"} <= set(rows)


def test_cognee_doctor_says_what_is_right_and_wrong(desk: Desk):
    text, level = desk.type("/cognee-doctor")
    assert text.partition(" — ")[0].removeprefix("⚠ ") == "Cognee Doctor"
    assert level == ("warning" if text.startswith("⚠") else "info")
    assert re.search(r"^✓ server +cognee 1\.6\.5\S* at http", text, re.MULTILINE), text
    assert re.search(r"^✓ key +shell env", text, re.MULTILINE), text
    assert desk.machine.environment["COGNEE_API_KEY"] not in text


# -- remember, search, recall ----------------------------------------------------------------------


def test_what_a_person_remembers_is_stored_and_found(desk: Desk):
    word = name()
    text, level = desk.type(
        f"/cognee-remember {word} lives in the harbour. --node-set project_docs"
    )
    assert level == "info"
    assert f"Stored in dataset '{desk.machine.dataset}' (node_set: project_docs)." in text
    assert any(word in each for each in desk.contents())

    def found() -> bool:
        text, level = desk.type(f'/cognee-search "Where does {word} live?" --top-k 3')
        assert level == "info", text
        return word in text

    wait_until(found, "memory of what was stored", SLOW)


def test_a_file_that_a_person_remembers_is_stored_once_and_updated(desk: Desk):
    word = name()
    (desk.machine.project / f"my {word}.md").write_text(f"{word} is blue.\n")
    line = f'/cognee-remember --file "my {word}.md"'
    assert desk.type(line)[0].startswith(f"Stored file 'my {word}.md' (")
    assert desk.type(line)[0].startswith(f"File 'my {word}.md' unchanged (")
    (desk.machine.project / f"my {word}.md").write_text(f"{word} is green.\n")
    assert desk.type(line)[0].startswith(f"Updated file 'my {word}.md' in dataset")
    assert [each for each in desk.contents() if word in each] == [f"{word} is green.\n"]


def test_what_does_not_work_is_shown_as_a_warning(desk: Desk):
    for line in (
        "/cognee-search --dataset nowhere anything",
        "/cognee-remember --file .env",
        "/cognee-index --sideways",
    ):
        text, level = desk.type(line)
        assert (text[0], level) == ("⚠", "warning"), text


def test_the_model_remembers_recalls_and_searches(desk: Desk):
    word = name()
    note = desk.machine.project / f"{word}.txt"
    note.write_text(f"The {word} keeps a lamp.\n")
    stored, filed = desk.call(
        ("cognee_remember", {"content": f"{word} sails at dawn.", "node_set": "agent_actions"}),
        ("cognee_remember", {"file": str(note), "dataset": desk.machine.dataset}),
    )
    assert "(node_set: agent_actions)." in stored
    assert filed.startswith(f"Stored file '{word}.txt' (")
    assert sum(word in each for each in desk.contents()) == 2

    dataset = {"dataset": desk.machine.dataset, "search_type": "CHUNKS", "top_k": 4}
    looks = (
        ("cognee_recall", {"query": f"When does {word} sail?", "top_k": 4}),
        ("cognee_search", {"query": f"What does {word} keep?", **dataset}),
    )
    wait_until(lambda: all(word in each for each in desk.call(*looks)), "memory of it", SLOW)
    (session,) = desk.call(("cognee_recall", {"query": "What was said?", "session_only": True}))
    assert "Q: " in session or session.startswith("The session cache is empty"), session


# -- code ------------------------------------------------------------------------------------------


def test_code_is_indexed_and_asked_by_person_and_model(desk: Desk):
    text, level = desk.type("/cognee-index --wait 100")
    assert ("Wait: graph is queryable" in text, level) == (True, "info"), text
    assert "PaymentService" in desk.type("/cognee-code PaymentService --top-k 5")[0]
    quoted = """'{"operation": "impact_analysis", "targets": ["process_refund"]}'"""
    assert "run_nightly" in desk.type(f"/cognee-code {quoted}")[0]
    operations: list[dict[str, Any]] = [
        {"operation": "query_facts", "name": "process_refund", "kind": "symbol", "limit": 5},
        {"operation": "explore", "name": "PaymentService", "max_depth": 1},
        {"operation": "traverse", "start": "run_nightly", "direction": "backward", "max_depth": 3},
        {"operation": "find_path", "source": "run_nightly", "target": "process_refund"},
        {"operation": "impact_analysis", "targets": ["process_refund"], "top_k": 5},
        {"operation": "delta", "repo": str(desk.machine.project)},
        {"seed": "LedgerStore"},
    ]
    answers = desk.call(*(("cognee_code", given) for given in operations))
    expected = ["process_refund", "make_service", "post_refund", "process_refund", "run_nightly"]
    for given, answer, word in zip(operations, answers, [*expected, "project", "LedgerStore"]):  # noqa: B905 - all are paired
        assert word in answer, (given, answer)
        assert not answer.startswith("⚠"), answer
    page = desk.type("/cognee")[0]
    assert re.search(r"^Code graph: autoindex off · \S+ · indexed 0 min ago$", page, re.MULTILINE)


# -- sync, datasets, forget ------------------------------------------------------------------------


def test_the_session_is_synced_by_person_and_model(desk: Desk):
    word = name()
    desk.pi.prompt(f"Note {word} {{{{say: Noted.}}}}")
    told, refused = desk.call(("cognee_sync", {}), ("cognee_sync", {"dataset": "elsewhere"}))
    assert "asting memory" in told
    assert refused.startswith("Nothing was synced: this session belongs to dataset")
    text, level = desk.type("/cognee-sync")
    assert ("asting memory" in text or "nothing to do" in text, level) == (True, "info"), text


def test_datasets_are_listed_made_and_switched(desk: Desk):
    other = f"other_{uuid.uuid4().hex[:8]}"
    assert desk.machine.dataset in desk.type("/cognee-datasets")[0]
    text, level = desk.type(f"/cognee-datasets {other} --create")
    assert (f"Switched to dataset '{other}'" in text, level) == (True, "info"), text
    try:
        word = name()
        desk.type(f"/cognee-remember {word} belongs here.")
        assert any(word in each for each in desk.contents(other))
        page = desk.type("/cognee")[0]
        assert re.search(rf"^Dataset: +{other}$", page, re.MULTILINE)
        assert re.search(
            rf"^Switched: +from {desk.machine.dataset} at \d{{4}}-", page, re.MULTILINE
        )
    finally:
        back = desk.type(f"/cognee-datasets {desk.machine.dataset} --force")[0]
    assert f"Switched to dataset '{desk.machine.dataset}'" in back


def test_person_and_model_forget_what_a_person_confirms(desk: Desk):
    other = f"gone_{uuid.uuid4().hex[:8]}"
    api.remember(desk.machine.api, other, f"{name()} goes.", f"{name()} goes, too.")
    first, second = (each["id"] for each in desk.documents(other))

    desk.pi.send(type="prompt", message=f"/cognee-forget {other} {first}")
    title = desk.answer(confirmed=False)
    assert title == f"Permanently delete data item {first} of dataset '{other}'?"
    shown = desk.pi.ui("notify", SLOW)
    assert shown["message"].startswith("Cancelled — nothing deleted.")
    text, level = desk.type(f"/cognee-forget {other} {first} --yes")
    assert (text.startswith("Deleted data item"), level) == (True, "info"), text
    assert [each["id"] for each in desk.documents(other)] == [second]

    entire = ("cognee_forget", {"dataset": other, "entire_dataset": True})
    assert desk.call(entire, confirm=False)[0].startswith("Nothing deleted: nobody confirmed it")
    (told,) = desk.call(("cognee_forget", {"dataset": other, "data_id": second}), confirm=True)
    assert told.startswith(f"Deleted data item {second}")
    assert desk.documents(other) == []

    assert desk.type(f"/cognee-forget {other} --entire --yes")[0].startswith("Deleted the ENTIRE")
    assert other not in desk.type("/cognee-datasets")[0]

"""`cognee-hooks scrub` at every server: no route shows the value, and all else is still there."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from cognee_hooks.embedded import EmbeddedServer
from tests.support.api import post_entry, question, recall, remember, trace, upload
from tests.support.daemon import agent_environment
from tests.support.real_cognee import RealCognee
from tests.support.servers import REAL_NAMES, Server, ServerPool, mint_key

VALUE = "hunter2-" + "Zq81" + '"slash\\é-' + "kappa"
CORE = "Zq81"
"""A part of the value that every spelling of it holds."""
MARKER = "[redacted:scrubbed]"
SEARCHES = ("CHUNKS", "GRAPH_COMPLETION", "HYBRID_COMPLETION", "SUMMARIES")
SESSIONS = ("leaking", "same-dataset", "other-dataset", "no-dataset")
HISTORY = "the history of recalls"


@dataclass
class Played:
    """What came of a scrub of an account that held the value in many places.

    Attributes:
        before: What each route answered before, by name.
        looked: Report of ``--dry-run``.
        between: Answers about the session with the value, after that.
        done: Report of ``--yes``.
        after: What each route answered in the end.
        sessions: Details of the sessions in the end.
        later: Status of an entry that came after.
        named: Id of the dataset whose name holds the value.
        forgotten: Report of ``--forget-dataset``.
        datasets: Ids of the datasets after that.
        histories: The history of recalls before, between and after a scrub by whoever looks after
            the server; empty for the embedded one, which has none.
        bytes: How often the server's database file held the value before and after that.
        shown: Report of its ``--dry-run``.
        kept: Report of its ``--yes``.
    """

    before: dict[str, str] = field(default_factory=dict)
    looked: dict[str, Any] = field(default_factory=dict)
    between: str = ""
    done: dict[str, Any] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)
    sessions: dict[str, Any] = field(default_factory=dict)
    later: int = 0
    named: str = ""
    forgotten: dict[str, Any] = field(default_factory=dict)
    datasets: list[str] = field(default_factory=list)
    histories: list[str] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    shown: dict[str, Any] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict)

    @property
    def states(self) -> dict[str, str]:
        """What became of each place at the server."""
        rows = self.done["places"]
        return {row["place"].partition(": ")[2]: row["state"] for row in rows}


@contextmanager
def fresh_account(server: Server, folder: Path) -> Iterator[Server]:
    """An account that holds nothing yet: scrub looks through all that an account has."""
    if server.name == "embedded":
        with EmbeddedServer(folder / "own.db") as own:
            yield replace(server, url=own.url, key=mint_key(own.url))
        return
    login = {"email": f"{uuid.uuid4().hex}@example.com", "password": uuid.uuid4().hex}
    with httpx.Client(base_url=server.url, timeout=60) as client:
        client.post("/api/v1/auth/register", json=login).raise_for_status()
        form = {"username": login["email"], "password": login["password"]}
        token = client.post("/api/v1/auth/login", data=form).raise_for_status().json()
        bearer = {"Authorization": f"Bearer {token['access_token']}"}
        made = client.post("/api/v1/auth/api-keys", json={"name": "scrub"}, headers=bearer)
    yield replace(server, key=made.raise_for_status().json()["key"])


AS_LOCAL = """
import sys
import cognee_hooks.host
from cognee_hooks.cli import main
from cognee_hooks.core_settings import Mode

url, *words = sys.argv[1:]
mode = Mode(backend="local", url=url, reason="no other server is set", explicit_url=False)
cognee_hooks.host.decide_mode = lambda *_: mode
sys.exit(main(words))
"""
"""The command where the server is the one that is looked after here, on the default address."""


def scrub(
    account: Server,
    home: Path,
    *words: str,
    program: Sequence[str] = ("-m", "cognee_hooks"),
    **more: str,
) -> dict[str, Any]:
    environ = agent_environment(home, account.url, COGNEE_API_KEY=account.key, **more)
    done = subprocess.run(
        [sys.executable, *program, "scrub", "--json", *words],
        input=f"{VALUE}\n".encode(),
        capture_output=True,
        env={name: text for name, text in environ.items() if not name.startswith("XDG_")},
        timeout=240,
        check=False,
    )
    assert CORE.encode() not in done.stdout + done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return {**report, "code": done.returncode}


def fill(api: httpx.Client) -> tuple[str, str]:
    """Store what leaks and what does not; returns the ids of the two datasets."""
    harbour = remember(api, "harbour", "Maria owns the harbour project in Lisbon.")["dataset_id"]
    upload(api, "harbour", {"notes.md": f"The deploy key is {VALUE}. Ask Maria.".encode()})
    quiet = remember(api, "quiet", "The teal lighthouse is painted in May.")["dataset_id"]
    for number in range(21):
        text = f"deploy with {VALUE} please" if number == 0 else f"what is question {number}"
        post_entry(api, question(text, "an answer"), "leaking", "harbour")
        command = f"deploy {VALUE if number == 0 else 'nothing'}"
        shown = trace(method_params={"command": command}, method_return_value="ok")
        post_entry(api, shown, "leaking", "harbour")
    post_entry(api, question("which colour", "it is teal"), "same-dataset", "harbour")
    post_entry(api, question("which month", "it is May"), "other-dataset", "quiet")
    post_entry(api, question(f"use {VALUE}", "yes"), "no-dataset", "main_dataset")
    post_entry(api, question("another one", "kept"), "no-dataset", "main_dataset")
    improve = {"session_ids": ["leaking"], "dataset_id": harbour, "run_in_background": False}
    api.post("/api/v1/improve", json=improve).raise_for_status()
    return harbour, quiet


def everything(api: httpx.Client, *datasets: str) -> dict[str, str]:
    """What each route answers that could show the value; the history of recalls apart."""
    answers = {"sessions": api.get("/api/v1/sessions?range=all&limit=500").text}
    for session in SESSIONS:
        answers[session] = api.get(f"/api/v1/sessions/{session}").text
        for scope in ("session", "trace", "session_context"):
            named = {"scope": [scope], "session_id": session, "top_k": 1000}
            found = recall(api, "what is the key for deploy another", **named, datasets=None)
            answers[f"{session} {scope}"] = found.text
    for dataset in datasets:
        rows = api.get(f"/api/v1/datasets/{dataset}/data?limit=1000")
        answers[f"{dataset} list"] = rows.text
        for row in rows.json():
            raw = api.get(f"/api/v1/datasets/{dataset}/data/{row['id']}/raw")
            answers[f"{dataset} {row['id']}"] = raw.text
        for search in SEARCHES:
            named = {"datasets": None, "dataset_ids": [dataset], "search_type": search}
            found = recall(api, "deploy key harbour teal", **named, top_k=100)
            answers[f"{dataset} {search}"] = found.text
    return answers


def holding(answers: dict[str, str]) -> set[str]:
    return {name for name, text in answers.items() if CORE in text}


def look_after(
    account: Server, api: httpx.Client, folder: Path, system: Path, played: Played
) -> None:
    """Scrub once more, now as whoever looks after the server."""
    databases = ("cognee_db", "cognee_db-wal", "cache.db", "cache.db-wal")
    files = [system / "databases" / each for each in databases]
    how = {"program": ("-c", AS_LOCAL, account.url), "SYSTEM_ROOT_DIRECTORY": str(system)}

    def history() -> str:
        return api.get("/api/v1/recall").text

    def stored() -> int:
        return sum(each.read_bytes().count(CORE.encode()) for each in files if each.exists())

    played.histories.append(history())
    played.bytes.append(stored())
    played.shown = scrub(account, folder, "--dry-run", **how)
    played.histories.append(history())
    played.kept = scrub(account, folder, "--yes", **how)
    played.histories.append(history())
    played.bytes.append(stored())
    again = post_entry(api, question("and then", "still works"), "leaking", "harbour")
    played.later = max(played.later, again.status_code)


def play(server: Server, folder: Path, system: Path | None) -> Played:
    played = Played()
    headers = {}
    with fresh_account(server, folder) as account:
        headers["X-Api-Key"] = account.key
        with httpx.Client(base_url=account.url, headers=headers, timeout=120) as api:
            datasets = fill(api)
            named = api.post("/api/v1/datasets", json={"name": f"for_{VALUE}"})
            played.named = named.json()["id"]
            played.before = everything(api, *datasets)
            played.looked = scrub(account, folder, "--dry-run")
            played.between = api.get("/api/v1/sessions/leaking").text
            played.done = scrub(account, folder, "--yes")
            played.after = everything(api, *datasets)
            for each in SESSIONS:
                played.sessions[each] = api.get(f"/api/v1/sessions/{each}").json()
            later = question("and now", "still works")
            played.later = post_entry(api, later, "leaking", "harbour").status_code
            forget = ("--yes", "--forget-dataset", played.named)
            played.forgotten = scrub(account, folder, *forget)
            played.datasets = [row["id"] for row in api.get("/api/v1/datasets").json()]
            if system is not None:
                recall(api, f"was it {VALUE}", "harbour")
                look_after(account, api, folder, system, played)
    return played


@pytest.fixture(scope="session")
def all_played() -> dict[str, Played]:
    """What was played at each server, by the first test that wants it: it takes long."""
    return {}


@pytest.fixture
def played(
    server: Server, servers: ServerPool, all_played: dict[str, Played], tmp_path: Path
) -> Played:
    if server.name not in all_played:
        process = servers.process(server.name)
        system = process.log.parent / "system" if isinstance(process, RealCognee) else None
        all_played[server.name] = play(server, tmp_path, system)
    return all_played[server.name]


def test_no_answer_of_sessions_data_and_recall_holds_the_value(played: Played):
    assert len(holding(played.before)) > 5
    assert holding(played.after) == set()


def test_a_look_changes_nothing(played: Played):
    assert (played.looked["code"], played.looked["changed"]) == (1, False)  # a name holds it
    assert CORE in played.between or "msg_count" in played.between
    assert json.loads(played.between)["msg_count"] == 21


def test_what_cannot_be_reached_is_named_and_nothing_else_stays(played: Played):
    left = {place for place, state in played.states.items() if state == "left"}
    assert left - {HISTORY} == {f"dataset {played.named}"}
    assert played.done["code"] == 1
    assert played.states["session leaking"] == "cleaned"
    assert played.states["session no-dataset"] == "cleaned"


def test_entries_beyond_those_that_a_session_lists_are_cleaned_and_kept(played: Played):
    detail = played.sessions["leaking"]
    assert (detail["msg_count"], detail["tool_calls"]) == (21, 21)
    assert f"deploy with {MARKER} please" in played.after["leaking session"]
    assert f"deploy {MARKER}" in played.after["leaking trace"]
    assert [row["question"] for row in detail["qas"]] == [
        f"what is question {number}" for number in range(1, 21)
    ]


def test_what_else_was_stored_is_still_there(played: Played):
    answers = {name: detail["qas"][0]["answer"] for name, detail in played.sessions.items()}
    assert answers["same-dataset"] == "it is teal"
    assert answers["other-dataset"] == "it is May"
    found = [row["question"] for row in played.sessions["no-dataset"]["qas"]]
    assert found == [f"use {MARKER}", "another one"]
    recalled = [text for name, text in played.after.items() if name.endswith("CHUNKS")]
    assert "harbour project" in recalled[0]
    assert f"The deploy key is {MARKER}" in recalled[0]
    assert "lighthouse" in recalled[1]
    assert played.later == 200


def test_a_dataset_whose_name_holds_the_value_is_deleted_when_its_id_is_given(played: Played):
    told = [row["detail"] for row in played.done["places"]]
    assert any(f"--forget-dataset {played.named}" in text for text in told)
    assert (played.forgotten["code"], played.forgotten["deleted"]) == (0, played.named)
    assert played.named not in played.datasets
    assert len(played.datasets) >= 2


@pytest.mark.parametrize(
    "server",
    [pytest.param(name, marks=pytest.mark.real_cognee) for name in REAL_NAMES],
    indirect=True,
)
def test_the_history_of_recalls_is_cleaned_by_whoever_looks_after_the_server(played: Played):
    before, between, after = played.histories
    assert CORE in before
    assert between.startswith(before.removesuffix("]"))  # a look asks, which is noted down too
    assert CORE not in after
    assert MARKER in after
    assert len(json.loads(after)) >= len(json.loads(before))
    stored, left = played.bytes
    assert stored > 0
    assert left == 0
    shown = [row for row in played.shown["places"] if row["place"].startswith("/")]
    assert {row["state"] for row in shown} == {"found"}
    assert played.kept["code"] == 0, played.kept
    assert played.later == 200

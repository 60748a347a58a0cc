"""The code lane from a session's start to answers, with real indexing of a small repository."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from pathlib import Path

import httpx
import pytest

from builtin_plugins.code_lane.follow import Before, Ending, Follower, look_before
from cognee_hooks.deadline import Deadline
from cognee_hooks.events import SessionStart, Stop, UserPromptSubmit
from cognee_hooks.host import Host
from cognee_hooks.services.pipelines import CODE_PIPELINE
from tests.support.repositories import make_repository
from tests.support.servers import REAL_NAMES, Server, ServerPool
from tests.support.waiting import until

pytestmark = pytest.mark.real_cognee


@pytest.fixture(params=REAL_NAMES)
def server(request: pytest.FixtureRequest, servers: ServerPool) -> Server:
    return servers.get(request.param)


@pytest.fixture
def repository(tmp_path: Path, name: str) -> Path:
    """A repository whose path, and so whose dataset, no other test has."""
    return make_repository(tmp_path / name)


@pytest.fixture
async def host(server: Server, isolated_environment: Path, name: str, repository: Path):
    made = Host(
        "claude-code",
        environ={
            "HOME": str(isolated_environment),
            "COGNEE_BASE_URL": server.url,
            "COGNEE_API_KEY": server.key,
            "COGNEE_PLUGIN_DATASET": name,
        },
        session_id=name,
        cwd=str(repository),
        entry_points=(),
    )
    await made.start()
    yield made
    await made.close(Deadline.after(5))


async def ask(host: Host, **arguments: object) -> str:
    return await host.registered.tools["cognee_code"].run(arguments)


async def index(host: Host, text: str = "--wait 120") -> str:
    return await host.registered.commands["index"].run(text)


async def prompt(host: Host, text: str) -> str:
    event = UserPromptSubmit(session_id=host.session.session_id, prompt=text)
    return (await host.user_prompt_submit(event)).context


async def test_an_indexed_repository_answers_every_operation(host: Host, server: Server):
    report = await index(host)
    assert "Wait: graph is queryable" in report, report

    facts = await ask(host, operation="query_facts", name="process_refund")
    assert "src/pay.PaymentService.process_refund (method) at src/pay.py:" in facts
    assert "src/pay.make_service" in await ask(host, operation="query_facts", file="src/pay.py")
    around = await ask(host, operation="explore", name="audit")
    # A finding about dead code has the name too; the function is found all the same.
    assert around.splitlines()[1].startswith("src/ledger.audit (function) at src/ledger.py:9")
    reached = await ask(host, operation="traverse", start="run_nightly", max_depth=2)
    assert "make_service" in reached
    backward = await ask(host, operation="traverse", start="make_service", direction="backward")
    assert "run_nightly" in backward, backward
    path = await ask(host, operation="find_path", source="run_nightly", target="make_service")
    assert "src/pay.run_nightly → src/pay.make_service" in path
    none = await ask(host, operation="find_path", source="audit", target="run_nightly")
    assert none.startswith("There is no path from src/ledger.audit to src/pay.run_nightly")
    impact = await ask(host, operation="impact_analysis", targets=["make_service"])
    assert "src/pay.run_nightly" in impact
    assert host.session.cwd.rpartition("/")[2] in await ask(host, operation="delta")
    assert "src" in await ask(host, operation="architecture")
    assert "⚠" not in await ask(host, operation="insights")

    plain = await ask(host, seed="PaymentService")
    assert "src/pay.PaymentService" in plain
    unknown = await ask(host, operation="explore", name="zzz_nothing")
    assert unknown.startswith("No code facts for 'zzz_nothing'")
    several = await ask(host, operation="explore", name="e")
    assert "does not name exactly one thing" in several

    newer = {
        "search": {"text": "refund payment"},
        "neighbors": {"name": "make_service"},
        "subgraph": {"targets": ["make_service"]},
        "flows": {},
        "hubs": {},
        "ask": {"question": "how are refunds processed?"},
        "capabilities": {},
    }
    for operation, arguments in newer.items():
        answer = await ask(host, operation=operation, **arguments)
        if server.name == "cognee-1.6.0":
            assert "too old for that operation" in answer, answer
        else:
            assert "⚠" not in answer, answer
            assert len(answer.splitlines()) > 1, answer


async def test_a_prompt_that_names_a_symbol_gets_its_facts(host: Host):
    await index(host)
    context = await prompt(host, "what does `process_refund` do in src/ledger.py?")
    assert "=== Cognee memory: code ===" in context
    assert "src/pay.PaymentService.process_refund (method) at src/pay.py:" in context
    assert "src/ledger.audit" in context
    assert "code" not in await prompt(host, "what shall we have for lunch today?")


async def test_a_session_indexes_its_repository_and_keeps_it_fresh(
    host: Host, repository: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("builtin_plugins.code_lane.plugin.QUIET_SECONDS", 0.1)
    monkeypatch.setattr("builtin_plugins.code_lane.record.SHORTEST_PAUSE", 0.0)
    monkeypatch.setattr("builtin_plugins.code_lane.record.REST", 0)
    session = host.session.session_id
    await host.session_start(SessionStart(session_id=session, cwd=str(repository)))
    folder = host.paths.code_dir
    await until(
        lambda: any('"COMPLETED"' in each.read_text() for each in folder.glob("*/*.json")),
        "the first index",
    )
    assert "process_refund" in await ask(host, operation="query_facts", name="process_refund")

    new = repository / "new folder" / "näme.py"
    new.parent.mkdir()
    new.write_text("def freshly_added():\n    return 1\n")
    await host.stop(Stop(session_id=session, last_assistant_message="done"))
    limit = Deadline.after(60)
    while "new folder" not in await ask(host, operation="query_facts", name="freshly_added"):
        assert not limit.expired
        await asyncio.sleep(0.5)


async def test_w33_a_graph_that_was_forgotten_is_not_asked_any_more(
    host: Host, server: Server, repository: Path
):
    await index(host)
    records = list(host.paths.code_dir.glob("*/*.json"))
    dataset = json.loads(records[0].read_text())["dataset"]
    await forget(server, dataset)
    gone = await ask(host, operation="query_facts", name="process_refund")
    assert gone.startswith(f"There is no dataset '{dataset}'"), gone
    assert [each for each in records if each.exists()] == []


async def forget(server: Server, dataset: str) -> None:
    async with httpx.AsyncClient(headers={"X-Api-Key": server.key}, timeout=60) as api:
        url = f"{server.url}/api/v1/forget"
        assert (await api.post(url, json={"dataset": dataset})).status_code == 200


async def test_w7_a_dataset_that_is_made_again_is_seen_to_its_own_end(
    host: Host, server: Server, repository: Path
):
    await index(host)
    (record,) = (json.loads(each.read_text()) for each in host.paths.code_dir.glob("*/*.json"))
    await forget(server, record["dataset"])
    assert "graph is queryable" in await index(host)
    await forget(server, record["dataset"])
    shutil.rmtree(repository)
    client, began = host.services.client, time.time()
    spec = await host.redact(str(repository))
    limit = Deadline.after(30)
    taken = await client.code.index(spec, dataset=record["dataset"], deadline=limit)
    assert taken.dataset_id == record["dataset_id"], "it has the id that it had"
    follower = Follower(client, taken.dataset_id, Before(unseen_at=began))
    assert await follower.until(Deadline.after(4)) in {Ending.UNSEEN, Ending.ERRORED}


async def test_what_never_becomes_a_graph_is_told_from_what_will(host: Host, repository: Path):
    """W7, W10: a run that comes to nothing leaves no COMPLETED of an earlier one to be taken."""
    missing = await ask(host, operation="query_facts", name="x", dataset="codebase-nowhere")
    assert missing.startswith("There is no dataset 'codebase-nowhere'")
    assert "graph is queryable" in await index(host)
    shutil.rmtree(repository)
    client, dataset = host.services.client, host.services.paths.code_dir
    (record,) = (json.loads(each.read_text()) for each in dataset.glob("*/*.json"))
    before = await look_before(client, record["dataset_id"], Deadline.after(5), time.time())
    spec = await host.redact(str(repository))
    await client.code.index(spec, dataset=record["dataset"], deadline=Deadline.after(30))
    status = await client.pipelines.status(record["dataset_id"], CODE_PIPELINE, Deadline.after(5))
    assert status.endswith("COMPLETED"), "the trap of the contract is no longer there"
    follower = Follower(client, record["dataset_id"], before)
    assert await follower.until(Deadline.after(4)) in {Ending.UNSEEN, Ending.ERRORED}

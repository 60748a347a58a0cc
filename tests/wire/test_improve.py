"""What improve sends, and what it makes of a server that misbehaves."""

from __future__ import annotations

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.answers import DatasetRef
from cognee_hooks.services.improve import ImproveState
from tests.support import fake_server as fake

K = FailureKind
IMPROVE = "/api/v1/improve"
RUNS = "/api/v1/activity/pipeline-runs"
UUID = "42391ba7-2487-5312-8912-589684ac04d2"
RUNNING = {"status": "running", "stages": [], "dataset_id": UUID}
HERE = DatasetRef("agent_sessions")


def soon(seconds=5.0):
    return Deadline.after(seconds)


async def improve(client, dataset=HERE, deadline=None, **options):
    return await client.improve(["s1"], dataset=dataset, deadline=deadline or soon(), **options)


async def test_every_field_is_sent_in_both_spellings(server, client):
    server.on(IMPROVE, fake.status(200, RUNNING))
    done = await improve(client)
    assert (done.state, done.dataset_id) == (ImproveState.SUBMITTED, UUID)
    (request,) = server.requests
    assert request.method == "POST"
    assert request.json == {
        "session_ids": ["s1"],
        "sessionIds": ["s1"],
        "run_in_background": True,
        "runInBackground": True,
        "dataset_name": "agent_sessions",
        "datasetName": "agent_sessions",
    }


@pytest.mark.parametrize(
    "dataset", [DatasetRef(id=UUID), DatasetRef(UUID.upper()), DatasetRef("name", UUID)]
)
async def test_a_uuid_is_sent_as_an_id(server, client, dataset):
    server.on(IMPROVE, fake.status(200, RUNNING))
    await improve(client, dataset, background=False)
    body = server.requests[0].json
    assert body["dataset_id"] == body["datasetId"] == UUID
    assert "dataset_name" not in body
    assert body["run_in_background"] is False


async def test_a_name_is_sent_as_every_route_takes_it(server, client):
    server.on(IMPROVE, fake.status(200, RUNNING))
    await improve(client, DatasetRef("my.repo ds"))
    assert server.requests[0].json["dataset_name"] == "my-repo-ds"


async def test_w47_support_is_decided_once_until_the_server_is_another(server, client):
    for code, document in ((405, {"detail": "Method Not Allowed"}), (404, {"detail": "Not Found"})):
        server.on("/health", fake.status(200, {"status": "ready", "version": f"1.{code}.0"}))
        await client.health(soon())
        server.on(IMPROVE, fake.status(code, document))
        before = server.paths().count(IMPROVE)
        for _ in range(3):
            assert (await improve(client)).state is ImproveState.UNSUPPORTED
        assert server.paths().count(IMPROVE) == before + 1


@pytest.mark.parametrize(
    ("code", "document", "kind"),
    [
        (404, {"detail": "Dataset not found [DatasetNotFoundError]"}, K.NOT_FOUND),
        (422, {"detail": "no such session"}, K.REJECTED),
        (403, {"detail": "no [PermissionDeniedError]"}, K.FORBIDDEN),
        (409, {"error": "Failed to cognify", "improve_result": {}}, K.SERVER_ERROR),
        (503, {"detail": "busy"}, K.UNAVAILABLE),
        (429, {}, K.RATE_LIMITED),
    ],
)
async def test_w47_other_refusals_are_failures_each_time(server, client, code, document, kind):
    server.on(IMPROVE, fake.status(code, document))
    for _ in range(2):
        with pytest.raises(ServerFailure) as caught:
            await improve(client)
        assert caught.value.kind is kind
    assert server.paths() == [IMPROVE, IMPROVE]


async def test_a_spent_budget_is_an_answer(server, client):
    server.on(IMPROVE, fake.status(402, {"error": "LLM budget exhausted", "improve_result": {}}))
    done = await improve(client)
    assert done.state is ImproveState.BUDGET
    assert done.reason == "HTTP 402: LLM budget exhausted"


@pytest.mark.parametrize(
    "behaviour",
    [fake.half_a_body, fake.body(b"<html>", 200), fake.body(b"x" * 300_000)],
    ids=["torn", "page", "too long"],
)
async def test_hostile_answers_are_failures(server, client, behaviour):
    server.on(IMPROVE, behaviour)
    with pytest.raises(ServerFailure):
        await improve(client)


async def test_a_long_answer_is_read_where_the_work_was_waited_for(server, client):
    stage = {"stage": "persist_session_qa", "status": "completed", "run": "x" * 300_000}
    server.on(IMPROVE, fake.status(200, {"status": "completed", "stages": [stage]}))
    assert (await improve(client, background=False)).state is ImproveState.PROMOTED


async def test_a_stalled_server_is_given_up_in_time(server, client):
    server.on(IMPROVE, fake.stall)
    with pytest.raises(ServerFailure) as caught:
        await improve(client, deadline=soon(0.1))
    assert caught.value.kind is K.TIMED_OUT


async def test_the_log_of_runs_is_read_for_one_dataset(server, client):
    row = {"operation_name": "improve", "outcome": "succeeded", "session_id": "s1"}
    server.on(RUNS, fake.status(200, [row | {"created_at": "1970-01-01T00:00:07"}]))
    (run,) = await client.improve_runs(soon(), dataset_id=UUID)
    assert run.session_id == "s1"
    assert await client.newest_run(soon()) == 7.0


async def test_a_server_without_a_log_of_runs_says_so(server, client):
    with pytest.raises(ServerFailure) as caught:
        await client.improve_runs(soon())
    assert caught.value.kind is K.NOT_FOUND
    server.on(RUNS, fake.status(200, {"runs": []}))
    with pytest.raises(ServerFailure):
        await client.newest_run(soon())

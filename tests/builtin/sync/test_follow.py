from __future__ import annotations

import pytest

from builtin_plugins.sync.follow import follow_run, watermark
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.improve import RunOutcome
from tests.support.scripted import ScriptedClient, fails

K = FailureKind
NEWEST = "/api/v1/activity/pipeline-runs?limit=1"
RUNS = "/api/v1/activity/pipeline-runs?limit=100"
UUID = "42391ba7-2487-5312-8912-589684ac04d2"


@pytest.fixture
def client():
    return ScriptedClient()


def row(second, outcome="succeeded", session_id="s", name="improve"):
    return {
        "operation_name": name,
        "session_id": session_id,
        "outcome": outcome,
        "started_at": f"1970-01-01T00:00:{second:02}",
    }


async def ended(client, since=10.0, dataset_id="", seconds=30.0):
    return await follow_run(
        client,
        "s",
        dataset_id=dataset_id,
        since=since,
        deadline=Deadline.after(seconds),
        first_pause=0.0,
    )


async def test_the_watermark_is_the_newest_row(client):
    client.scripts[NEWEST] = lambda _: [{"created_at": "1970-01-01T00:00:07"}]
    assert await watermark(client, Deadline.after(5)) == 7.0


async def test_without_a_log_there_is_no_watermark(client):
    client.scripts[NEWEST] = fails(K.NOT_FOUND, status=404)
    assert await watermark(client, Deadline.after(5)) is None


@pytest.mark.parametrize("outcome", ["succeeded", "failed"])
async def test_the_first_run_of_the_session_after_the_watermark_is_ours(client, outcome):
    pages = [
        [],
        [row(9), row(10)],
        [row(11, session_id="t"), row(12, name="remember"), row(13, "noop")],
        [row(20, "noop"), row(14, outcome)],
    ]
    client.scripts[RUNS] = lambda _: pages.pop(0)
    run = await ended(client)
    assert (run.started_at, run.outcome) == (14.0, RunOutcome(outcome))
    assert pages == []


async def test_the_log_is_asked_for_the_dataset_where_it_is_known(client):
    path = f"{RUNS}&dataset_id={UUID}"
    client.scripts[path] = lambda _: [row(11)]
    assert await ended(client, dataset_id=UUID) is not None


async def test_a_failure_that_passes_is_waited_out(client):
    answers = [ServerFailure(K.TIMED_OUT), ServerFailure(K.UNAVAILABLE), [row(11)]]

    def answer(_):
        given = answers.pop(0)
        if isinstance(given, ServerFailure):
            raise given
        return given

    client.scripts[RUNS] = answer
    assert await ended(client) is not None


@pytest.mark.parametrize("kind", [K.AUTH, K.FORBIDDEN, K.NOT_FOUND, K.MISCONFIGURED, K.REJECTED])
async def test_a_log_that_is_not_shown_is_asked_for_once(client, kind):
    client.scripts[RUNS] = fails(kind)
    assert await ended(client) is None
    assert len(client.unsent) == 1


async def test_a_run_that_does_not_end_is_given_up(client):
    client.scripts[RUNS] = lambda _: []
    assert await ended(client, seconds=0.05) is None

"""What our client makes of a server's answers to improve."""

from __future__ import annotations

import asyncio
import uuid

import httpx
import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.answers import DatasetRef
from cognee_hooks.services.client import CogneeClient
from cognee_hooks.services.improve import ImproveState, RunOutcome
from tests.support.api import post_entry, question, trace
from tests.support.servers import Server

SECONDS = 60.0


def soon() -> Deadline:
    return Deadline.after(SECONDS)


def store(api: httpx.Client, session: str, dataset: str) -> None:
    post_entry(api, question(f"Where is {session}?", "In a drawer."), session, dataset)
    post_entry(api, trace(method_return_value=f"{session} started"), session, dataset)


async def test_entries_are_promoted_once_and_then_there_is_nothing_new(
    api: httpx.Client, client: CogneeClient, name: str
):
    store(api, name, name)
    dataset = DatasetRef(name=name)
    first = await client.improve([name], dataset=dataset, deadline=soon(), background=False)
    assert first.state is ImproveState.PROMOTED
    by_id = DatasetRef(id=first.dataset_id)
    again = await client.improve([name], dataset=by_id, deadline=soon(), background=False)
    assert again.state is ImproveState.NOTHING_NEW
    assert again.dataset_id == first.dataset_id
    assert again.reason == "no_new_entries"


async def test_an_unknown_session_looks_like_nothing_new(client: CogneeClient, name: str):
    dataset = DatasetRef(name=name)
    done = await client.improve([f"{name}_x"], dataset=dataset, deadline=soon(), background=False)
    assert done.state is ImproveState.NOTHING_NEW


async def test_without_sessions_it_is_skipped_and_says_why(client: CogneeClient, name: str):
    done = await client.improve(
        [], dataset=DatasetRef(name=name), deadline=soon(), background=False
    )
    assert (done.state, done.reason) == (ImproveState.SKIPPED, "no_session_ids")


async def test_an_unknown_dataset_id_is_a_failure_and_not_a_server_without_improve(
    client: CogneeClient, name: str
):
    for _ in range(2):
        with pytest.raises(ServerFailure) as caught:
            await client.improve([name], dataset=DatasetRef(id=str(uuid.uuid4())), deadline=soon())
        assert caught.value.kind is FailureKind.FORBIDDEN


async def test_a_background_run_is_found_in_the_log_of_runs_once_it_has_ended(
    api: httpx.Client, client: CogneeClient, name: str
):
    store(api, name, name)
    before = await client.newest_run(soon())
    done = await client.improve([name], dataset=DatasetRef(name=name), deadline=soon())
    assert done.state is ImproveState.SUBMITTED
    limit = soon()
    while not (runs := await client.improve_runs(soon(), dataset_id=done.dataset_id)):
        assert not limit.expired
        await asyncio.sleep(0.2)
    (run,) = runs
    assert (run.session_id, run.outcome, run.error) == (name, RunOutcome.SUCCEEDED, "")
    assert run.started_at > before
    dataset = DatasetRef(id=done.dataset_id)
    again = await client.improve([name], dataset=dataset, deadline=soon(), background=False)
    assert again.state is ImproveState.NOTHING_NEW


async def test_while_a_run_holds_the_lock_the_same_session_is_covered_and_another_is_not(
    api: httpx.Client, client: CogneeClient, server: Server, name: str
):
    dataset, other = DatasetRef(name=name), f"{name}_other"
    store(api, name, name)
    store(api, other, name)
    started = await client.improve([name], dataset=dataset, deadline=soon())
    same = await client.improve([name], dataset=dataset, deadline=soon(), background=False)
    stranger = await client.improve([other], dataset=dataset, deadline=soon(), background=False)
    assert started.state is ImproveState.SUBMITTED
    if server.can.holds_improves:
        assert (same.state, same.rerun_requested) == (ImproveState.BUSY, True)
        assert (stranger.state, stranger.rerun_requested) == (ImproveState.BUSY, False)
    else:
        assert same.state is ImproveState.NOTHING_NEW
        assert stranger.state is ImproveState.PROMOTED

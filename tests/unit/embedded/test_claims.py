from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import QueryParams

from cognee_hooks.embedded.call import RouteCall
from cognee_hooks.embedded.claims import Claims
from cognee_hooks.embedded.entries import parse
from cognee_hooks.embedded.memory import EmbeddedMemory
from cognee_hooks.embedded.routes import sessions as routes
from cognee_hooks.services.improve import ImproveState, RunOutcome, read_improve, read_runs

ENTRY = {"entry": {"type": "qa", "question": "Where is it?", "answer": "In november.sql."}}


@pytest.fixture
def memory(tmp_path: Path):
    opened = EmbeddedMemory(tmp_path / "memory.db", "pass" + "word")
    yield opened
    opened.close()


def store(memory: EmbeddedMemory, session: str) -> None:
    memory.sessions.store(session, None, "data", parse(ENTRY))


def improve(memory: EmbeddedMemory, session: str, **more: Any):
    body = {"dataset_name": "data", "session_ids": [session], **more}
    return routes.run_improve(memory, RouteCall({}, QueryParams(), body))


def dataset(memory: EmbeddedMemory) -> str:
    return memory.datasets.create("data").id


@pytest.mark.parametrize("background", [False, True])
def test_while_another_session_of_the_dataset_is_improved_nothing_is_done(memory, background):
    store(memory, "one")
    memory.claims.claim(dataset(memory), ["other"])
    result = read_improve(improve(memory, "one", run_in_background=background))
    assert (result.state, result.rerun_requested) == (ImproveState.BUSY, False)
    (run,) = read_runs(memory.runs.page(10, 0, None))
    assert run.outcome is RunOutcome.NOOP
    assert memory.claims.release(dataset(memory), ["other"])
    assert read_improve(improve(memory, "one")).state is ImproveState.PROMOTED


def test_a_session_that_is_held_itself_is_covered_by_its_holder(memory):
    memory.claims.claim(dataset(memory), ["one"])
    result = read_improve(improve(memory, "one"))
    assert (result.state, result.rerun_requested) == (ImproveState.BUSY, True)
    assert not memory.claims.release(dataset(memory), ["one"])  # one more pass first
    assert memory.claims.release(dataset(memory), ["one"])


@pytest.mark.parametrize("background", [False, True])
def test_one_more_pass_takes_up_what_has_come_meanwhile(memory, monkeypatch, background):
    store(memory, "one")
    first_pass = routes.improve

    def improving(*arguments, **options):
        done = first_pass(*arguments, **options)
        monkeypatch.setattr(routes, "improve", first_pass)
        store(memory, "one")
        assert read_improve(improve(memory, "one")).rerun_requested
        return done

    monkeypatch.setattr(routes, "improve", improving)
    answer = improve(memory, "one", run_in_background=background)
    assert len(answer["rerun_passes"]) == (0 if background else 1)
    assert read_improve(improve(memory, "one")).state is ImproveState.NOTHING_NEW


def test_a_run_that_fails_holds_nobody_up(memory, monkeypatch):
    def failing(*_, **__):
        raise OSError("full")

    store(memory, "one")
    with monkeypatch.context() as broken:
        broken.setattr(routes, "improve", failing)
        with pytest.raises(OSError, match="full"):
            improve(memory, "one")
    assert read_improve(improve(memory, "one")).state is ImproveState.PROMOTED


def test_claims_are_all_or_none():
    claims = Claims()
    assert claims.claim("data", ["a"])
    assert not claims.claim("other", ["b", "a"])
    assert claims.claim("other", ["b"])
    assert not claims.ask_again(["c"])
    assert claims.release("data", ["a"])
    assert claims.claim("third", ["a"])

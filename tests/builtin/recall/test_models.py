"""What the server says of its models' keys, in the words of cognee 1.6.0 and 1.6.5."""

from __future__ import annotations

import pytest

from builtin_plugins.recall.models import MAX_DETAIL, rows
from cognee_hooks.deadline import Deadline
from cognee_hooks.results import CheckResult, CheckStatus
from cognee_hooks.services.client import CogneeClient
from cognee_hooks.services.keys import Key
from cognee_hooks.services.keysource import FixedKey
from tests.support.fake_server import FakeServer, body, redirect, stall, status
from tests.support.waiting import PATIENCE

PATH = "/health/detailed"


def component(details: str, state: str = "degraded", **more: object) -> dict[str, object]:
    return {
        "status": state,
        "provider": "custom",
        "response_time_ms": 15,
        "details": details,
        **more,
    }


WELL = component("API responding", "healthy")


@pytest.fixture
async def server():
    async with FakeServer() as made:
        yield made


async def ask(server: FakeServer, document: object = None, code: int = 200) -> list[CheckResult]:
    if document is not None:
        server.on(PATH, status(code, document))
    client = CogneeClient(server.url, FixedKey(Key("secret-of-ours")))
    try:
        return await rows(client, Deadline.after(PATIENCE))
    finally:
        await client.aclose()


def health(llm: object, embedding: object = WELL) -> dict[str, object]:
    return {
        "status": "degraded",
        "components": {"llm_provider": llm, "embedding_service": embedding, "graph_db": WELL},
    }


async def test_models_that_answer_are_fine(server):
    model, embedding = await ask(server, health(WELL))
    assert (model.name, model.status) == ("model", CheckStatus.OK)
    assert (embedding.name, embedding.detail) == ("embedding model", "answers the server in 15 ms")


@pytest.mark.parametrize(
    "details",
    [
        "API check failed: Error code: 401 - {'error': {'message': 'Incorrect API key provided'}}",
        "API check failed: litellm.AuthenticationError: AuthenticationError: OpenAIException",
        "API check failed: LLM API key is not set.",
        "Embedding test failed: 403 Forbidden",
    ],
)
async def test_a_key_that_a_model_refuses_is_a_failure_that_names_the_variable(server, details):
    model, embedding = await ask(server, health(component(details), component(details)), 503)
    assert model.status is embedding.status is CheckStatus.FAILED
    assert "correct LLM_API_KEY" in model.remedy
    assert "correct EMBEDDING_API_KEY" in embedding.remedy


async def test_a_model_that_does_not_answer_says_nothing_about_its_key(server):
    details = "API check failed: LLM connection test timed out after 30s."
    model, _ = await ask(server, health(component(details)), 503)
    assert model.status is CheckStatus.WARNING
    assert "timed out after 30s" in model.detail
    assert "KEY" not in model.remedy


async def test_a_server_that_takes_its_time_is_no_verdict(server):
    server.on(PATH, stall)
    client = CogneeClient(server.url, FixedKey(Key("")))
    (row,) = await rows(client, Deadline.after(0.1))
    await client.aclose()
    assert row.status is CheckStatus.INFO
    assert "did not say in time" in row.detail


@pytest.mark.parametrize(
    "behaviour",
    [
        status(404),
        status(405),
        status(401, {"detail": "Unauthorized"}),
        status(200, ["components"]),
        status(200, {"components": "x"}),
        status(200, {"components": {"llm_provider": "fine"}}),
        body(b"<html>"),
        redirect("/elsewhere"),
    ],
    ids=["404", "405", "401", "list", "text", "part", "html", "redirect"],
)
async def test_a_server_that_does_not_tell_of_models_has_no_row(server, behaviour):
    server.on(PATH, behaviour)
    assert await ask(server) == []


async def test_without_a_server_there_is_no_row(server):
    client = CogneeClient("http://127.0.0.1:1", FixedKey(Key("")))
    assert await rows(client, Deadline.after(PATIENCE)) == []
    await client.aclose()


async def test_our_key_is_not_needed_and_not_sent(server):
    await ask(server, health(WELL))
    (request,) = server.requests
    assert "secret-of-ours" not in str(request.headers)


@pytest.mark.parametrize("details", ["\x1b[2J\nx", "x" * 10_000, 3, None, ["x"]])
async def test_what_the_server_says_is_one_short_line(server, details):
    model, _ = await ask(server, health(component(details, response_time_ms="soon")))
    assert "\x1b" not in model.detail
    assert "\n" not in model.detail
    assert len(model.detail) < MAX_DETAIL + 50

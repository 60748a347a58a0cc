"""What the client sends, and what it makes of good answers."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys

import httpx
import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services import client as module
from cognee_hooks.services.answers import Account, Dataset, DatasetRef, Health, StoredEntry
from cognee_hooks.services.client import CogneeClient
from cognee_hooks.services.keys import Key
from tests.support import fake_server as fake
from tests.support.redacted import redacted

K = FailureKind
UUID = "42391ba7-2487-5312-8912-589684ac04d2"
QA = {"type": "qa", "question": "q", "answer": "a", "context": ""}
OTHER = "d4" * 32
HERE = DatasetRef("agent_sessions")
THERE = DatasetRef("d")


def _soon(seconds=60.0):
    return Deadline.after(seconds)


async def _store(client, dataset=HERE, session_id="s1", entry=QA):
    return await client.store_entry(
        redacted(entry), session_id=session_id, dataset=dataset, deadline=_soon()
    )


async def _recall(client, dataset=THERE, **options):
    return await client.recall(
        redacted("where?"), dataset=dataset, deadline=options.pop("deadline", _soon()), **options
    )


# -- recall


async def test_a_recall_pins_everything_in_both_spellings(server, client):
    (item,) = await _recall(client)
    assert (item.source, item.text, item.dataset_name) == ("graph", "memory", "d")
    (request,) = server.requests
    assert request.json == {
        "query": "where?",
        "scope": ["graph"],
        "top_k": 5,
        "topK": 5,
        "only_context": True,
        "onlyContext": True,
        "search_type": "HYBRID_COMPLETION",
        "searchType": "HYBRID_COMPLETION",
        "datasets": ["d"],
    }
    assert request.headers["x-api-key"] == fake.KEY
    assert request.headers["content-type"] == "application/json"
    assert request.headers["accept"] == "application/json"
    assert "cookie" not in request.headers


@pytest.mark.parametrize(
    ("dataset", "field", "value"),
    [
        (DatasetRef("my notes.v2"), "datasets", ["my-notes-v2"]),
        (DatasetRef(), "datasets", ["agent_sessions"]),
        (DatasetRef("d", UUID.upper()), "dataset_ids", [UUID]),
        (DatasetRef(UUID.replace("-", "")), "datasetIds", [UUID]),
        (DatasetRef("d", "rubbish"), "datasets", ["d"]),
    ],
)
async def test_vector_102_a_recall_never_looks_everywhere(server, client, dataset, field, value):
    await _recall(client, dataset)
    body = server.requests[0].json
    assert body[field] == value
    assert ("datasets" in body) != ("dataset_ids" in body)


async def test_a_recall_takes_what_the_other_lanes_need(server, client):
    await _recall(
        client,
        scope="code",
        top_k=0,
        search_type="CODE",
        session_id="pi_a b",
        code_query=redacted({"operation": "explore", "name": "Pay"}),
    )
    body = server.requests[0].json
    assert body["scope"] == ["code"]
    assert body["top_k"] == body["topK"] == 1
    assert body["session_id"] == body["sessionId"] == "pi_a-b"
    assert body["code_query"] == body["codeQuery"] == {"operation": "explore", "name": "Pay"}


@pytest.mark.parametrize("name", ["NoDataError", "DatasetNotFoundError"])
async def test_an_empty_memory_is_told_from_a_wrong_address(server, client, name):
    server.on("/api/v1/recall", fake.status(404, {"detail": f"nothing [{name}]"}))
    with pytest.raises(ServerFailure) as caught:
        await _recall(client)
    assert caught.value.kind is K.NO_MEMORY
    assert caught.value.name == name


@pytest.mark.parametrize(
    ("code", "name", "kind"),
    [
        (422, "EmbeddingException", K.MODEL_DOWN),
        (409, "EmbeddingDimensionMismatchError", K.NEEDS_USER),
    ],
)
async def test_a_dead_model_and_a_changed_one_are_told_apart(server, client, code, name, kind):
    document = {"detail": f"text [{name}]", "remediation": "Set EMBEDDING_MODEL back."}
    server.on("/api/v1/recall", fake.status(code, document))
    with pytest.raises(ServerFailure, match="Set EMBEDDING_MODEL back") as caught:
        await _recall(client)
    assert caught.value.kind is kind


async def test_w24_odd_answers_of_a_recall(server, client):
    server.on("/api/v1/recall", fake.status(200, {"results": [None, {"text": "", "content": "c"}]}))
    (item,) = await _recall(client)
    assert item.body == "c"


async def test_surrogates_in_an_answer_do_not_get_further(server, client):
    raw = rb'[{"source": "graph", "text": "a\ud800b"}]'
    server.on("/api/v1/recall", fake.body(raw, kind="application/json"))
    (item,) = await _recall(client)
    assert item.text == "a\ufffdb"


# -- entries


async def test_an_entry_is_sent_in_snake_case_only(server, client):
    assert await _store(client) == StoredEntry("e1", "")
    assert server.requests[0].json == {
        "entry": QA,
        "dataset_name": "agent_sessions",
        "session_id": "s1",
    }


@pytest.mark.parametrize(
    ("dataset", "version", "expected"),
    [
        (DatasetRef("d e", UUID), "", {"dataset_name": "d-e"}),
        (DatasetRef("d", UUID), "1.6.0", {"dataset_name": "d"}),
        (DatasetRef("d", UUID), "1.6.5", {"dataset_id": UUID}),
        (DatasetRef("d", UUID), "1.10.0rc1", {"dataset_id": UUID}),
        (DatasetRef("", UUID), "1.6.0", {"dataset_id": UUID}),
        (DatasetRef(UUID), "", {"dataset_id": UUID}),
        (DatasetRef("d", UUID), "unknown", {"dataset_name": "d"}),
        (DatasetRef(), "", {"dataset_name": "agent_sessions"}),
    ],
)
async def test_an_entry_names_its_dataset_in_a_way_that_the_version_takes(
    server, client, dataset, version, expected
):
    server.on("/health", fake.status(200, {"status": "ready", "version": version}))
    await client.health(_soon())
    await _store(client, dataset)
    body = server.requests[-1].json
    assert {name: value for name, value in body.items() if "dataset" in name} == expected


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "trace", "origin_function": " "},
        QA | {"feedback_score": 9},
        {"type": "trace", "origin_function": "bash", "status": "fine"},
    ],
)
async def test_an_entry_that_would_be_refused_for_ever_is_not_sent(server, client, entry):
    with pytest.raises(ServerFailure) as caught:
        await _store(client, entry=entry)
    assert caught.value.kind is K.REJECTED
    assert not server.requests


async def test_an_entry_without_a_session_is_not_sent(server, client):
    with pytest.raises(ServerFailure, match="session"):
        await _store(client, session_id="")
    assert not server.requests


async def test_a_bad_entry_that_answers_503_is_not_tried_again(server, client):
    document = {"detail": "1 validation error for SessionQAEntry ... [CacheConnectionError]"}
    server.on("/api/v1/remember/entry", fake.status(503, document))
    with pytest.raises(ServerFailure) as caught:
        await _store(client)
    assert caught.value.kind is K.REJECTED
    assert not caught.value.retryable


async def test_w46_a_404_keeps_the_entry(server, client):
    server.on("/api/v1/remember/entry", fake.status(404, {"detail": "x [DatasetNotFoundError]"}))
    with pytest.raises(ServerFailure) as caught:
        await _store(client)
    assert caught.value.kind is K.NOT_FOUND
    assert caught.value.retryable


@pytest.mark.parametrize("document", [{}, [], {"status": "ok"}, "stored", None])
async def test_w46_a_good_status_alone_does_not_mean_stored(server, client, document):
    server.on("/api/v1/remember/entry", fake.status(200, document))
    with pytest.raises(ServerFailure) as caught:
        await _store(client)
    assert caught.value.kind is K.MISCONFIGURED


async def test_a_failure_inside_a_good_status_is_a_failure(server, client):
    document = {"status": "errored", "error": "unknown qa_id"}
    server.on("/api/v1/remember/entry", fake.status(200, document))
    with pytest.raises(ServerFailure, match="unknown qa_id") as caught:
        await _store(client, entry={"type": "feedback", "qa_id": "x"})
    assert caught.value.kind is K.REJECTED


async def test_what_redaction_has_not_seen_is_never_sent(server, client):
    class Pretender:
        value = "x"

    for query in ("text", Pretender(), None):
        with pytest.raises(TypeError, match="redacted"):
            await client.recall(query, dataset=DatasetRef("d"), deadline=_soon())
    with pytest.raises(TypeError, match="redacted"):
        await client.store_entry(
            dict(QA), session_id="s", dataset=DatasetRef("d"), deadline=_soon()
        )
    with pytest.raises(TypeError, match="redacted"):
        await _recall(client, code_query={"operation": "explore"})
    assert not server.requests


# -- other routes


async def test_health_needs_no_key_and_gives_version_and_readiness(server, client):
    assert await client.health(_soon()) == Health("1.6.5", ready=True)
    assert "x-api-key" not in server.requests[0].headers


async def test_a_server_that_says_it_is_not_ready_is_no_failure(server, client):
    document = {"status": "not ready", "health": "unhealthy", "version": "1.6.5"}
    server.on("/health", fake.status(503, document))
    assert await client.health(_soon()) == Health("1.6.5", ready=False)


async def test_w46_a_health_body_with_a_bad_status_is_a_failure(server, client):
    server.on("/health", fake.status(404, {"status": "ready", "health": "healthy"}))
    with pytest.raises(ServerFailure) as caught:
        await client.health(_soon())
    assert caught.value.kind is K.NOT_FOUND


async def test_a_session_is_read_with_its_totals(server, client):
    document = {"qas": [QA], "traces": [], "msg_count": 21, "tool_calls": 0, "dataset_id": UUID}
    server.on("/api/v1/sessions/s1", fake.status(200, document))
    found = await client.session("s1", _soon())
    assert (found.qas, found.msg_count, found.dataset_id, found.exists) == ((QA,), 21, UUID, True)


async def test_a_session_that_is_not_there_has_nothing(server, client):
    server.on("/api/v1/sessions/s1", fake.status(404, {"detail": "session not found"}))
    found = await client.session("s1", _soon())
    assert not found.exists
    assert not found.qas
    assert not (await client.session("../../etc/passwd?x=1", _soon())).exists
    assert server.paths()[-1] == "/api/v1/sessions/------etc-passwd-x-1"


async def test_a_server_that_shows_no_sessions_does_not_say_that_there_is_none(server, client):
    server.on("/api/v1/sessions/s1", fake.status(404, {"detail": "Not Found"}))
    with pytest.raises(ServerFailure) as caught:
        await client.session("s1", _soon())
    assert caught.value.kind is K.NOT_FOUND


async def test_datasets_are_listed_and_made_under_a_name_that_every_route_takes(server, client):
    server.on("/api/v1/datasets", fake.status(200, [{"id": "1", "name": "a", "ownerId": "o"}]))
    assert await client.datasets(_soon()) == [Dataset("1", "a", "o")]
    server.on("/api/v1/datasets", fake.status(200, {"id": "2", "name": "b-c"}))
    assert await client.ensure_dataset("b c", _soon()) == Dataset("2", "b-c", "")
    assert server.requests[-1].json == {"name": "b-c"}


async def test_who_the_key_belongs_to(client):
    assert await client.whoami(_soon()) == Account("u1", "u@example.com", "", "")


async def test_access_control_that_is_off_is_noticed(server, client):
    assert await client.single_user(_soon()) is False
    server.on("/api/v1/auth/me", fake.status(200, {"email": "default_user@example.com"}))
    assert await client.single_user(_soon()) is True
    assert all("x-api-key" not in request.headers for request in server.requests)
    server.on("/api/v1/auth/me", fake.status(500))
    with pytest.raises(ServerFailure):
        await client.single_user(_soon())


async def test_a_path_in_the_url_is_kept(server, client_of):
    server.on("/tenant/api/v1/users/me", fake.status(200, {"id": "u9"}))
    assert (await client_of(server.url + "/tenant/").whoami(_soon())).id == "u9"


# -- keys


async def test_without_any_key_one_is_made_on_the_way_and_no_login_is_kept(
    server, client_of, caplog
):
    caplog.set_level(logging.DEBUG)

    async def login(connection, request):
        cookie = {"Set-Cookie": "auth_token=abc; Path=/"}
        await connection.answer(200, {"access_token": "t" * 20}, headers=cookie)

    server.on("/api/v1/auth/login", login)
    client = client_of(server.url, None)
    await client.whoami(_soon())
    assert "httpcore" in {record.name.split(".")[0] for record in caplog.records}
    for secret in ("auth_token", "t" * 20, "default_password", fake.KEY):
        assert secret not in caplog.text
    assert server.paths() == ["/api/v1/auth/login", "/api/v1/auth/api-keys", "/api/v1/users/me"]
    assert server.requests[0].headers["content-type"] == "application/x-www-form-urlencoded"
    assert server.requests[0].body == (
        b"username=default_user%40example.com&password=default_password"
    )
    assert server.requests[-1].headers["x-api-key"] == fake.KEY
    assert "cookie" not in server.requests[-1].headers


async def test_w11_a_stale_cached_key_is_replaced_within_the_call(server, client_of, tmp_path):
    from cognee_hooks.services.statefile import read_object, write_json

    cache = tmp_path / "shared" / "api_key.json"
    write_json(cache, {"base_url": server.url, "api_key": OTHER})

    async def picky(connection, request):
        good = request.headers["x-api-key"] == fake.KEY
        await connection.answer(200 if good else 401, {"id": "u1"})

    server.on("/api/v1/users/me", picky)
    assert (await client_of(server.url, None).whoami(_soon())).id == "u1"
    assert read_object(cache)["api_key"] == fake.KEY
    assert server.paths().count("/api/v1/users/me") == 2


async def test_w11_a_server_that_refuses_every_key_is_not_asked_in_a_loop(server, client_of):
    server.on("/api/v1/users/me", fake.status(401, {"detail": "Unauthorized"}))
    client = client_of(server.url, None)
    for _ in range(5):
        with pytest.raises(ServerFailure) as caught:
            await client.whoami(_soon())
        assert caught.value.kind is K.AUTH
    assert server.paths().count("/api/v1/auth/login") == 1


async def test_w12_after_a_failed_mint_a_good_probe_allows_another(server, client_of):
    """W13 of the control plane: a key that could not be made once is made later."""
    server.on("/api/v1/auth/login", fake.status(500))
    server.on("/api/v1/users/me", fake.status(401))
    client = client_of(server.url, None)
    with pytest.raises(ServerFailure):
        await client.whoami(_soon())
    server.on("/api/v1/auth/login", fake.status(200, {"access_token": "t" * 20}))
    server.on("/api/v1/users/me", fake.status(200, {"id": "u1"}))
    await client.health(_soon())
    await client.whoami(_soon())
    assert server.requests[-1].headers["x-api-key"] == fake.KEY


async def test_a_key_that_cannot_be_sent_is_explained_and_not_shown(server, client_of):
    client = client_of(server.url, Key("pasted\nkey", "shell env"))
    with pytest.raises(ServerFailure, match="shell env") as caught:
        await client.whoami(_soon())
    assert caught.value.kind is K.AUTH
    assert "pasted" not in str(caught.value)
    assert not server.requests


async def test_another_source_of_keys_can_take_over(server, client):
    class Plugin:
        async def key(self, deadline):
            return Key(OTHER, "plugin")

        async def rejected(self, key):
            raise AssertionError

    client.use_credentials(Plugin())
    await client.whoami(_soon())
    assert server.requests[-1].headers["x-api-key"] == OTHER


# -- connections


async def test_reads_share_a_connection_and_each_write_has_its_own(server, client):
    await client.whoami(_soon())
    await client.datasets(_soon())
    assert server.connections == 1
    await _store(client)
    await _store(client)
    await client.whoami(_soon())
    assert server.connections == 3
    assert [request.connection for request in server.requests] == [1, 1, 2, 3, 1]


async def test_a_kept_connection_that_the_server_closed_is_no_failure(server, client):
    async def once(connection, request):
        await connection.answer(200, {"id": "u1"})
        connection.close()

    server.on("/api/v1/users/me", once)
    for _ in range(10):
        await client.whoami(_soon())


async def test_a_kept_connection_that_breaks_under_a_read_is_replaced_once(server, client):
    async def second_time_reset(connection, request):
        if sum(each.connection == request.connection for each in server.requests) > 1:
            connection.reset()
        else:
            await connection.answer(200, {"id": "u1"})

    server.on("/api/v1/users/me", second_time_reset)
    await client.whoami(_soon())
    await client.whoami(_soon())
    assert [request.connection for request in server.requests] == [1, 1, 2]


async def test_a_write_is_never_sent_twice(server, client):
    await client.whoami(_soon())
    server.on("/api/v1/remember/entry", fake.close_at_once)
    with pytest.raises(ServerFailure) as caught:
        await _store(client)
    assert caught.value.ambiguous
    assert server.paths().count("/api/v1/remember/entry") == 1


async def test_an_idle_connection_is_given_up_before_the_server_does(server, client, monkeypatch):
    monkeypatch.setattr(module, "KEEP_ALIVE_SECONDS", 0.05)
    await client.whoami(_soon())
    await asyncio.sleep(0.1)
    await client.whoami(_soon())
    assert server.connections == 2
    assert module.KEEP_ALIVE_SECONDS < 4


async def test_a_closed_client_opens_new_connections(server, client):
    await client.aclose()
    await client.whoami(_soon())
    await client.aclose()
    await client.whoami(_soon())
    assert server.connections == 2


async def test_a_transport_can_take_the_place_of_the_network(client_of):
    seen = []

    def answer(request):
        seen.append(request)
        return httpx.Response(200, json={"id": "u1"})

    client = client_of("http://nowhere.invalid", transport=httpx.MockTransport(answer))
    assert (await client.whoami(_soon())).id == "u1"
    assert seen[0].headers["x-api-key"] == fake.KEY


async def test_many_calls_at_the_same_time(server, client):
    found = await asyncio.gather(*(client.whoami(_soon()) for _ in range(60)))
    assert {account.id for account in found} == {"u1"}
    assert server.connections <= 20


async def test_nothing_of_a_payload_is_logged(server, client, caplog):
    caplog.set_level(logging.DEBUG, logger="cognee_hooks")
    await _store(client, entry=QA | {"question": "very private"})
    await _recall(client)
    assert "POST /api/v1/recall: 200" in caplog.text
    assert "private" not in caplog.text
    assert "where?" not in caplog.text
    assert fake.KEY not in caplog.text


def test_making_a_client_loads_no_http_library():
    code = (
        "import sys; from cognee_hooks.services.client import CogneeClient; "
        "from cognee_hooks.services.keys import Key, KeyChain; from pathlib import Path; "
        "CogneeClient('http://localhost:1', KeyChain('http://localhost:1', None, "
        "cache_path=Path('x'), email='e', password='p', agent='a')); "
        "print('httpx' in sys.modules)"
    )
    environ = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ
    )
    assert done.stdout.strip() == "False"


async def test_certificates_are_loaded_for_https_only(client_of, monkeypatch):
    loaded = []
    real = module._tls
    monkeypatch.setattr(module, "_tls", lambda: loaded.append(1) or real())
    with pytest.raises(ServerFailure):
        await client_of("http://127.0.0.1:9").health(_soon(0.5))
    assert not loaded
    with pytest.raises(ServerFailure):
        await client_of("https://127.0.0.1:9").health(_soon(2))
    assert loaded


def test_a_url_loses_its_last_slash(chain):
    client = CogneeClient("http://localhost:1/", chain("http://localhost:1"))
    assert client.base_url == "http://localhost:1"

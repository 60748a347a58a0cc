"""What indexing sends, and what it makes of a server that misbehaves."""

from __future__ import annotations

from email import message_from_bytes

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.code import Submission
from tests.support import fake_server as fake
from tests.support.redacted import redacted

K = FailureKind
REMEMBER = "/api/v1/remember"
UUID = "42391ba7-2487-5312-8912-589684ac04d2"
TAKEN_ON = {"status": "running", "dataset_id": UUID, "pipeline_run_id": None}


def soon(seconds=5.0):
    return Deadline.after(seconds)


async def index(client, spec="/srv/shop", dataset="codebase-shop-1", **options):
    return await client.code.index(redacted(spec), dataset=dataset, deadline=soon(), **options)


def form(request):
    """The fields of a multipart body, as another parser reads them."""
    head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
    parts = message_from_bytes(head + request.body).get_payload()
    return [
        (
            part.get_param("name", header="content-disposition"),
            part.get_payload(decode=True).decode(),
        )
        for part in parts
    ]


async def test_a_repository_is_submitted_as_the_form_that_the_server_takes(server, client):
    server.on(REMEMBER, fake.status(200, TAKEN_ON))
    assert await index(client, "/srv/日本語 repo") == Submission("running", UUID, "")
    (request,) = server.requests
    assert request.method == "POST"
    assert request.headers["x-api-key"] == fake.KEY
    assert form(request) == [
        ("datasetName", "codebase-shop-1"),
        ("content_type", "code"),
        ("raw_data", "/srv/日本語 repo"),
        ("run_in_background", "true"),
        ("index_vectors", "false"),
    ]


async def test_vectors_are_asked_for_in_words(server, client):
    server.on(REMEMBER, fake.status(200, TAKEN_ON))
    await index(client, vectors=True)
    assert dict(form(server.requests[0]))["index_vectors"] == "true"


async def test_a_value_cannot_end_its_part_and_begin_another(server, client):
    server.on(REMEMBER, fake.status(200, TAKEN_ON))
    hostile = '/srv/x\r\n--boundary\r\nContent-Disposition: form-data; name="datasetId"\r\n\r\nz'
    await index(client, hostile)
    fields = form(server.requests[0])
    assert len(fields) == 5
    assert dict(fields)["raw_data"] == hostile


async def test_an_unredacted_repository_is_not_sent(server, client):
    with pytest.raises(TypeError):
        await client.code.index("/srv/shop", dataset="d", deadline=soon())
    assert server.requests == []


@pytest.mark.parametrize(
    ("code", "document", "kind", "detail"),
    [
        (200, {"status": "running", "error": "no such thing"}, K.SERVER_ERROR, "no such thing"),
        (200, {"status": "errored"}, K.SERVER_ERROR, "errored"),
        (200, {}, K.MISCONFIGURED, "taken on"),
        (200, [], K.MISCONFIGURED, "taken on"),
        (400, {"detail": "unsupported content_type: code"}, K.REJECTED, "content_type"),
        (401, {"detail": "Unauthorized"}, K.AUTH, "Unauthorized"),
        (403, {"detail": "no [PermissionDeniedError]"}, K.FORBIDDEN, "no"),
        (409, {"status": "errored", "error": "not a directory"}, K.SERVER_ERROR, "directory"),
        (500, {"detail": "bad [CodeRepositoryError]"}, K.SERVER_ERROR, "bad"),
    ],
)
async def test_a_submission_that_failed_is_none(server, client, code, document, kind, detail):
    server.on(REMEMBER, fake.status(code, document))
    with pytest.raises(ServerFailure, match=detail) as caught:
        await index(client)
    assert caught.value.kind is kind


async def test_a_page_in_the_place_of_an_answer_is_a_stranger(server, client):
    async def page(connection, _):
        await connection.answer(200, body=b"<html>", headers={"Content-Type": "text/html"})

    server.on(REMEMBER, page)
    with pytest.raises(ServerFailure) as caught:
        await index(client)
    assert caught.value.kind is K.MISCONFIGURED

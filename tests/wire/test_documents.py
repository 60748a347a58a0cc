"""What the document routes send, and what they make of a server that misbehaves."""

from __future__ import annotations

from email.parser import BytesParser
from email.policy import HTTP

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.answers import DatasetRef
from cognee_hooks.services.documents import Updated
from tests.support import fake_server as fake
from tests.support.redacted import redacted

K = FailureKind
REMEMBER = "/api/v1/remember"
UPDATE = "/api/v1/update"
FORGET = "/api/v1/forget"
DATASET = "42391ba7-2487-5312-8912-589684ac04d2"
DATA = "0f8fad5b-d9cb-469f-a165-70867728950e"
LISTED = f"/api/v1/datasets/{DATASET}/data"
RUNNING = {"status": "running", "dataset_id": DATASET, "pipeline_run_id": None}


def soon(seconds=5.0):
    return Deadline.after(seconds)


def parts_of(request):
    """Fields and files of a multipart request, read by a parser that is not ours."""
    head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
    message = BytesParser(policy=HTTP).parsebytes(head + request.body)
    return [
        (
            part.get_param("name", header="content-disposition"),
            part.get_filename(),
            part.get_content_type() if part.get_filename() else "",
            part.get_payload(decode=True),
        )
        for part in message.iter_parts()
    ]


async def remember(client, dataset=DatasetRef("here"), text="Tabs, not spaces.", **options):  # noqa: B008
    return await client.documents.remember(
        redacted(text),
        file_name=options.pop("file_name", redacted("memory.txt")),
        dataset=dataset,
        deadline=soon(),
        **options,
    )


async def update(client, data_id=DATA, dataset_id=DATASET):
    return await client.documents.update(
        redacted("# New\r\n\r\n--x"),
        file_name=redacted("docs/notes.md"),
        data_id=data_id,
        dataset_id=dataset_id,
        deadline=soon(),
    )


async def test_text_is_uploaded_as_a_file_and_never_as_raw_data(server, client):
    server.on(REMEMBER, fake.status(200, RUNNING))
    done = await remember(client, node_set="user_context")
    assert (done.status, done.dataset_id) == ("running", DATASET)
    assert parts_of(server.requests[0]) == [
        ("node_set", None, "", b"user_context"),
        ("run_in_background", None, "", b"true"),
        ("datasetName", None, "", b"here"),
        ("data", "memory.txt", "text/plain", b"Tabs, not spaces."),
    ]


@pytest.mark.parametrize("dataset", [DatasetRef(id=DATASET), DatasetRef(DATASET.upper())])
async def test_a_uuid_is_sent_as_an_id(server, client, dataset):
    server.on(REMEMBER, fake.status(200, RUNNING))
    await remember(client, dataset, background=False)
    sent = {name: content for name, _, _, content in parts_of(server.requests[0])}
    assert sent["datasetId"] == DATASET.encode()
    assert "datasetName" not in sent
    assert sent["run_in_background"] == b"false"


async def test_a_hostile_file_name_cannot_end_its_header(server, client):
    server.on(REMEMBER, fake.status(200, RUNNING))
    await remember(client, file_name=redacted('a"\r\nX-Evil: 1\r\n\r\n.md'))
    names = [name for _, name, _, _ in parts_of(server.requests[0]) if name]
    assert names == ["a___X-Evil: 1____.md"]


async def test_content_goes_byte_by_byte(server, client):
    server.on(REMEMBER, fake.status(200, RUNNING))
    text = "--boundary\r\nContent-Disposition: form-data\r\n\r\nÜ\n"
    await remember(client, text=text)
    assert parts_of(server.requests[0])[-1][3] == text.encode()


async def test_what_redaction_has_not_seen_is_not_sent(server, client):
    with pytest.raises(TypeError):
        await client.documents.remember(
            "raw", file_name=redacted("a.txt"), dataset=DatasetRef("here"), deadline=soon()
        )
    with pytest.raises(TypeError):
        await remember(client, file_name="raw.txt")
    assert server.requests == []


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ({"status": "running", "error": "no room"}, K.SERVER_ERROR),
        ({"status": "errored"}, K.SERVER_ERROR),
        ([], K.MISCONFIGURED),
    ],
)
async def test_a_good_status_with_an_error_inside_is_a_failure(server, client, answer, kind):
    server.on(REMEMBER, fake.status(200, answer))
    with pytest.raises(ServerFailure) as caught:
        await remember(client)
    assert caught.value.kind is kind


# -- lists


def row(number, **fields):
    identifier = f"{number:08x}-0000-4000-8000-000000000000"
    return {"id": identifier, "name": f"n{number}", "createdAt": "2026-01-01T00:00:00", **fields}


async def test_documents_are_read_page_after_page(server, client):
    pages = [[row(number) for number in range(1000)], [row(2000)]]

    async def page(connection, request):
        await connection.answer(200, pages.pop(0))

    server.on(LISTED, page)
    assert len(await client.documents.documents(DATASET, soon())) == 1001
    assert pages == []


async def test_an_older_server_that_knows_no_pages_is_asked_at_most_twice(server, client):
    everything = [row(number) for number in range(1000)]
    server.on(LISTED, fake.status(200, everything))
    assert len(await client.documents.documents(DATASET, soon())) == 1000
    assert len(server.requests) == 2


async def test_hostile_rows_are_left_out_or_read_as_far_as_they_go(server, client):
    rows = [
        None,
        {"id": "../../x", "name": "bad"},
        row(1, name=7, externalMetadata="x"),
        row(2, externalMetadata={"_cognee": {"source_uri": "file:///tmp/My%20notes.md"}}),
        row(3, createdAt=None, created_at="nonsense", name="x" * 9000),
    ]
    server.on(LISTED, fake.status(200, rows))
    found = await client.documents.documents(DATASET, soon())
    assert [each.file_name for each in found] == ["", "My notes.md", ""]
    assert found[2].created_at == 0.0
    assert len(found[2].name) == 255


async def test_w6b_raw_content_is_the_bytes_that_came(server, client):
    body = b'{ "a" :1}\n'
    server.on(f"{LISTED}/{DATA}/raw", fake.body(body, kind="text/plain"))
    assert await client.documents.content(DATASET, DATA, soon()) == body


# -- updates


async def test_an_update_sends_one_file_and_nothing_else(server, client):
    answer = {"status": "incremental", "added_chunks": 3, "deleted_chunks": 1, "kept_chunks": 12}
    server.on(UPDATE, fake.status(200, answer | {"reused_chunks": 0, "fallback": None}))
    done = await update(client)
    assert done == Updated("incremental", added=3, deleted=1, kept=12, reused=0)
    (request,) = server.requests
    assert request.method == "PATCH"
    assert parts_of(request) == [("data", "notes.md", "text/plain", b"# New\r\n\r\n--x")]


async def test_vector_90_a_rebuild_says_why(server, client):
    answer = {"status": "full_rebuild", "fallback": {"reason": "no_baseline"}}
    server.on(UPDATE, fake.status(200, answer))
    assert await update(client) == Updated("full_rebuild", fallback="no_baseline")


@pytest.mark.parametrize(("data_id", "dataset_id"), [("x", DATASET), (DATA, ""), ("a/b", DATASET)])
async def test_vector_91_ids_that_are_none_never_leave(server, client, data_id, dataset_id):
    with pytest.raises(ServerFailure) as caught:
        await update(client, data_id, dataset_id)
    assert (caught.value.kind, caught.value.sent) == (K.REJECTED, False)
    assert server.requests == []


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, {"status": "failed", "error": {"message": "no model"}}, K.SERVER_ERROR),
        (500, {"status": "failed", "error": {"message": "no model"}}, K.SERVER_ERROR),
        (404, {"detail": "No document. [UpdateTargetNotFoundError]"}, K.NOT_FOUND),
        (200, {"what": "else"}, K.MISCONFIGURED),
    ],
)
async def test_vector_88_a_failed_update_says_how(server, client, status, body, kind):
    server.on(UPDATE, fake.status(status, body))
    with pytest.raises(ServerFailure) as caught:
        await update(client)
    assert caught.value.kind is kind
    if kind is K.SERVER_ERROR:
        assert "no model" in caught.value.detail


# -- forgetting and status


async def test_w11_forgetting_is_by_id_only_and_never_everything(server, client):
    server.on(FORGET, fake.status(200, {"status": "success"}))
    await client.documents.forget(DATASET, soon())
    await client.documents.forget(DATASET.upper(), soon(), data_id=DATA)
    dataset, document = (request.json for request in server.requests)
    assert dataset == {"dataset_id": DATASET, "datasetId": DATASET}
    assert document == dataset | {"data_id": DATA, "dataId": DATA}
    for bad in ("", "name", "everything"):
        with pytest.raises(ServerFailure):
            await client.documents.forget(bad, soon())
    with pytest.raises(ServerFailure):
        await client.documents.forget(DATASET, soon(), data_id="all")
    assert len(server.requests) == 2


async def test_an_answer_of_another_kind_is_a_strangers(server, client):
    server.on(FORGET, fake.status(200, ["odd"]))
    with pytest.raises(ServerFailure) as caught:
        await client.documents.forget(DATASET, soon())
    assert caught.value.kind is K.MISCONFIGURED


async def test_nothing_of_this_is_sent_twice_when_the_connection_breaks(server, client):
    server.always(fake.reset)
    for asked in (remember(client), update(client), client.documents.forget(DATASET, soon())):
        server.requests.clear()
        with pytest.raises(ServerFailure) as caught:
            await asked
        assert caught.value.ambiguous
        assert len(server.requests) == 1

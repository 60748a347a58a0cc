"""What our client makes of a server's answers about documents."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.answers import DatasetRef
from cognee_hooks.services.client import CogneeClient
from cognee_hooks.services.documents import DocumentRoutes
from cognee_hooks.services.pipelines import COGNIFY_PIPELINE, PipelineRoutes
from tests.support.redacted import redacted

NOTES = "Ünï notes (1).v2.md"


@pytest.fixture
def routes(client: CogneeClient) -> DocumentRoutes:
    return client.documents


@pytest.fixture
def pipelines(client: CogneeClient) -> PipelineRoutes:
    return client.pipelines


def soon() -> Deadline:
    return Deadline.after(60.0)


async def remember(
    routes: DocumentRoutes, dataset: DatasetRef, name: str, text: str, *, background: bool = False
) -> str:
    done = await routes.remember(
        redacted(text),
        file_name=redacted(name),
        dataset=dataset,
        deadline=soon(),
        node_set="project_docs",
        background=background,
    )
    assert done.status == ("running" if background else "completed")
    return done.dataset_id


async def test_a_file_through_its_life(routes: DocumentRoutes, name: str):
    """One dataset for all of it: building one takes a real server seconds."""
    dataset = await remember(routes, DatasetRef(name), NOTES, "OscarService uses the PapaStore.")
    assert await remember(routes, DatasetRef(id=dataset), 'a "%41" b.json', '{"x": 1}') == dataset
    found = {each.file_name: each for each in await routes.documents(dataset, soon())}
    assert set(found) == {NOTES, "a __41_ b.json"}
    assert found[NOTES].is_called(NOTES)
    assert found["a __41_ b.json"].is_called('a "%41" b.json')
    assert found[NOTES].created_at > 1e9

    document = found[NOTES].id
    raw = await routes.content(dataset, found["a __41_ b.json"].id, soon())
    assert raw == b'{"x": 1}'
    same = await update(routes, dataset, document, "OscarService uses the PapaStore.")
    assert same.status == "unchanged"
    changed = await update(routes, dataset, document, "OscarService uses the QuebecStore.")
    assert (changed.status, changed.added, changed.deleted) == ("incremental", 1, 1)
    assert await routes.content(dataset, document, soon()) == b"OscarService uses the QuebecStore."

    await routes.forget(dataset, soon(), data_id=document)
    assert [each.file_name for each in await routes.documents(dataset, soon())] == [
        "a __41_ b.json"
    ]
    with pytest.raises(ServerFailure) as caught:
        await update(routes, dataset, document, "gone")
    assert caught.value.kind is FailureKind.NOT_FOUND
    await routes.forget(dataset, soon())
    with pytest.raises(ServerFailure) as caught:
        await routes.documents(dataset, soon())
    assert caught.value.kind is FailureKind.FORBIDDEN


async def update(routes: DocumentRoutes, dataset: str, document: str, text: str):
    return await routes.update(
        redacted(text),
        file_name=redacted(NOTES),
        data_id=document,
        dataset_id=dataset,
        deadline=soon(),
    )


async def test_w6_the_same_name_with_other_content_is_a_second_document(
    routes: DocumentRoutes, name: str
):
    dataset = await remember(routes, DatasetRef(name), NOTES, "OscarService uses the PapaStore.")
    await remember(routes, DatasetRef(name), NOTES, "OscarService uses the QuebecStore.")
    again = await remember(routes, DatasetRef(name), "x.md", "OscarService uses the PapaStore.")
    assert again == dataset
    rows = await routes.documents(dataset, soon())
    assert [each.file_name for each in rows] == [NOTES, NOTES]
    assert len({each.created_at for each in rows}) == 2


async def test_w7_the_status_of_an_earlier_run_is_there_while_a_new_one_has_not_begun(
    routes: DocumentRoutes, pipelines: PipelineRoutes, name: str
):
    dataset = await remember(routes, DatasetRef(name), NOTES, "OscarService uses the PapaStore.")
    before = await pipelines.status(dataset, COGNIFY_PIPELINE, soon())
    assert before == "DATASET_PROCESSING_COMPLETED"
    await remember(routes, DatasetRef(name), "more.md", "RomeoService is newer.", background=True)
    limit = soon()
    while "more.md" not in {each.file_name for each in await routes.documents(dataset, soon())}:
        assert not limit.expired
        await asyncio.sleep(0.2)
    while await pipelines.status(dataset, COGNIFY_PIPELINE, soon()) != before:
        assert not limit.expired
        await asyncio.sleep(0.2)
    assert await pipelines.status(dataset, "no_such", soon()) == ""


async def test_an_unknown_dataset_id_is_forbidden(
    routes: DocumentRoutes, pipelines: PipelineRoutes
):
    unknown = str(uuid.uuid4())
    for asked in (
        remember(routes, DatasetRef(id=unknown), NOTES, "x"),
        routes.documents(unknown, soon()),
        pipelines.status(unknown, COGNIFY_PIPELINE, soon()),
        routes.forget(unknown, soon()),
    ):
        with pytest.raises(ServerFailure) as caught:
            await asked
        assert caught.value.kind is FailureKind.FORBIDDEN

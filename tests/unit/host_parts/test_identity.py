"""With which key we speak: plugins first, then the core's own keys."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from cognee_hooks import hookspecs
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.host_parts.identity import Credentials
from cognee_hooks.results import Identity
from cognee_hooks.services.keys import Key
from tests.support.plugins import HANG, dispatcher_of, plugin
from tests.support.waiting import PATIENCE

URL = "http://localhost:8011"
OWN = Key("own", "settings")


class Chain:
    """The core's keys."""

    def __init__(self) -> None:
        self.refused: list[Key] = []

    async def key(self, deadline: Deadline) -> Key:
        return OWN

    async def rejected(self, key: Key) -> None:
        self.refused.append(key)


def credentials(**plugins: object) -> tuple[Credentials, Chain]:
    specs = SimpleNamespace(cognee_resolve_identity=hookspecs.cognee_resolve_identity)
    dispatcher, _ = dispatcher_of(specs, plugins)
    chain = Chain()
    return Credentials(dispatcher, chain, URL), chain


def resolves(answers: list[Any], asked: list[str]) -> object:
    """A plugin that answers once each, then nothing."""

    async def answer(url: str) -> Any:
        asked.append(url)
        await asyncio.sleep(0)
        found = answers.pop(0) if answers else None
        if isinstance(found, Exception):
            raise found
        return found

    return plugin(cognee_resolve_identity=answer)


async def test_without_an_answer_the_cores_key_counts():
    asked: list[str] = []
    keys, _ = credentials(a=resolves([], asked))
    assert await keys.key(Deadline.after(PATIENCE)) == OWN
    assert await keys.key(Deadline.after(PATIENCE)) == OWN
    assert asked == [URL]


async def test_a_plugin_is_asked_once_however_many_need_the_key():
    asked: list[str] = []
    keys, _ = credentials(a=resolves([Identity(api_key="k", source="vault")], asked))
    found = await asyncio.gather(*(keys.key(Deadline.after(PATIENCE)) for _ in range(5)))
    assert found == [Key("k", "vault")] * 5
    assert asked == [URL]


async def test_a_key_that_was_refused_is_asked_for_anew():
    asked: list[str] = []
    answers = [Identity(api_key=each, source="vault") for each in ("old", "new")]
    keys, chain = credentials(a=resolves(answers, asked))
    old = await keys.key(Deadline.after(PATIENCE))
    await keys.rejected(old)
    assert await keys.key(Deadline.after(PATIENCE)) == Key("new", "vault")
    await keys.rejected(old)
    assert chain.refused == [old]
    assert len(asked) == 2


async def test_the_cores_key_that_was_refused_is_the_cores_matter():
    keys, chain = credentials()
    await keys.rejected(await keys.key(Deadline.after(PATIENCE)))
    assert chain.refused == [OWN]


@pytest.mark.expects_faults
async def test_a_plugin_that_failed_once_is_asked_again():
    asked: list[str] = []
    answers = [ValueError(), Identity(api_key="k", source="vault")]
    keys, _ = credentials(a=resolves(answers, asked))
    assert await keys.key(Deadline.after(PATIENCE)) == OWN
    assert await keys.key(Deadline.after(PATIENCE)) == Key("k", "vault")


@pytest.mark.expects_faults
async def test_a_plugin_that_hangs_leaves_time_for_the_request():
    async def hangs() -> None:
        await asyncio.sleep(HANG)

    keys, _ = credentials(a=plugin(cognee_resolve_identity=hangs))
    deadline = Deadline.after(2.0)
    assert await keys.key(deadline) == OWN
    assert deadline.remaining() > 0.05


# -- names of datasets


UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"


class Datasets:
    """Leads every name to one dataset, or fails as a test says."""

    def __init__(self, answer: Any = UUID) -> None:
        self.known = {"notes": UUID}
        self.shared = (UUID,)
        self.answer = answer
        self.asked: list[tuple[str, bool]] = []

    async def lead(self, name: str, deadline: Deadline, *, write: bool) -> Any:
        self.asked.append((name, write))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def shared(answer: Any = UUID) -> tuple[Credentials, Datasets]:
    datasets = Datasets(answer)
    identity = Identity(api_key="k", source="vault", datasets=datasets)
    return credentials(a=resolves([identity], []))[0], datasets


async def test_a_name_leads_where_the_plugin_that_chose_the_account_says():
    keys, datasets = shared()
    assert await keys.address("notes", Deadline.after(PATIENCE), write=True) == UUID
    assert datasets.asked == [("notes", True)]
    assert keys.shared_names == {"notes": UUID}
    assert keys.shared_ids == (UUID,)


async def test_without_sharing_a_name_leads_to_itself():
    keys, _ = credentials(a=resolves([Identity(api_key="k", source="vault")], []))
    assert await keys.address("notes", Deadline.after(PATIENCE), write=True) == ""
    assert keys.shared_names == {}
    assert keys.shared_ids == ()


async def test_a_dataset_that_is_only_read_need_not_be_there():
    keys, _ = shared("")
    assert await keys.address("notes", Deadline.after(PATIENCE), write=False) == ""


@pytest.mark.parametrize("answer", ["", "no uuid", 7, ValueError("secret")])
async def test_w5_nothing_is_written_by_name_where_the_plugin_does_not_know(answer):
    keys, _ = shared(answer)
    with pytest.raises(ServerFailure) as failed:
        await keys.address("notes", Deadline.after(PATIENCE), write=True)
    assert failed.value.kind is FailureKind.UNAVAILABLE
    assert not failed.value.sent
    assert "secret" not in str(failed.value)


async def test_a_failure_of_the_server_is_passed_on():
    keys, _ = shared(ServerFailure(FailureKind.TIMED_OUT))
    with pytest.raises(ServerFailure, match="timed_out"):
        await keys.address("notes", Deadline.after(PATIENCE), write=False)


async def test_a_plugin_that_has_another_answer_is_asked_anew():
    asked: list[str] = []
    answers = [None, Identity(api_key="k", source="vault")]
    keys, _ = credentials(a=resolves(answers, asked))
    assert await keys.key(Deadline.after(PATIENCE)) == OWN
    keys.reconsider()
    assert await keys.key(Deadline.after(PATIENCE)) == Key("k", "vault")
    assert len(asked) == 2


async def test_a_plugin_that_does_not_come_back_ends_with_the_request():
    class Hangs(Datasets):
        async def lead(self, name: str, deadline: Deadline, *, write: bool) -> Any:
            await asyncio.sleep(HANG)

    identity = Identity(api_key="k", source="vault", datasets=Hangs())
    keys, _ = credentials(a=resolves([identity], []))
    with pytest.raises(ServerFailure, match="unavailable"):
        await keys.address("notes", Deadline.after(0.2), write=False)


async def test_a_plugin_whose_object_breaks_breaks_nothing_else():
    class Broken:
        @property
        def known(self) -> Any:
            raise ValueError

        shared = property(lambda self: 7)

        def lead(self, name: str, deadline: Deadline, *, write: bool) -> Any:
            raise SystemExit

    keys, _ = shared()
    await keys.key(Deadline.after(PATIENCE))
    keys._datasets = Broken()
    assert keys.shared_names == {}
    assert keys.shared_ids == ()
    with pytest.raises(ServerFailure, match="SystemExit"):
        await keys.address("notes", Deadline.after(PATIENCE), write=False)


def test_what_cannot_lead_is_refused_where_it_is_made():
    with pytest.raises(TypeError):
        Identity(api_key="k", source="vault", datasets={"notes": UUID})

"""What the server's part of scrub may touch, and what it only names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.leak import MARKER, Leak
from cognee_hooks.results import Scrubbed, ScrubState
from cognee_hooks.scrub.pending import Batch, PendingFile
from cognee_hooks.scrub.server import ServerSide
from cognee_hooks.services.answers import Account, Dataset, DatasetRef
from cognee_hooks.services.crypto import Sealer
from cognee_hooks.services.documents import Document
from cognee_hooks.services.upkeep import Content, SessionRow

VALUE = "hunter2-" + "Zq81"
ME, OTHER = "me", "somebody-else"
SOON = Deadline.after(60)


def qa(text: str) -> dict[str, Any]:
    return {"type": "qa", "question": text, "answer": ""}


@dataclass
class Server:
    """A server in small: datasets, documents and sessions in dictionaries."""

    sets: list[Dataset] = field(default_factory=lambda: [Dataset("d1", "mine", ME)])
    files: dict[str, list[tuple[Document, bytes]]] = field(default_factory=dict)
    rows: list[SessionRow] = field(default_factory=list)
    held: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    found: dict[str, object] = field(default_factory=dict)
    past: object = None
    missing: int = 0
    calls: list[tuple[str, ...]] = field(default_factory=list)
    broken: str = ""

    def __post_init__(self) -> None:
        self.upkeep = self
        self.documents = SimpleNamespace(
            documents=self._documents, content=self._content, forget=self._forget
        )

    async def datasets(self, _: Deadline) -> list[Dataset]:
        return self.sets

    async def _documents(self, dataset_id: str, _: Deadline) -> list[Document]:
        return [document for document, _ in self.files.get(dataset_id, [])]

    async def _content(self, dataset_id: str, data_id: str, _: Deadline) -> bytes:
        return next(data for each, data in self.files[dataset_id] if each.id == data_id)

    async def _forget(self, dataset_id: str, _: Deadline) -> None:
        self.calls.append(("forget", dataset_id))

    async def ensure_dataset(self, name: str, _: Deadline) -> Dataset:
        self.sets.append(Dataset("aside", name, ME))
        return self.sets[-1]

    async def sessions(self, _: Deadline) -> list[SessionRow]:
        return list(self.rows)

    async def content(self, session_id: str, _: object, __: Deadline) -> Content:
        if session_id == self.broken:
            raise ServerFailure(FailureKind.SERVER_ERROR, status=500)
        entries = self.held.get(session_id, [])
        return Content(list(entries), self.missing, [list(entries)])

    async def recalled(self, dataset_id: str, query: str, *_: object) -> object:
        assert VALUE not in query
        return self.found.get(dataset_id, [])

    async def history(self, _: Deadline) -> object:
        if self.past is None:
            raise ServerFailure(FailureKind.NOT_FOUND, status=404)
        return self.past

    async def rewrite_document(
        self, dataset_id: str, data_id: str, content: bytes, name: str, _: Deadline
    ) -> None:
        self.calls.append(("rewrite", data_id, name))
        rows = self.files[dataset_id]
        self.files[dataset_id] = [
            (each, content if each.id == data_id else data) for each, data in rows
        ]

    async def drop_memory(self, dataset_id: str, _: Deadline) -> None:
        self.calls.append(("drop", dataset_id))
        self.found.pop(dataset_id, None)
        for row in self.rows:
            if row.dataset_id == dataset_id:
                self.held.pop(row.id, None)

    async def rebuild(self, dataset_id: str, _: Deadline) -> None:
        self.calls.append(("rebuild", dataset_id))

    async def store_again(
        self, entry: Mapping[str, Any], session_id: str, dataset: DatasetRef, _: Deadline
    ) -> None:
        self.calls.append(("store", session_id, dataset.name))
        self.held.setdefault(session_id, []).append(dict(entry))
        self.rows = [
            SessionRow(row.id, row.user_id, row.dataset_id or dataset.id)
            if row.id == session_id
            else row
            for row in self.rows
        ]


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def pending(tmp_path: Path) -> PendingFile:
    Sealer.of(tmp_path / "key")
    return PendingFile(tmp_path / "scrub", tmp_path / "key", "http://server\nme")


@pytest.fixture
def side(server: Server, pending: PendingFile) -> ServerSide:
    account = Account(ME, "me@example.com", "", "")
    return ServerSide(server, "http://server", account, Leak(VALUE), pending)  # type: ignore[arg-type]


def left(rows: list[Scrubbed]) -> dict[str, str]:
    stays = [row for row in rows if row.state is ScrubState.LEFT]
    return {row.place.removeprefix("http://server: "): row.detail for row in stays}


async def clean(side: ServerSide) -> list[Scrubbed]:
    await side.look(SOON)
    return await side.clean(SOON)


async def test_only_datasets_with_sessions_that_hold_it_are_emptied(server, side, pending):
    server.sets.append(Dataset("d2", "quiet", ME))
    server.files = {"d1": [(Document("f1", "notes"), b"kept")]}
    server.rows = [SessionRow("a", ME, "d1"), SessionRow("b", ME, "d1"), SessionRow("c", ME, "d2")]
    server.held = {"a": [qa(VALUE), qa("x"), qa("x")], "b": [qa("b")], "c": [qa("c")]}

    rows = await clean(side)

    assert left(rows) == {}
    assert [call for call in server.calls if call[0] != "store"] == [
        ("drop", "d1"),
        ("rebuild", "d1"),
    ]
    assert server.held["a"] == [qa(MARKER), qa("x"), qa("x")]
    assert (server.held["b"], server.held["c"]) == ([qa("b")], [qa("c")])
    assert not pending.path.exists()


async def test_a_graph_that_shows_it_is_built_anew_although_no_document_holds_it(server, side):
    server.files = {"d1": [(Document("f1", "notes"), b"kept")]}
    server.found = {"d1": [{"text": f"fact {VALUE}"}]}

    (found, announced) = await side.look(SOON)
    rows = await side.clean(SOON)

    assert (found.place, found.state) == ("http://server: dataset mine: its graph", "found")
    assert "costs calls" in announced.detail
    assert ("rebuild", "d1") in server.calls
    assert left(rows) == {}


async def test_how_many_entries_cannot_be_read_back_is_said_before(server, side):
    server.missing = 3
    server.rows = [SessionRow("a", ME, "d1")]
    server.held = {"a": [qa(VALUE)]}
    assert "3 older entries cannot be read and are lost" in (await side.look(SOON))[-1].detail


@pytest.mark.parametrize(
    ("rows", "datasets", "said"),
    [
        ([SessionRow("a", OTHER, "d1")], [Dataset("d1", "mine", ME)], "another account owns it"),
        ([SessionRow("a", ME, "d9")], [Dataset("d9", "theirs", OTHER)], "another account owns it"),
        ([SessionRow("a", ME, "gone")], [Dataset("d1", "mine", ME)], "was deleted"),
        (
            [SessionRow("a", ME, "d1"), SessionRow("b", OTHER, "d1")],
            [Dataset("d1", "mine", ME)],
            "sessions of other accounts",
        ),
    ],
)
async def test_sessions_that_touch_others_are_named_and_left(server, side, rows, datasets, said):
    server.sets, server.rows = datasets, rows
    server.held = {"a": [qa(VALUE)]}
    told = left(await clean(side))
    assert said in told["session a"]
    assert server.calls == []


async def test_documents_of_another_account_are_named_and_left(server, side):
    server.sets = [Dataset("d9", "theirs", OTHER)]
    server.files = {"d9": [(Document("f1", "notes"), VALUE.encode())]}
    told = left(await clean(side))
    assert "another account owns it" in told["document notes (f1) in theirs"]
    assert server.calls == []


async def test_names_and_ids_that_hold_it_are_named_without_it(server, side):
    server.sets = [Dataset("d1", f"for-{VALUE}", ME)]
    server.files = {"d1": [(Document("f1", f"{VALUE}-notes"), b"kept")]}
    server.rows = [SessionRow(f"s-{VALUE}", ME, "d1")]
    told = left(await clean(side))
    assert not any(VALUE in place + detail for place, detail in told.items())
    assert "--forget-dataset d1" in told["dataset d1"]
    assert any("cognee-hooks forget d1 f1" in detail for detail in told.values())
    assert "session's id" in told[f"the id of session s-{MARKER}"]
    assert server.calls == []


async def test_a_session_that_cannot_be_read_is_named(server, side):
    server.rows = [SessionRow("a", ME, "d1"), SessionRow("b", ME, "d1")]
    server.broken = "b"
    assert "may hold the value" in left(await side.look(SOON))["session b"]


@pytest.mark.parametrize("shown", ["session", "graph"])
@pytest.mark.parametrize("whose", [ME, OTHER])
async def test_no_dataset_is_emptied_where_that_would_lose_what_cannot_be_read(
    server, side, shown, whose
):
    server.rows = [SessionRow("a", ME, "d1"), SessionRow("b", whose, "d1")]
    server.held = {"a": [qa(VALUE if shown == "session" else "a")], "b": [qa("b")]}
    server.found = {"d1": [VALUE]} if shown == "graph" else {}
    server.broken = "b" if whose == ME else ""
    told = left(await clean(side))
    place = "session a" if shown == "session" else "dataset mine: its graph"
    assert "cannot show" in told[place] or "other accounts" in told[place]
    assert server.calls == []


async def test_the_history_of_recalls_is_named_where_it_holds_the_value(server, side):
    server.past = [{"text": VALUE}, {"text": f"again {VALUE}"}]
    rows = await clean(side)
    assert [row.count for row in rows] == [2]
    assert "no route deletes it" in left(rows)["the history of recalls"]


async def test_sessions_of_no_dataset_get_one_and_are_emptied_there(server, side):
    server.rows = [SessionRow("a", ME, "")]
    server.held = {"a": [qa(VALUE)]}
    assert left(await clean(side)) == {}
    assert server.held["a"] == [qa(MARKER)]
    assert ("drop", "aside") in server.calls
    assert not any(call[0] == "rebuild" for call in server.calls)


async def test_what_a_stopped_scrub_kept_is_stored_again_once(server, side, pending):
    server.rows = [SessionRow("a", ME, "d1")]
    server.held = {"a": [qa("one")]}
    kept = {"a": [qa("one"), qa("two"), qa("two")]}
    pending.save(Batch("d1", "mine", rebuild=True, sessions=kept))

    (row,) = await side.look(SOON)
    assert "stopped" in row.detail
    await side.clean(SOON)

    assert server.held["a"] == kept["a"]
    assert not pending.path.exists()


async def test_what_came_in_after_a_kill_does_not_keep_the_rest_from_being_stored(
    server, side, pending
):
    server.rows = [SessionRow("a", ME, "d1")]
    server.held = {"a": [qa("new"), qa("newer")]}
    pending.save(Batch("d1", "mine", rebuild=True, sessions={"a": [qa("one"), qa("two")]}))
    await clean(side)
    assert server.held["a"] == [qa("new"), qa("newer"), qa("one"), qa("two")]


async def test_a_document_that_the_server_does_not_rewrite_is_named_and_the_rest_is_cleaned(
    server, side, monkeypatch
):
    server.files = {
        "d1": [(Document("f1", "bad"), VALUE.encode()), (Document("f2", "good"), VALUE.encode())]
    }
    real = Server.rewrite_document

    async def refusing(self: Server, dataset_id: str, data_id: str, *rest: Any) -> None:
        if data_id == "f1":
            raise ServerFailure(FailureKind.REJECTED, f"no: {VALUE}", status=415)
        await real(self, dataset_id, data_id, *rest)

    monkeypatch.setattr(Server, "rewrite_document", refusing)
    rows = await clean(side)
    assert left(rows)["document bad (f1) in mine"].startswith("it was not rewritten")
    assert not any(VALUE in row.detail for row in rows)
    assert [row.place for row in rows if row.state is ScrubState.CLEANED] == [
        "http://server: document good (f2) in mine"
    ]


async def test_what_a_scrub_kept_that_emptied_nothing_is_not_stored_again(server, side, pending):
    server.rows = [SessionRow("a", ME, "d1")]
    server.held = {"a": [qa(VALUE)]}
    pending.save(Batch("d1", "mine", rebuild=True, sessions={"a": [qa(MARKER)]}))
    await clean(side)
    assert server.held["a"] == [qa(MARKER)]


async def test_what_is_kept_holds_neither_the_value_nor_any_text_that_can_be_read(
    server, side, pending, monkeypatch
):
    server.rows = [SessionRow("a", ME, "d1")]
    server.held = {"a": [qa(f"private {VALUE}")]}
    seen: list[bytes] = []
    real = Server.drop_memory

    async def looking(self: Server, *arguments: Any) -> None:
        seen.append(pending.path.read_bytes())
        await real(self, *arguments)

    monkeypatch.setattr(Server, "drop_memory", looking)
    await clean(side)
    assert len(seen) == 1
    assert b"private" not in seen[0]
    assert not pending.path.exists()


async def test_a_damaged_one_is_named(side, pending):
    pending.path.parent.mkdir()
    pending.path.write_bytes(b"torn")
    pending.path.chmod(0o600)
    assert left(await side.look(SOON))[str(pending.path)].endswith("it cannot be opened")


async def test_a_dataset_is_only_deleted_where_its_name_holds_the_value_and_it_is_ours(
    server, side
):
    server.sets = [
        Dataset("d1", "mine", ME),
        Dataset("d2", VALUE, OTHER),
        Dataset("d3", VALUE, ME),
    ]
    assert await side.forget_dataset("d1", SOON)
    assert await side.forget_dataset("d2", SOON)
    assert await side.forget_dataset("d9", SOON)
    assert await side.forget_dataset("d3", SOON) == ""
    assert server.calls == [("forget", "d3")]

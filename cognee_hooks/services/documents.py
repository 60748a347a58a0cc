"""Remembered text and files: what the routes about them are, and what their answers hold.

By the cognee 1.6 HTTP contract a document's ``name`` is its file name without the last extension,
and ``extension`` is the form in which it is stored, so ``notes.md`` and ``notes.txt`` are one to
whoever looks at them. The real file name stands at the end of the address that the server noted
down when the document came in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.answers import DatasetRef, text_of
from cognee_hooks.services.asking import Address, Ask, expect, put, required_uuid, revealed
from cognee_hooks.services.failures import excerpt, stranger
from cognee_hooks.services.improve import moment
from cognee_hooks.services.names import canonical_uuid, safe_dataset_name, safe_file_name
from cognee_hooks.services.wire import BODY_LIMIT, SMALL_BODY, Part, ServerCall

if TYPE_CHECKING:
    from cognee_hooks.redaction import Redacted

_PAGE = 1000
_MAX_PAGES = 20
_MAX_STATUS = 80
_MAX_NAME = 255
_LARGEST_COUNT = 10**9


@dataclass(frozen=True, slots=True)
class Document:
    """A remembered text or file.

    Attributes:
        id: Its UUID.
        name: Its name as the server lists it, without the last extension.
        file_name: The name under which it first came in; "" where the server does not say.
        created_at: Epoch seconds; 0.0 where the server does not say.
    """

    id: str
    name: str
    file_name: str = ""
    created_at: float = 0.0

    @property
    def shown(self) -> str:
        """Its name for people."""
        return self.file_name or self.name or "(unnamed)"

    def is_called(self, file_name: str) -> bool:
        """Tell whether it came in as a file of that name.

        Servers that keep no file names list them whole, if at all.
        """
        return (self.file_name or self.name) == safe_file_name(file_name)


@dataclass(frozen=True, slots=True)
class Remembered:
    """What the server made of a remember.

    Attributes:
        status: ``running`` where it goes on in the background, ``completed`` where all is done.
        dataset_id: The dataset's UUID, or "".
    """

    status: str
    dataset_id: str


@dataclass(frozen=True, slots=True)
class Updated:
    """What the server made of an update.

    Attributes:
        status: ``unchanged``, ``incremental``, ``full_rebuild``, or another word.
        added: New chunks; None where they were not counted.
        deleted: Chunks that are gone.
        kept: Chunks that stayed.
        reused: Chunks that were there under another document.
        fallback: Why all was built anew, or "".
    """

    status: str
    added: int | None = None
    deleted: int | None = None
    kept: int | None = None
    reused: int | None = None
    fallback: str = ""


class DocumentRoutes:
    """Remember, list, read, update, forget.

    Args:
        ask: Sends the requests.
        address: Leads to the dataset of a remember.
    """

    def __init__(self, ask: Ask, address: Address) -> None:
        self._ask = ask
        self._address = address

    async def remember(
        self,
        content: Redacted[str],
        *,
        file_name: Redacted[str],
        dataset: DatasetRef,
        deadline: Deadline,
        node_set: str = "",
        background: bool = True,
    ) -> Remembered:
        """Add a text or file to a dataset; the dataset is made where it is only a name.

        It goes as an upload, never as text in a field: the server would take such a text for a path
        on its own disk or an address to be fetched where it looks like one. The same bytes once
        more are the same document. The same name with other bytes is a second one.

        Args:
            content: What to remember.
            file_name: Name of the file; its extension says how it is read.
            dataset: Where to.
            deadline: When to give up. The server goes on nevertheless.
            node_set: A tag, or "".
            background: Have it answered at once. That it was taken on does not say that it will be
                stored: what goes wrong later shows in nothing but its absence.

        Raises:
            ServerFailure: It was not taken on, or may not have been.
            TypeError: Something did not go through redaction.
        """
        fields = {"node_set": node_set, "run_in_background": "true" if background else "false"}
        dataset = await self._address(dataset, deadline, write=True)
        if dataset.uuid:
            fields["datasetId"] = dataset.uuid
        else:
            fields["datasetName"] = safe_dataset_name(dataset.name)
        parts = [Part.of(each, value) for each, value in fields.items() if value]
        parts.append(_file(content, file_name))
        call = ServerCall(
            method="POST",
            path="/api/v1/remember",
            parts=parts,
            repeatable=False,
            # In the foreground the answer lists every document of the dataset.
            limit=SMALL_BODY if background else BODY_LIMIT,
        )
        answer = await self._ask(call, deadline)
        return expect(read_remembered(answer.document), "does not say what was remembered")

    async def documents(self, dataset_id: str, deadline: Deadline) -> list[Document]:
        """Return what a dataset holds, up to 20 000 documents, in the server's order.

        Servers from 1.6.5 on answer in pages, the newest first; older ones answer all at once.

        Raises:
            ServerFailure: It failed; ``FORBIDDEN`` where there is no such dataset.
        """
        found: dict[str, Document] = {}
        for page in range(_MAX_PAGES):
            path = f"{_dataset(dataset_id)}/data?limit={_PAGE}&offset={page * _PAGE}"
            answer = await self._ask(ServerCall(method="GET", path=path), deadline)
            rows = expect(read_documents(answer.document), "is no list of documents")
            known = len(found)
            found |= {row.id: row for row in rows}
            # An older server sends everything again, which may be just as long as a page.
            if len(rows) != _PAGE or len(found) == known:
                break
        return list(found.values())

    async def content(self, dataset_id: str, data_id: str, deadline: Deadline) -> bytes:
        """Return a document as it is stored, byte by byte.

        Raises:
            ServerFailure: It failed; ``NOT_FOUND`` where there is no such document.
        """
        path = f"{_dataset(dataset_id)}/data/{required_uuid(data_id)}/raw"
        return (await self._ask(ServerCall(method="GET", path=path), deadline)).content

    async def update(
        self,
        content: Redacted[str],
        *,
        file_name: Redacted[str],
        data_id: str,
        dataset_id: str,
        deadline: Deadline,
    ) -> Updated:
        """Put other content in the place of a document's, which keeps its id.

        Its tags stay as they are, and only what changed is built anew where the server can.

        Raises:
            ServerFailure: It failed or may have; ``NOT_FOUND`` where there is no such document, and
                ``REJECTED`` with nothing sent where an id is none.
            TypeError: Something did not go through redaction.
        """
        call = ServerCall(
            method="PATCH",
            path=f"/api/v1/update?data_id={required_uuid(data_id)}&dataset_id={required_uuid(dataset_id)}",
            parts=[_file(content, file_name)],
            repeatable=False,
            limit=SMALL_BODY,
        )
        answer = await self._ask(call, deadline)
        return expect(read_updated(answer.document), "does not say what became of the update")

    async def forget(self, dataset_id: str, deadline: Deadline, *, data_id: str = "") -> None:
        """Delete a document, or a whole dataset; nothing brings it back.

        The server's way to forget everything is not offered: it also empties the sessions of every
        other user of the server.

        Args:
            dataset_id: The dataset's UUID. Names are not taken, since several may share one.
            deadline: When to give up.
            data_id: One document; "" for the dataset with all that is in it.

        Raises:
            ServerFailure: It failed or may have; ``REJECTED`` with nothing sent where an id is
                none.
        """
        body: dict[str, Any] = {}
        put(body, "dataset_id", "datasetId", required_uuid(dataset_id))
        if data_id:
            put(body, "data_id", "dataId", required_uuid(data_id))
        call = ServerCall(
            method="POST", path="/api/v1/forget", json=body, repeatable=False, limit=SMALL_BODY
        )
        answer = await self._ask(call, deadline)
        if not isinstance(answer.document, Mapping):
            raise stranger("does not say what was forgotten")


def read_remembered(document: object) -> Remembered | None:
    """Read the answer to a remember; None where it is none.

    Raises:
        ServerFailure: It says that it failed.
    """
    if not isinstance(document, Mapping):
        return None
    error = document.get("error")
    if (isinstance(error, str) and error) or text_of(document, "status") == "errored":
        raise ServerFailure(FailureKind.SERVER_ERROR, f"server error: {excerpt(str(error))}")
    dataset_id = text_of(document, "dataset_id") or text_of(document, "datasetId")
    return Remembered(text_of(document, "status"), canonical_uuid(dataset_id))


def read_documents(document: object) -> list[Document] | None:
    """Read a page of documents; None where it is no list. Rows without a proper id are left out."""
    return list(_documents(document)) if isinstance(document, list) else None


def _documents(rows: list[object]) -> Iterator[Document]:
    for row in rows:
        identifier = canonical_uuid(text_of(row, "id")) if isinstance(row, Mapping) else ""
        if identifier and isinstance(row, Mapping):
            created = text_of(row, "createdAt") or text_of(row, "created_at")
            name = text_of(row, "name")[:_MAX_NAME]
            yield Document(identifier, name, _file_name(row), moment(created))


def _file_name(row: Mapping[str, Any]) -> str:
    """Return the last part of the address under which a document came in."""
    outer = row.get("externalMetadata") or row.get("external_metadata")
    inner = outer.get("_cognee") if isinstance(outer, Mapping) else None
    address = text_of(inner, "source_uri") if isinstance(inner, Mapping) else ""
    return unquote(address.rsplit("/", 1)[-1])[:_MAX_NAME]


def read_updated(document: object) -> Updated | None:
    """Read the answer to an update; None where it is none.

    Raises:
        ServerFailure: It says that it failed; the document is as it was.
    """
    if not isinstance(document, Mapping) or not isinstance(document.get("status"), str):
        return None
    status = excerpt(document["status"], _MAX_STATUS)
    if status == "failed":
        error = document.get("error")
        text = text_of(error, "message") if isinstance(error, Mapping) else str(error or "")
        raise ServerFailure(FailureKind.SERVER_ERROR, excerpt(text))
    fallback = document.get("fallback")
    return Updated(
        status=status,
        added=_count(document.get("added_chunks")),
        deleted=_count(document.get("deleted_chunks")),
        kept=_count(document.get("kept_chunks")),
        reused=_count(document.get("reused_chunks")),
        fallback=excerpt(text_of(fallback, "reason"), _MAX_STATUS)
        if isinstance(fallback, Mapping)
        else "",
    )


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < _LARGEST_COUNT else None


def _file(content: Redacted[str], file_name: Redacted[str]) -> Part:
    name = safe_file_name(revealed(file_name))
    return Part.of("data", revealed(content), filename=name)


def _dataset(dataset_id: str) -> str:
    return f"/api/v1/datasets/{required_uuid(dataset_id)}"

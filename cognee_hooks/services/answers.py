"""What the server's answers hold, read leniently: any field may be missing or of another type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cognee_hooks.services.names import canonical_uuid

_Object = Mapping[str, Any]
_MOST_ITEMS = 500  # of a recall; nobody asks for more than a hundred
_LARGEST = 1e300

EMBEDDED = "cognee-hooks embedded"
"""What the embedded server calls itself in its health report."""


@dataclass(frozen=True, slots=True)
class DatasetRef:
    """A dataset by name, by id, or both.

    A name is looked up among the datasets that the account owns; one that was shared by another
    account is reachable by id only.

    Attributes:
        name: Its name, or "".
        id: Its UUID, or "".
    """

    name: str = ""
    id: str = ""

    @property
    def uuid(self) -> str:
        """Its UUID as the server writes it, also where it stands as the name; "" without one."""
        return canonical_uuid(self.id) or canonical_uuid(self.name)


@dataclass(frozen=True, slots=True)
class Health:
    """A server that answered its health route.

    Attributes:
        version: The server's version, or "" where it did not say.
        ready: Whether its stores work. The model endpoint behind them is not looked at.
        embedded: Whether it is the embedded server, which works without a model.
        date: What time it is there, epoch seconds; None where it did not say.
    """

    version: str
    ready: bool
    embedded: bool = False
    date: float | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RecallItem:
    """One item of a recall.

    Attributes:
        source: ``graph``, ``code``, ``session``, ``trace``, ``session_context`` or ``system``; the
            last is a marker, not memory.
        text: Its text. For a graph item this is the prompt that the server's own model would have
            got, with the memory inside.
        content: Its text where the item has no ``text`` (``session_context``).
        search_type: How it was found, which may be another way than was asked for.
        dataset_id: Dataset that it comes from, or "".
        dataset_name: That dataset's name, or "".
        score: Distance, smaller is closer; None where there is none.
        raw: The whole item as the server sent it.
    """

    source: str
    text: str
    content: str
    search_type: str
    dataset_id: str
    dataset_name: str
    score: float | None
    raw: _Object = field(repr=False)

    @property
    def body(self) -> str:
        """``text``, or ``content`` where that is blank."""
        return self.text.strip() or self.content.strip()


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An entry that the server stored.

    Attributes:
        entry_id: Its id, which feedback on it needs.
        dataset_id: Dataset of its session; "" before 1.6.5.
    """

    entry_id: str
    dataset_id: str


@dataclass(frozen=True, slots=True)
class SessionDetail:
    """A session as the server keeps it.

    Attributes:
        qas: The last 20 questions and answers.
        traces: The last 20 tool calls.
        msg_count: Number of all questions and answers.
        tool_calls: Number of all tool calls.
        dataset_id: Dataset that it is bound to, or "".
        exists: Whether the server knows the session.
    """

    qas: tuple[_Object, ...] = field(default=(), repr=False)
    traces: tuple[_Object, ...] = field(default=(), repr=False)
    msg_count: int = 0
    tool_calls: int = 0
    dataset_id: str = ""
    exists: bool = True


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset that the account can read.

    Attributes:
        id: Its UUID.
        name: Its name; names may repeat among own and shared datasets.
        owner_id: UUID of the account that owns it.
        created_at: When it was made, as the server writes it, or "".
    """

    id: str
    name: str
    owner_id: str
    created_at: str = ""


@dataclass(frozen=True, slots=True)
class Account:
    """The account that a key belongs to.

    Attributes:
        id: Its UUID.
        email: Its address.
        tenant_id: Tenant that it works in, or "".
        parent_id: Account that an agent's account belongs to, or "".
    """

    id: str
    email: str
    tenant_id: str
    parent_id: str


def text_of(document: _Object, name: str) -> str:
    """Return a field as text: "" for absent and null, numbers as they read."""
    value = document.get(name)
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, (Mapping, list)):
        return ""
    return str(value)


def objects_in(value: object, limit: int | None = None) -> list[_Object]:
    """Return the objects in a list, of its first ``limit`` items; nothing where it is no list."""
    rows = value[:limit] if isinstance(value, list) else []
    return [row for row in rows if isinstance(row, Mapping)]


def read_health(document: object) -> Health | None:
    """Read a health answer; None where it is not one of a cognee server."""
    if not isinstance(document, Mapping) or not {"status", "health"} & document.keys():
        return None
    status = text_of(document, "status").lower()
    health = text_of(document, "health").lower()
    ready = status in {"", "ready", "ok", "healthy"} and health in {"", "healthy", "degraded"}
    embedded = text_of(document, "server") == EMBEDDED
    return Health(version=text_of(document, "version"), ready=ready, embedded=embedded)


def read_date(header: str) -> float | None:
    """Read a ``Date`` header (RFC 9110, 6.6.1) as epoch seconds; None where it is none."""
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(header).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def read_items(document: object) -> list[RecallItem] | None:
    """Read a recall answer, a list or ``{"results": [...]}``; None where it is neither."""
    if isinstance(document, Mapping):
        document = document.get("results")
    if not isinstance(document, list):
        return None
    return [_item(each) for each in document[:_MOST_ITEMS] if isinstance(each, Mapping)]


def _item(document: _Object) -> RecallItem:
    return RecallItem(
        source=text_of(document, "source"),
        text=text_of(document, "text"),
        content=text_of(document, "content"),
        search_type=text_of(document, "search_type"),
        dataset_id=text_of(document, "dataset_id"),
        dataset_name=text_of(document, "dataset_name"),
        score=_number(document.get("score")),
        raw=document,
    )


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # A comparison, since turning a very long whole number into a float raises.
    return float(value) if -_LARGEST < value < _LARGEST else None


def read_stored(document: object) -> StoredEntry | None:
    """Read the answer to an entry; None where it does not say that the entry is stored."""
    if not isinstance(document, Mapping) or document.get("status") != "session_stored":
        return None
    return StoredEntry(text_of(document, "entry_id"), text_of(document, "dataset_id"))


def read_session(document: object) -> SessionDetail | None:
    """Read a session; None where the answer is not one."""
    if not isinstance(document, Mapping) or not {"qas", "traces"} <= document.keys():
        return None
    return SessionDetail(
        qas=tuple(objects_in(document["qas"])),
        traces=tuple(objects_in(document["traces"])),
        msg_count=_count(document.get("msg_count")),
        tool_calls=_count(document.get("tool_calls")),
        dataset_id=text_of(document, "dataset_id"),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0


def read_dataset(document: object) -> Dataset | None:
    """Read one dataset; None where the answer is not one."""
    if not isinstance(document, Mapping) or not text_of(document, "id"):
        return None
    owner = text_of(document, "ownerId") or text_of(document, "owner_id")
    created = text_of(document, "createdAt") or text_of(document, "created_at")
    return Dataset(text_of(document, "id"), text_of(document, "name"), owner, created)


def read_datasets(document: object) -> list[Dataset] | None:
    """Read a list of datasets; None where the answer is no list."""
    if not isinstance(document, list):
        return None
    return [dataset for each in document if (dataset := read_dataset(each)) is not None]


def read_account(document: object) -> Account | None:
    """Read an account; None where the answer is not one."""
    if not isinstance(document, Mapping) or not text_of(document, "id"):
        return None
    return Account(
        id=text_of(document, "id"),
        email=text_of(document, "email"),
        tenant_id=text_of(document, "tenant_id"),
        parent_id=text_of(document, "parent_user_id"),
    )

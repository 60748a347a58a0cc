"""What tests of the bridge are made of: entries, a server that is a list, a context in small."""

from __future__ import annotations

import logging
import os
import random
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from types import SimpleNamespace
from typing import Any

from builtin_plugins.bridge.buffer import Buffer
from builtin_plugins.bridge.items import Payload
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.redaction import Redacted, RedactionPipeline
from cognee_hooks.services.answers import Dataset, DatasetRef, SessionDetail, StoredEntry
from cognee_hooks.services.crypto import KEY_BYTES, Sealer

STEM = "a" * 40
URL = "http://server"
TAIL = 20


class Clock:
    """Epoch seconds that a test sets."""

    def __init__(self) -> None:
        self.seconds = 1_700_000_000.0

    def __call__(self) -> float:
        return self.seconds


def entry(number: object, **fields: Any) -> dict[str, Any]:
    return {"type": "qa", "question": f"question {number}", "answer": "", "context": "", **fields}


def trace(command: str = "ls", **fields: Any) -> dict[str, Any]:
    known = {
        "type": "trace",
        "origin_function": "bash",
        "status": "success",
        "method_params": {"command": command},
        "method_return_value": "ok",
        "error_message": "",
    }
    return known | fields


def payload(content: object, **fields: Any) -> Payload:
    known = {"session_id": "s1", "dataset": "d", "url": URL, "captured_at": 1_700_000_000_000}
    inside = content if isinstance(content, dict) else entry(content)
    return Payload(entry=inside, **(known | fields))


def other_sealer() -> Sealer:
    """The key of another machine."""
    return Sealer(os.urandom(KEY_BYTES))


def taken_out(buffer: Buffer, url: str = URL) -> list[str]:
    """Take everything out, head first; returns the questions."""
    found = []
    while head := buffer.head(url):
        found.append(head.payload.entry["question"])
        buffer.settle(head.seq, "", "")
    return found


class ListServer:
    """A server that keeps entries in a list, as far as a client sees it.

    Attributes:
        stored: Session id, dataset and entry of all that it took.
        answers: What the next writes come to; then they are stored. Each gets a function that
            stores, and may raise.
        checks: What the next looks at a session come to.
        calls: Names of the routes that were asked, in order.
        bound: Dataset id of each session.
        known: Dataset ids by name.
    """

    def __init__(self) -> None:
        self.stored: list[tuple[str, str, dict[str, Any]]] = []
        self.answers: list[Callable[[Callable[[], None]], None]] = []
        self.checks: list[ServerFailure | None] = []
        self.calls: list[str] = []
        self.bound: dict[str, str] = {}
        self.known: dict[str, str] = {}
        self.deadlines: list[float] = []

    async def store_entry(
        self,
        entry: Redacted[dict[str, Any]],
        *,
        session_id: str,
        dataset: DatasetRef,
        deadline: Deadline,
    ) -> StoredEntry:
        self.calls.append("entry")
        self.deadlines.append(deadline.remaining())

        def store() -> None:
            self.stored.append((session_id, dataset.name, entry.value))

        if self.answers:
            self.answers.pop(0)(store)
        else:
            store()
        return StoredEntry(entry_id="e", dataset_id="")

    async def session(self, session_id: str, deadline: Deadline) -> SessionDetail:
        self.calls.append("session")
        failure = self.checks.pop(0) if self.checks else None
        if failure is not None:
            raise failure
        rows = [row for session, _, row in self.stored if session == session_id]
        kinds = Counter(row["type"] for row in rows)
        listed: dict[str, list[Mapping[str, Any]]] = {
            kind: [row for row in rows if row["type"] == kind][-TAIL:] for kind in ("qa", "trace")
        }
        return SessionDetail(
            qas=tuple(listed["qa"]),
            traces=tuple(listed["trace"]),
            msg_count=kinds["qa"],
            tool_calls=kinds["trace"],
            dataset_id=self.bound.get(session_id, ""),
            exists=bool(rows),
        )

    async def datasets(self, deadline: Deadline) -> list[Dataset]:
        self.calls.append("datasets")
        return [Dataset(id=each, name=name, owner_id="") for name, each in self.known.items()]

    @property
    def questions(self) -> list[str]:
        return [row["question"] for _, _, row in self.stored]


def failing(
    kind: FailureKind, *, stored: bool = False, detail: str = "", **fields: Any
) -> Callable[[Callable[[], None]], None]:
    """A write that fails, before or after it was stored."""

    def answer(store: Callable[[], None]) -> None:
        if stored:
            store()
        raise ServerFailure(kind, detail, **fields)

    return answer


class SmallContext:
    """What the sender needs of a plugin's context."""

    def __init__(self, server: ListServer, clock: Callable[[], float]) -> None:
        self.noted: list[ServerFailure | None] = []
        self.services = SimpleNamespace(
            client=server,
            mode=SimpleNamespace(url=URL),
            health=SimpleNamespace(note=self.noted.append, state="ok", retry_in=0.0),
        )
        self.core = SimpleNamespace(request_timeout_ms=10_000, health_timeout_ms=2500)
        self.log = logging.getLogger("tests.bridge")
        self.random = random.Random(1)
        self.now = clock
        self.acts: list[tuple[str, str]] = []
        self.said: list[str] = []
        self.refuses_to_redact: Exception | None = None
        self._pipeline = RedactionPipeline()

    async def redact(self, value: Any) -> Redacted[Any]:
        if self.refuses_to_redact is not None:
            raise self.refuses_to_redact
        return self._pipeline.redact_blocking(value)

    def record(self, act: str, what: str = "", *, session_id: str = "") -> None:
        self.acts.append((str(act), session_id))

    def say(self, text: str) -> None:
        self.said.append(text)


def at_once(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that waits for nothing."""
    try:
        work.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("it waits")

"""Sessions and their entries."""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from cognee_hooks.embedded.clock import aware_now, utc_now
from cognee_hooks.embedded.database import Database
from cognee_hooks.embedded.datasets import Datasets, storable_name
from cognee_hooks.embedded.entries import AcceptedEntry
from cognee_hooks.embedded.errors import detail, invalid_entry
from cognee_hooks.embedded.passages import Passages

DEFAULT_DATASET = "main_dataset"
TAIL = 20
_IDLE = timedelta(minutes=30)
_LABEL = 100


class Sessions:
    """All sessions of the account.

    Every entry is also a passage of the session's dataset, so that recall finds it at once.
    """

    def __init__(
        self, database: Database, datasets: Datasets, passages: Passages, owner_id: str
    ) -> None:
        self._database = database
        self._datasets = datasets
        self._passages = passages
        self._owner_id = owner_id

    def store(
        self, session_id: str, dataset_id: str | None, dataset_name: str, entry: AcceptedEntry
    ) -> dict[str, Any]:
        """Store an entry and answer as the contract does.

        Args:
            session_id: The session; made where it is new.
            dataset_id: The dataset, if given by id. Wins over the name.
            dataset_name: The dataset's name; ``main_dataset`` counts as not given.
            entry: What to store.

        Raises:
            ApiError: 400 for another dataset than the session's, 403 for one that is not there, 409
                for another node set than the session's.
        """
        if not session_id:
            raise invalid_entry()
        with self._database.transaction():
            bound = self._bind(session_id, dataset_id, dataset_name)
            self._pin_node_set(session_id, entry.node_set)
            if entry.kind == "feedback":
                entry_id, problem = self._rate(session_id, entry.body)
            else:
                entry_id, problem = self._append(session_id, bound, entry), ""
        answer = {
            "status": "errored" if problem else "session_stored",
            "dataset_name": self._datasets.get(bound, "read").name,
            "dataset_id": bound,
            "pipeline_run_id": None,
            "items_processed": 0,
            "elapsed_seconds": 0.0,
            "session_ids": [session_id],
            "entry_type": entry.kind,
            "entry_id": entry_id,
        }
        return {**answer, "error": problem} if problem else answer

    def _bind(self, session_id: str, dataset_id: str | None, name: str) -> str:
        """The id of the dataset that the session is bound to; the first entry binds it."""
        row = self._row(session_id)
        bound: str | None = row["dataset_id"] if row else None
        named = self._datasets.id_of(name) if name != DEFAULT_DATASET else None
        asked = dataset_id or named
        if bound is not None:
            if asked is not None and asked != bound:
                raise invalid_entry()
            self._datasets.get(bound, "write")
        elif dataset_id is not None:
            bound = self._datasets.get(dataset_id, "write").id
        else:
            bound = self._named(name)
        now = utc_now()
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO sessions (id, dataset_id, started_at, last_activity_at) "
                "VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
                "dataset_id = excluded.dataset_id, last_activity_at = excluded.last_activity_at",
                (session_id, bound, now, now),
            )
        return bound

    def _named(self, name: str) -> str:
        known = self._datasets.find(self._datasets.id_of(name))
        if known is None and not storable_name(name):
            raise invalid_entry()
        return known.id if known else self._datasets.create(name).id

    def _pin_node_set(self, session_id: str, wanted: Sequence[str]) -> None:
        if not wanted:
            return
        row = self._row(session_id)
        pinned = json.loads(row["node_set"]) if row and row["node_set"] else None
        if pinned is not None and pinned != list(wanted):
            raise detail(
                409,
                f"A session's node_set cannot change once pinned (pinned: {pinned}, "
                f"requested: {list(wanted)}); start a new session",
                "SessionNodeSetConflictError",
            )
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE sessions SET node_set = ? WHERE id = ?",
                (json.dumps(list(wanted)), session_id),
            )

    def _append(self, session_id: str, dataset_id: str, entry: AcceptedEntry) -> str:
        entry_id, time = str(uuid.uuid4()), aware_now()
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO entries (id, session_id, kind, time, body) VALUES (?, ?, ?, ?, ?)",
                (entry_id, session_id, entry.kind, time, json.dumps(entry.body)),
            )
            text = passage_of(session_id, entry.kind, entry.body)
            self._passages.replace(dataset_id, entry_id, session_id, [text], entry.node_set)
        return entry_id

    def _rate(self, session_id: str, body: dict[str, Any]) -> tuple[str, str]:
        """Add feedback to a stored question; the second value says why that was not possible."""
        qa_id = str(body["qa_id"])
        query = "SELECT body FROM entries WHERE session_id = ? AND kind = 'qa' AND id = ?"
        row = self._database.row(query, (session_id, qa_id))
        if row is None:
            return qa_id, f"add_feedback: QA {qa_id} not found in session {session_id}"
        rated = json.loads(row["body"])
        for name in ("feedback_text", "feedback_score"):
            if body[name] is not None:
                rated[name] = body[name]
        rated["memify_metadata"] = {"feedback_weights_applied": False}
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE entries SET body = ? WHERE id = ?", (json.dumps(rated), qa_id)
            )
        return qa_id, ""

    def _row(self, session_id: str) -> sqlite3.Row | None:
        return self._database.row("SELECT * FROM sessions WHERE id = ?", (session_id,))

    def entries(self, session_id: str, kind: str, limit: int = -1) -> list[dict[str, Any]]:
        """The last entries of one kind in storage order; a negative limit means all."""
        rows = self._database.rows(
            "SELECT id, time, body FROM entries WHERE session_id = ? AND kind = ? "
            "ORDER BY seq DESC LIMIT ?",
            (session_id, kind, limit),
        )
        return [shown(kind, row["id"], row["time"], json.loads(row["body"])) for row in rows[::-1]]

    def failures(self, session_id: str, limit: int) -> list[tuple[str, dict[str, Any]]]:
        """Time and stored form of the last traces that failed, oldest first."""
        rows = self._database.rows(
            "SELECT time, body FROM entries WHERE session_id = ? AND kind = 'trace' "
            "AND body ->> 'status' = 'error' ORDER BY seq DESC LIMIT ?",
            (session_id, limit),
        )
        return [(row["time"], json.loads(row["body"])) for row in rows[::-1]]

    def _count(self, session_id: str, kind: str) -> int:
        query = "SELECT count(*) AS n FROM entries WHERE session_id = ? AND kind = ?"
        row = self._database.row(query, (session_id, kind))
        return int(row["n"]) if row else 0

    def detail(self, session_id: str) -> dict[str, Any] | None:
        """One session with its last 20 entries of each kind, or None where it is unknown."""
        row = self._row(session_id)
        if row is None:
            return None
        questions = self.entries(session_id, "qa", TAIL)
        traces = self.entries(session_id, "trace", TAIL)
        first = questions[0]["question"] if questions else None
        label = first if first is not None else (traces[0]["origin_function"] if traces else None)
        return {
            **self._listed(row),
            "label": label[:_LABEL] if label else None,
            "msg_count": self._count(session_id, "qa"),
            "tool_calls": self._count(session_id, "trace"),
            "qas": questions,
            "traces": traces,
        }

    def page(self, limit: int, offset: int, since: timedelta | None) -> dict[str, Any]:
        """A page of sessions, the latest active first."""
        start = (
            "" if since is None else (datetime.now(UTC) - since).replace(tzinfo=None).isoformat()
        )
        total = self._database.row(
            "SELECT count(*) AS n FROM sessions WHERE last_activity_at >= ?", (start,)
        )
        rows = self._database.rows(
            "SELECT * FROM sessions WHERE last_activity_at >= ? "
            "ORDER BY last_activity_at DESC LIMIT ? OFFSET ?",
            (start, limit, offset),
        )
        count = int(total["n"]) if total else 0
        return {
            "sessions": [{**self._listed(row), "effective_status": _liveness(row)} for row in rows],
            "total": count,
            "limit": limit,
            "offset": offset,
            "has_more": offset + len(rows) < count,
        }

    def _listed(self, row: sqlite3.Row) -> dict[str, Any]:
        return {
            "session_id": row["id"],
            "user_id": self._owner_id,
            "dataset_id": row["dataset_id"],
            "agent_id": None,
            "status": "running",
            "started_at": row["started_at"],
            "last_activity_at": row["last_activity_at"],
            "ended_at": None,
            "tokens_in": 0,
            "tokens_out": 0,
            "cost_usd": 0.0,
            "embedding_tokens": 0,
            "embedding_cost_usd": 0.0,
            "error_count": 0,
            "last_model": None,
        }

    def promote(self, session_id: str, kind: str, dataset_id: str, node_set: str) -> bool:
        """Make the entries of one kind that were not promoted yet part of a dataset.

        Returns:
            Whether there were any.
        """
        with self._database.transaction() as connection:
            rows = connection.execute(
                "UPDATE entries SET promoted = 1 WHERE session_id = ? AND kind = ? "
                "AND promoted = 0 RETURNING id",
                (session_id, kind),
            ).fetchall()
            self._passages.move([row["id"] for row in rows], dataset_id, [node_set])
        return bool(rows)

    def empty(self, dataset_id: str | None) -> None:
        """Delete the entries of all sessions bound to a dataset, or of all sessions.

        The sessions themselves stay, bound as they were: the contract blocks their later entries
        until a dataset of the same name exists again.
        """
        with self._database.transaction() as connection:
            gone = connection.execute(
                "DELETE FROM entries WHERE session_id IN (SELECT id FROM sessions "
                "WHERE ? IS NULL OR dataset_id = ?) RETURNING id",
                (dataset_id, dataset_id),
            ).fetchall()
            for row in gone:
                self._passages.remove_source(row["id"])


def _liveness(row: sqlite3.Row) -> str:
    last = datetime.fromisoformat(row["last_activity_at"]).replace(tzinfo=UTC)
    return "abandoned" if datetime.now(UTC) - last > _IDLE else "running"


def shown(kind: str, entry_id: str, time: str, body: dict[str, Any]) -> dict[str, Any]:
    """An entry as session detail and recall show it; traces carry no time."""
    if kind == "qa":
        return {"time": time, "qa_id": entry_id, **body}
    return {"trace_id": entry_id, **body}


def passage_of(session_id: str, kind: str, body: dict[str, Any]) -> str:
    """The text under which an entry is found."""
    if kind == "qa":
        return (
            f"Session ID: {session_id}\n\nQuestion: {body['question']}\n\nAnswer: {body['answer']}"
        )
    lines = [f"Session ID: {session_id}", "", body["session_feedback"]]
    if body["method_params"]:
        lines.append(f"Input: {json.dumps(body['method_params'], ensure_ascii=False)}")
    if (value := body["method_return_value"]) not in (None, ""):
        told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"Output: {told}")
    return "\n".join(lines)

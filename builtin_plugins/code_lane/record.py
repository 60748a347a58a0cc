"""What is known of one indexed repository at one server, and when it is due again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from builtin_plugins.code_lane.repository import Repository
from cognee_hooks.services.answers import text_of
from cognee_hooks.services.names import canonical_uuid, safe_dataset_name
from cognee_hooks.services.statefile import finite

COMPLETED = "COMPLETED"
ERRORED = "ERRORED"
FIRST_PAUSE = 30.0
LONGEST_PAUSE = 900.0
SHORTEST_PAUSE = 20.0
"""Seconds between two submissions of a repository."""
REST = 5
"""So many times as long as its last run took, a repository is left alone at least."""
LONGEST_REST = 3600.0
LOST_AFTER = 3600.0
"""Seconds after which a run that nobody saw the end of no longer counts as running."""

_LONGEST_TEXT = 200
_MANY = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRecord:
    """A repository that was submitted.

    Attributes:
        base_url: The server that it was submitted to; another one knows nothing of it (W16).
        repository: Which.
        dataset: Its dataset.
        dataset_id: That dataset's UUID, or "".
        index_vectors: Whether its facts are embedded too.
        fingerprint: What its folder was like before it was submitted; "" for a URL, and after a
            failure, when it counts as changed.
        last_index_at: Epoch seconds of the last submission.
        last_status: ``COMPLETED``, ``ERRORED``, or the server's word at submission.
        last_status_at: Epoch seconds of that.
        last_seconds: How long the last run took that was seen to end.
        error_count: Failures in a row.
        last_error: What went wrong last, one line.
        last_error_at: Epoch seconds of that.
    """

    base_url: str
    repository: Repository
    dataset: str
    dataset_id: str = ""
    index_vectors: bool = False
    fingerprint: str = ""
    last_index_at: float = 0.0
    last_status: str = ""
    last_status_at: float = 0.0
    last_seconds: float = 0.0
    error_count: int = 0
    last_error: str = ""
    last_error_at: float = 0.0

    @property
    def pending(self) -> bool:
        """Whether it was submitted and not seen to end."""
        return bool(self.last_index_at) and self.last_status not in {COMPLETED, ERRORED}

    @property
    def built(self) -> bool:
        """Whether its last run was seen to end well."""
        return bool(self.last_index_at) and self.last_status == COMPLETED and not self.error_count

    def wait(self, now: float) -> float:
        """Return the seconds for which it is not submitted again unasked."""
        since = now - max(self.last_index_at, self.last_error_at)
        if since < 0:  # a clock that was set back
            return 0.0
        if self.error_count:
            return max(0.0, pause_after(self.error_count) - (now - self.last_error_at))
        if self.pending and since < LOST_AFTER:
            return LOST_AFTER - since
        rest = min(max(SHORTEST_PAUSE, REST * self.last_seconds), LONGEST_REST)
        return max(0.0, rest - (now - self.last_index_at))

    def failed(self, error: str, now: float) -> IndexRecord:
        """Return the record after a failure; the folder counts as changed."""
        return replace(
            self,
            fingerprint="",
            error_count=min(self.error_count + 1, _MANY),
            last_error=error[:_LONGEST_TEXT],
            last_error_at=now,
        )

    def ended(self, status: str, now: float) -> IndexRecord:
        """Return the record after a run was seen to end well or badly."""
        seen = replace(
            self,
            last_status=status,
            last_status_at=now,
            last_seconds=max(0.0, now - self.last_index_at),
        )
        return seen if status == COMPLETED else seen.failed("the server could not build it", now)

    def to_json(self) -> dict[str, Any]:
        """Return the form in the file, in the field names and units of the other plugins."""
        kind = "url" if self.repository.remote else "path"
        found: dict[str, Any] = {
            "base_url": self.base_url,
            "spec": self.repository.spec,
            "spec_kind": kind,
            "repo_root": "" if self.repository.remote else self.repository.spec,
            "dataset": self.dataset,
            "dataset_id": self.dataset_id,
            "index_vectors": self.index_vectors,
            "fingerprint": self.fingerprint,
            "last_index_at": _to_ms(self.last_index_at),
            "last_status": self.last_status,
            "last_status_at": _to_ms(self.last_status_at),
            "last_seconds": round(self.last_seconds, 3),
        }
        if self.error_count:
            found["error_count"] = self.error_count
            found["last_error"] = self.last_error
            found["last_error_at"] = _to_ms(self.last_error_at)
        return found

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> IndexRecord | None:
        """Read a record; None where it names no repository or a dataset that cannot be."""
        spec, dataset = text_of(found, "spec"), text_of(found, "dataset")
        remote = text_of(found, "spec_kind") == "url"
        named = dataset and dataset == safe_dataset_name(dataset)
        if not spec or not named or not (remote or spec.startswith("/")):
            return None
        return cls(
            base_url=text_of(found, "base_url"),
            repository=Repository(spec, remote),
            dataset=dataset,
            dataset_id=canonical_uuid(text_of(found, "dataset_id")),
            index_vectors=found.get("index_vectors") is True,
            fingerprint=text_of(found, "fingerprint")[:64],
            last_index_at=_of_ms(found.get("last_index_at")),
            last_status=text_of(found, "last_status")[:_LONGEST_TEXT],
            last_status_at=_of_ms(found.get("last_status_at")),
            last_seconds=min(max(0.0, finite(found.get("last_seconds"))), LONGEST_REST),
            error_count=min(max(0, int(finite(found.get("error_count")))), _MANY),
            last_error=text_of(found, "last_error")[:_LONGEST_TEXT],
            last_error_at=_of_ms(found.get("last_error_at")),
        )


def pause_after(failures: int) -> float:
    """Return the seconds between a failure, the n-th in a row, and the next try."""
    return min(FIRST_PAUSE * 2.0 ** (min(failures, _MANY) - 1), LONGEST_PAUSE)


def _to_ms(seconds: float) -> int:
    return int(seconds * 1000)


def _of_ms(value: object) -> float:
    return max(0.0, finite(value)) / 1000

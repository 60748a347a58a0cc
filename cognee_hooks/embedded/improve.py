"""Improve: session entries become lasting memory of a dataset.

Without a model there is nothing to extract or weigh, so only the two stages that persist entries do
something; the others report what a cognee server reports when they have nothing to do.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from typing import Any

from cognee_hooks.embedded.datasets import DatasetRow
from cognee_hooks.embedded.sessions import Sessions

_STAGES = (
    "feedback_weights",
    "persist_session_qa",
    "persist_agent_traces",
    "extract_agent_context",
    "distill_sessions",
    "update_user_preferences",
    "build_truth_subspace",
    "review_conflicts",
    "global_context_index",
)
_PERSIST = {
    "persist_session_qa": ("qa", "user_sessions_from_cache", "no_new_entries"),
    "persist_agent_traces": ("trace", "agent_trace_feedbacks", "no_new_trace_steps"),
}
_OFF = {
    "update_user_preferences": "personalization_disabled",
    "build_truth_subspace": "opt_in_disabled",
    "review_conflicts": "opt_in_disabled",
    "global_context_index": "opt_in_disabled",
}


def improve(
    sessions: Sessions, dataset: DatasetRow, session_ids: Sequence[str], *, background: bool = False
) -> dict[str, Any]:
    """Promote the new entries of some sessions into a dataset.

    Args:
        sessions: The session store.
        dataset: Where the entries go. As in the contract, they count as promoted afterwards even if
            this is not the session's own dataset.
        session_ids: The sessions; an unknown one has nothing new.
        background: Answer as a run that was only started. The work takes milliseconds and is done.

    Returns:
        The result object of the contract.
    """
    if not session_ids:
        skipped = [_stage(name, "skipped", _OFF.get(name, "no_session_ids")) for name in _STAGES]
        return _result(dataset, session_ids, skipped, "skipped")
    stages = [_run(sessions, name, dataset, session_ids) for name in _STAGES]
    if background:
        return {
            **_result(dataset, session_ids, [], "running"),
            "background": True,
            "finished": False,
        }
    return _result(dataset, session_ids, stages, "completed")


def turned_away(
    dataset: DatasetRow, session_ids: Sequence[str], *, rerun_requested: bool
) -> dict[str, Any]:
    """Return the result where another improve holds the dataset or one of the sessions.

    Args:
        dataset: The dataset.
        session_ids: The sessions.
        rerun_requested: Whether the holder makes one more pass over one of them.
    """
    skipped = [_stage(name, "skipped", "lock_held") for name in _STAGES]
    return _result(dataset, session_ids, skipped, "skipped") | {"rerun_requested": rerun_requested}


def _run(
    sessions: Sessions, name: str, dataset: DatasetRow, session_ids: Sequence[str]
) -> dict[str, Any]:
    if reason := _OFF.get(name):
        return _stage(name, "skipped", reason)
    if name not in _PERSIST:
        return _stage(name, "completed")
    kind, node_set, nothing_new = _PERSIST[name]
    began = time.monotonic()
    changed = [sessions.promote(each, kind, dataset.id, node_set) for each in session_ids]
    if not any(changed):
        return _stage(name, "already_completed", nothing_new)
    spent = int((time.monotonic() - began) * 1000)
    stage = _stage(name, "completed", counts={"sessions": sum(changed)}, duration_ms=spent)
    return {**stage, "run": _pipeline_run(dataset)}


def _pipeline_run(dataset: DatasetRow) -> dict[str, Any]:
    return {
        "status": "PipelineRunCompleted",
        "pipeline_run_id": str(uuid.uuid4()),
        "dataset_id": dataset.id,
        "dataset_name": dataset.name,
        "payload": None,
        "data_ingestion_info": None,
    }


def _stage(
    name: str,
    status: str,
    reason: str | None = None,
    *,
    counts: dict[str, int] | None = None,
    duration_ms: int = 0,
) -> dict[str, Any]:
    return {
        "stage": name,
        "status": status,
        "reason": reason,
        "error": None,
        "counts": counts or {},
        "duration_ms": duration_ms,
        "run": None,
    }


def _result(
    dataset: DatasetRow, session_ids: Sequence[str], stages: list[dict[str, Any]], status: str
) -> dict[str, Any]:
    return {
        "dataset_id": dataset.id,
        "dataset_name": dataset.name,
        "session_ids": list(session_ids),
        "stages": stages,
        "background": False,
        "finished": True,
        "error": None,
        "rerun_requested": False,
        "rerun_passes": [],
        "memify_run": {},
        "status": status,
    }

"""Which question an answer belongs to.

A prompt is parked until its answer comes, as a mapping that another process may find in a file: its
``question`` as it may be stored, the ``prompt_id`` under which it was announced, and where it was
asked. ``answered`` is the id of the latest turn that has its answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cognee_hooks.events import Stop
from cognee_hooks.session import Session


def goes_on(event: Stop, parked: Mapping[str, Any]) -> bool:
    """Tell whether a turn that has its answer goes on, as hooks of others can make it."""
    return bool(event.prompt_id) and event.prompt_id == parked.get("answered")


def is_awaited(event: Stop, parked: Mapping[str, Any]) -> bool:
    """Tell whether an answer may be the parked prompt's: where both have an id, it is the same."""
    announced = parked.get("prompt_id")
    return not announced or not event.prompt_id or announced == event.prompt_id


def question_of(event: Stop, parked: Mapping[str, Any], asked: Sequence[str]) -> str:
    """Return the question that is answered; "" where none is known that may be kept.

    Args:
        event: The answer.
        parked: The prompt that waits.
        asked: What the agent's own records say was asked, as it may be stored.
    """
    if event.questions:
        return next(filter(None, reversed(asked)), "")
    question = parked.get("question") if is_awaited(event, parked) else ""
    return question if isinstance(question, str) else ""


def left(event: Stop, parked: Mapping[str, Any], asked: Sequence[str]) -> dict[str, Any]:
    """Return what is parked once an answer has come; see `question_of`."""
    answered = {"answered": event.prompt_id} if event.prompt_id else {}
    if not is_awaited(event, parked):
        return {**parked, **answered}
    if event.questions and parked.get("question") and parked["question"] not in asked:
        # Announced under this turn, but no part of it: it gets a turn of its own, with another id.
        return {**parked, "prompt_id": "", **answered}
    return answered


def asked_in(parked: Mapping[str, Any], now: Session) -> Session:
    """Return the session in which a parked question was asked; its answer belongs there, too."""
    session_id, dataset = parked.get("session_id"), parked.get("dataset")
    if not (session_id and isinstance(session_id, str) and dataset and isinstance(dataset, str)):
        return now
    return replace(now, session_id=session_id, dataset=dataset)

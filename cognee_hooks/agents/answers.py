"""Writes the documents that agents read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cognee_hooks.redaction import sanitise


def document(answer: Mapping[str, Any]) -> str:
    """Return an object as JSON on one line, in ASCII.

    Half a surrogate pair, which some JSON readers refuse together with the whole document, becomes
    the replacement character.
    """
    return json.dumps(_whole(answer))


def hook_answer(event: str, context: str, notice: str) -> dict[str, Any]:
    """Return an answer in Claude Code's form, which several agents take.

    Args:
        event: Name of the hook event.
        context: Text for the model; "" for none.
        notice: One line for the person; "" for none.
    """
    answer: dict[str, Any] = {}
    if context:
        answer["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": context}
    if notice:
        answer["systemMessage"] = notice
    return answer


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return sanitise(value)
    if isinstance(value, Mapping):
        return {name: _whole(inner) for name, inner in value.items()}
    return value

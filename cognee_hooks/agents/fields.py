"""Reads fields out of an agent's payload, whose shape nobody guarantees."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cognee_hooks.results import Origin

_PATCH = "*** Begin Patch"


def text(payload: Mapping[str, Any], name: str) -> str:
    """Return a text field; "" where it is missing or something else."""
    value = payload.get(name)
    return value if isinstance(value, str) else ""


def flag(payload: Mapping[str, Any], name: str) -> bool:
    """Return a true-or-false field; False where it is missing or something else."""
    return payload.get(name) is True


def number(payload: Mapping[str, Any], name: str) -> float | None:
    """Return a number field; None where it is missing or something else."""
    value = payload.get(name)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def mapping(payload: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object field; empty where it is missing, and under ``value`` if something else."""
    value = payload.get(name)
    if isinstance(value, Mapping):
        return value
    return {} if value is None else {"value": value}


def blocks(payload: Mapping[str, Any], name: str) -> str:
    """Return the texts of a list of content blocks, one a line, or a plain text as it is.

    What a model thought before it spoke is left out.
    """
    value = payload.get(name)
    if not isinstance(value, list):
        return value if isinstance(value, str) else ""
    spoken = (each for each in value if isinstance(each, Mapping) and not flag(each, "thought"))
    return "\n".join(filter(None, (text(each, "text") for each in spoken)))


def decoded(value: Any) -> Any:
    """Return what a text holds that is JSON, and anything else as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def as_command(arguments: Any) -> Any:
    """Return arguments with a patch where Codex has it, and anything else as it is.

    A patch names files in its text. What looks for such names knows the argument ``command``, while
    some agents call a patch otherwise or send it alone.
    """
    inner = arguments.values() if isinstance(arguments, Mapping) else [arguments]
    patches = [each for each in inner if isinstance(each, str) and each.startswith(_PATCH)]
    return {"command": patches[0]} if patches else arguments


def origin(payload: Mapping[str, Any], conversation: str, cwd: str = "cwd") -> Origin:
    """Return where a payload comes from.

    Args:
        payload: What the agent sent.
        conversation: Name of the field that holds the agent's id of the conversation.
        cwd: Name of the field that holds the working directory.
    """
    folder = text(payload, cwd)
    return Origin(
        conversation=text(payload, conversation), cwd=folder if folder.startswith("/") else ""
    )

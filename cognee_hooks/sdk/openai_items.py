"""Reads and builds the items that the OpenAI Agents SDK passes around; knows nothing of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

MAX_DEPTH = 8
"""Levels of a tool's result that are looked at."""


def last_prompt(items: Sequence[Any]) -> str:
    """Return the text of the last message of the user; "" where there is none."""
    place = last_of_user(items)
    return "" if place is None else message_text(items[place])


def last_of_user(items: Sequence[Any], text: str | None = None) -> int | None:
    """Return where the last message of the user stands, or None.

    Args:
        items: Input items of a model call.
        text: Count only messages with this text.
    """
    for place in range(len(items) - 1, -1, -1):
        item = items[place]
        said = isinstance(item, Mapping) and item.get("role") == "user"
        if said and text in {None, message_text(item)}:
            return place
    return None


def message_text(message: Mapping[str, Any]) -> str:
    """Return the text of a message: its content, or the texts among the parts of its content."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, (list, tuple)) else []
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "\n".join(text for text in texts if isinstance(text, str))


def user_message(text: str) -> dict[str, Any]:
    """Return a message of the user.

    Recalled memory goes in with the user's authority, not with the developer's: it may quote
    anything that a tool once printed.
    """
    return {"role": "user", "content": text}


def arguments_of(text: str) -> Mapping[str, Any]:
    """Return a call's arguments, which a model wrote and which need not be JSON."""
    try:
        arguments = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return {"arguments": text}
    return arguments if isinstance(arguments, dict) else {"arguments": arguments}


def plain(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Return a JSON-like value for whatever a tool or an agent returned.

    Images and files become a mark: their bytes mean nothing to a memory of text.
    """
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if depth <= 0:
        return "…"
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json")
    if isinstance(value, Mapping):
        if value.get("type") in {"image", "file"}:
            return {"type": "text", "text": f"[{value['type']}]"}
        return {str(key): plain(each, depth - 1) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each, depth - 1) for each in value]
    return str(value)


def output_text(output: Any) -> str:
    """Return the text of an agent's final output; structured output becomes JSON."""
    value = plain(output)
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

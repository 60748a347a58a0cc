"""Tells whether an entry is one that a server lists, although servers change what they store.

A cognee 1.6 server keeps questions and answers as they are. Of a tool call it strips and cuts
texts, keeps 20 elements of each list and object, and turns numbers that are none into null. Both
sides are brought into this stored form before they are compared.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from itertools import islice
from typing import Any

MAX_TEXT = 1000
"""Characters that a server keeps of a text of a tool call; a longer one ends in three dots."""
MAX_ELEMENTS = 20
"""Elements that it keeps of each list and object."""
KINDS = ("qa", "trace")
"""Kinds of entries that can be recognised."""

_DOTS = "..."
_SEPARATOR = "\0"
_DIGEST = 16


def fingerprint(kind: str, entry: Mapping[str, Any]) -> str:
    """Return what an entry is recognised by, "" for kinds that cannot be.

    Args:
        kind: ``qa`` or ``trace``.
        entry: The entry as it is sent, or as the server lists it.
    """
    if kind == "qa":
        parts = ["qa", *(_text(entry.get(name)) for name in ("question", "answer", "context"))]
    elif kind == "trace":
        parts = [
            "trace",
            _short(_text(entry.get("origin_function")).strip()),
            _text(entry.get("status")),
            _canonical(entry.get("method_params") or {}),
            _canonical(entry.get("method_return_value")),
            _short(_text(entry.get("error_message")).strip()),
        ]
    else:
        return ""
    return _SEPARATOR.join(parts)


def digest(kind: str, entry: Mapping[str, Any]) -> str:
    """Return a short hash of the fingerprint, "" where there is none."""
    # A server fills in the status that an entry leaves out.
    text = fingerprint(kind, {"status": "success", **entry})
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_DIGEST] if text else ""


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else _canonical(value)


def _short(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - len(_DOTS)] + _DOTS


def _canonical(value: object) -> str:
    return json.dumps(
        _stored(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True, default=str
    )


def _stored(value: object) -> object:
    """Return a value as a server keeps it."""
    if isinstance(value, str):
        return _short(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, (list, tuple)):
        return [_stored(each) for each in value[:MAX_ELEMENTS]]
    if isinstance(value, Mapping):
        return {str(key): _stored(each) for key, each in islice(value.items(), MAX_ELEMENTS)}
    return value

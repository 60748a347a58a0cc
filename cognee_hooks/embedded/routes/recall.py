"""Recall."""

from __future__ import annotations

from typing import Any

from cognee_hooks.embedded.call import Call
from cognee_hooks.embedded.memory import Memory
from cognee_hooks.embedded.recall import parse


def recall(memory: Memory, call: Call) -> list[dict[str, Any]]:
    """``POST /api/v1/recall``: a list of items."""
    return memory.recall.answer(parse(call.body))

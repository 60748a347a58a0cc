"""Recall."""

from __future__ import annotations

from typing import Any

from cognee_hooks.embedded.call import RouteCall
from cognee_hooks.embedded.memory import EmbeddedMemory
from cognee_hooks.embedded.recall import parse


def recall(memory: EmbeddedMemory, call: RouteCall) -> list[dict[str, Any]]:
    """``POST /api/v1/recall``: a list of items."""
    return memory.recall.answer(parse(call.body))

"""What the model is told about the tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from builtin_plugins.memory.choices import MAX_TOP_K, NODE_SETS, SEARCH_TYPES

_LIMIT = "Answers hold at most 4000 bytes."
_DATASET = {
    "type": "string",
    "description": "Name or UUID of a dataset; the session's own where it is left out.",
}
_TOP_K = {"type": "integer", "minimum": 1, "maximum": MAX_TOP_K, "description": "Passages at most."}
_TYPE = {
    "type": "string",
    "enum": list(SEARCH_TYPES),
    "description": "How to search; leave it out unless you have a reason.",
}


def _object(required: list[str], **properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


REMEMBER = _object(
    [],
    content={"type": "string", "description": "The text to remember, in full sentences."},
    file={
        "type": "string",
        "description": "Path of a text file to remember instead; remembered again after a change "
        "it takes the place of what was there.",
    },
    node_set={
        "type": "string",
        "enum": list(NODE_SETS),
        "description": "What it is about: the user, the project's documents, or what agents did.",
    },
    dataset=_DATASET,
    create={"type": "boolean", "description": "Create the dataset where it does not exist."},
)
REMEMBER_WHEN = (
    "Store something in lasting memory: a preference, decision, convention or correction that "
    "later sessions should know, or what the user explicitly asks to remember. Not ordinary turns, "
    f"which are kept anyway, nor passing details, nor secrets. {_LIMIT}"
)

RECALL = _object(
    ["query"],
    query={"type": "string", "description": "What to look for."},
    search_type=_TYPE,
    session_only={
        "type": "boolean",
        "description": "Show the last turns of this session as the server keeps them instead.",
    },
    top_k=_TOP_K,
)
SEARCH = _object(
    ["query"],
    query={"type": "string", "description": "What to look for."},
    top_k=_TOP_K,
    dataset=_DATASET,
    search_type=_TYPE,
)

FORGET = _object(
    ["dataset"],
    dataset={"type": "string", "description": "Name or UUID of the dataset."},
    data_id={"type": "string", "description": "UUID of the one item to delete."},
    entire_dataset={"type": "boolean", "description": "Delete the dataset and all that is in it."},
)
FORGET_WHEN = (
    "Delete wrong or sensitive memories for good, only when the user explicitly asks for it. Name "
    "the scope to the user first; the person is asked to confirm before anything is deleted. "
    f"{_LIMIT}"
)


def recall_when(federated: int) -> str:
    """Return when to recall.

    Args:
        federated: Datasets that are read instead of the session's own; 0 where there are none.
    """
    return (
        "Look up what earlier sessions stored: at the start of a task, when the user refers to "
        "earlier decisions, or before working something out again. Memory that fits a prompt is "
        f"recalled by itself already.{_federation(federated)} {_LIMIT}"
    )


def search_when(federated: int) -> str:
    """Return when to search; see `recall_when`."""
    return (
        "Search memory broadly, or another dataset than the session's own."
        f"{_federation(federated)} {_LIMIT}"
    )


def _federation(count: int) -> str:
    if not count:
        return ""
    return (
        f" Federated reads are configured (COGNEE_PLUGIN_READ_DATASET_IDS): {count} dataset(s) are "
        "searched instead of the session's own, and an explicit dataset cannot narrow that; writes "
        "and the session stay where they are."
    )

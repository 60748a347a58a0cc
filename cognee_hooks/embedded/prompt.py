"""The text of a recalled item: the prompt frame of the cognee 1.6 HTTP contract.

A hybrid item's ``text`` is the whole user prompt that a cognee server would send to its model.
Clients cut the memory out of it by this frame, so it is reproduced to the character.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SYSTEM_PROMPT = "Answer the question using the provided context. Be as brief as possible."

_INSTRUCTION = (
    "Answer using this sectioned context. Keep the answer brief and do not use information outside "
    "the context."
)


def context(passages: Sequence[str]) -> str:
    """The sections between the frame's backticks."""
    return "## Relevant passages\n" + "\n---\n".join(passages)


def hybrid(query: str, passages: Sequence[str], turns: Sequence[Mapping[str, Any]] = ()) -> str:
    """The prompt of a hybrid item.

    Args:
        query: The query, verbatim.
        passages: What was found, best first.
        turns: Earlier questions and answers of the session (``time``, ``question``, ``answer``).

    Returns:
        The prompt; texts are inserted verbatim, nothing is escaped.
    """
    frame = f"The question is: `{query}`\n{_INSTRUCTION}\n\nContext:\n`{context(passages)}`"
    if not turns:
        return frame
    told = "\n\n".join(
        f"[{turn['time']}]\nQUESTION: {turn['question']}\nANSWER: {turn['answer']}"
        for turn in turns
    )
    return f"Previous conversation:\n\n{told}\n\n\n\n{frame}"

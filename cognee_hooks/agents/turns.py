"""Pairs what was said in a conversation into turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from cognee_hooks.agents.fields import text
from cognee_hooks.events import Turn
from cognee_hooks.injection import strip_injected

MAX_TURNS = 12
"""Turns of a conversation that are looked for, the latest ones."""
MAX_CHARS = 16 * 1024
"""Characters of one text; what uses turns shows far less of them."""


def _nobody(_: str) -> bool:
    return False


def turns_of(
    said: Iterable[tuple[str, str]], machine_made: Callable[[str], bool] = _nobody
) -> tuple[Turn, ...]:
    """Return the latest turns, the oldest of them first.

    A turn begins with what the user wrote, and the model's last text in it is the answer. Commands,
    and what the agent wrote in the user's place, begin turns that are left out together with their
    answers. Blocks that we put into the conversation ourselves are taken out.

    Args:
        said: Who spoke (``user`` or ``assistant``; others are passed over) and what, the latest
            first. No more is read of it than is needed.
        machine_made: Tells whether a text of the user's was written by the agent.
    """
    turns: list[Turn] = []
    answer = ""
    for role, words in said:
        own_words = strip_injected(words).strip()
        if words.strip() and not own_words:
            continue  # nothing but a block of ours
        if role == "assistant":
            answer = answer or own_words[:MAX_CHARS]
        elif role == "user":
            if own_words and not own_words.startswith("/") and not machine_made(own_words):
                turns.append(Turn(question=own_words[:MAX_CHARS], answer=answer))
            answer = ""
        if len(turns) == MAX_TURNS:
            break
    return tuple(reversed(turns))


def spoken(payload: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield who said what, the latest first, from ``messages`` as extensions of ours send them."""
    messages = payload.get("messages")
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, Mapping):
            yield text(message, "role"), text(message, "text")

"""Renders recalled memory, or the reason why there is none, for the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cognee_hooks.framing import DATA_NOTE, FOOTER, HEADER, choose, clip, harmless
from cognee_hooks.services.passages import RecalledMemory


@dataclass(frozen=True, slots=True)
class Block:
    """A finished section.

    Attributes:
        text: "" where there is nothing to tell.
        hits: Passages inside; where there are none, facts.
    """

    text: str
    hits: int


def memory_block(memory: RecalledMemory, max_chars: int) -> tuple[list[str], int]:
    """Choose what to tell within ``max_chars``: passages first, whole, then facts.

    Only where no passage fits whole is the first one clipped.

    Returns:
        The texts and how many of them count as hits.
    """
    passages = [text for each in memory.passages if (text := harmless(each))]
    facts = [text for each in memory.facts if (text := harmless(each))]
    chosen = choose(passages, max_chars)
    if passages and not chosen:
        chosen = [clip(passages[0], max_chars)]
    room = max_chars - sum(map(len, chosen))
    chosen_facts = choose(facts, room)
    return chosen + [f"- {each}" for each in chosen_facts], len(chosen) or len(chosen_facts)


def wrapped(texts: Sequence[str], *preface: str) -> str:
    """Put texts between our header and footer; "" where there are none."""
    if not texts:
        return ""
    return "\n".join([HEADER, *(line for line in preface if line), *texts, FOOTER])


def stats_line(hits: int, turns_with_hits: int, turns: int) -> str:
    """Return the line that tells how useful memory has been in this session."""
    return (
        f"Cognee memory: {hits} memory hits · {turns_with_hits}/{turns} turns had hits this session"
    )


def outage_line(reason: str, waiting: int = 0) -> str:
    """Return the one line that tells the model that memory was asked for and not had."""
    tail = f" · {waiting} awaiting replay" if waiting else ""
    return f"=== Cognee memory: recall skipped ({reason}){tail} ==="


def lane_block(name: str, texts: Sequence[str], max_chars: int) -> Block:
    """Render what a further lane found."""
    chosen = choose([harmless(each) for each in texts], max_chars)
    if not chosen:
        return Block("", 0)
    title = harmless(name).replace("\n", " ").strip("= ")
    body = [f"=== Cognee memory: {title} ===", DATA_NOTE, *chosen, FOOTER]
    return Block("\n".join(body), len(chosen))

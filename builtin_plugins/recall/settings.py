"""Options of the recall plugin."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from cognee_hooks import Narrow, option
from cognee_hooks.configuration.values import FALSE_WORDS, TRUE_WORDS


class Counts(StrEnum):
    """What the status line says about recall."""

    DEFAULT = "default"
    """Hits of the last turn, and how many turns had hits."""
    FULL = "full"
    """Hits of the last turn from the graph and from code and other lanes."""
    OFF = "off"


def to_counts(raw: str) -> Counts:
    """Parse what the status line says: full, default or a true word, off or a false word."""
    word = raw.strip().lower()
    if word == Counts.FULL:
        return Counts.FULL
    if word in FALSE_WORDS:
        return Counts.OFF
    if word == Counts.DEFAULT or word in TRUE_WORDS:
        return Counts.DEFAULT
    raise ValueError("must be default, full or off")


@dataclass(frozen=True)
class RecallSettings:
    """What a user may choose about recall."""

    enabled: bool = option(
        default=True,
        env="COGNEE_RECALL",
        narrow=Narrow.SWITCH_OFF,
        help="Recall memory before each prompt.",
    )
    max_chars: int = option(
        default=2000,
        env="COGNEE_CONTEXT_MAX_CHARS",
        minimum=100,
        help="Most characters of memory in one prompt's context.",
    )
    top_k: int = option(
        default=5,
        env="COGNEE_RECALL_TOP_K",
        minimum=1,
        help="Passages that the server looks for.",
    )
    max_query_bytes: int = option(
        default=4000,
        env="COGNEE_RECALL_MAX_QUERY_BYTES",
        minimum=16,
        help="Longest query in UTF-8 bytes; longer prompts are cut after redaction.",
    )
    warm_up: bool = option(
        default=True,
        env="COGNEE_RECALL_WARM_UP",
        narrow=Narrow.SWITCH_OFF,
        help="Open the dataset at session start, so that the first prompt does not wait for it.",
    )
    dataset_hint: bool = option(
        default=True,
        env="COGNEE_RECALL_DATASET_HINT",
        narrow=Narrow.SWITCH_OFF,
        help="Say once where nothing is found time and again, and another dataset holds memory.",
    )
    status_counts: Counts = option(
        default=Counts.DEFAULT,
        env="COGNEE_STATUSLINE_COUNTS",
        parse=to_counts,
        help="What the status line says of recall: default, full (hits by source) or off.",
    )

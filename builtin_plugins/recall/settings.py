"""Options of the recall plugin."""

from __future__ import annotations

from dataclasses import dataclass

from cognee_hooks import Narrow, option


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

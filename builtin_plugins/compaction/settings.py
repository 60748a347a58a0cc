"""Options of the compaction plugin."""

from __future__ import annotations

from dataclasses import dataclass

from cognee_hooks import Narrow, option


@dataclass(frozen=True)
class CompactionSettings:
    """What a user may choose about compactions."""

    enabled: bool = option(
        default=True,
        env="COGNEE_COMPACTION_ANCHOR",
        narrow=Narrow.SWITCH_OFF,
        help="After a compaction, remind the model of what was dropped, with the next prompt.",
    )
    max_bytes: int = option(
        default=6000,
        env="COGNEE_COMPACTION_MAX_BYTES",
        minimum=500,
        help="Longest reminder in UTF-8 bytes; the agent's own limit holds as well.",
    )
    top_k: int = option(
        default=3,
        env="COGNEE_COMPACTION_TOP_K",
        minimum=1,
        help="Passages that the server looks for beside what was said.",
    )

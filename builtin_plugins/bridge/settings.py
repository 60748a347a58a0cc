"""Options of the bridge. How much it keeps is the core's ``buffer_limit``."""

from __future__ import annotations

from dataclasses import dataclass

from cognee_hooks import option


@dataclass(frozen=True)
class BridgeSettings:
    """What a user may choose about the bridge."""

    drain_budget_ms: int = option(
        default=20_000,
        env="COGNEE_DRAIN_BUDGET_MS",
        minimum=1000,
        help="Longest that one round of sending what waits goes on.",
    )
    keep_days: int = option(
        default=30,
        env="COGNEE_BRIDGE_KEEP_DAYS",
        minimum=1,
        help="After so many days untouched, entries that were never sent are put aside.",
    )

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
    backoff_ms: int = option(
        default=60_000,
        env="COGNEE_BRIDGE_BACKOFF_MS",
        minimum=100,
        help="Pause of a session's entries after the server refused the oldest; it doubles with "
        "each refusal, up to an hour.",
    )
    settle_ms: int = option(
        default=45_000,
        env="COGNEE_BRIDGE_SETTLE_MS",
        minimum=100,
        help="After a write that got no answer, the server may so long still be storing it; until "
        "then it is only looked for, not sent again.",
    )
    keep_days: int = option(
        default=30,
        env="COGNEE_BRIDGE_KEEP_DAYS",
        minimum=1,
        help="After so many days untouched, entries that were never sent are put aside.",
    )

"""Options of the sync plugin."""

from __future__ import annotations

from dataclasses import dataclass

from cognee_hooks import Narrow, option


@dataclass(frozen=True)
class SyncSettings:
    """What a user may choose about sync. The names are those of the other cognee plugins."""

    auto_every: int = option(
        default=150,
        env="COGNEE_AUTO_IMPROVE_EVERY",
        minimum=0,
        help="Turn a session into lasting memory after so many new entries; 0 for never.",
    )
    idle: bool = option(
        default=True,
        env="COGNEE_IDLE_IMPROVE",
        narrow=Narrow.SWITCH_OFF,
        help="Turn a session into lasting memory when nothing happens for a while.",
    )
    idle_threshold_ms: int = option(
        default=60_000,
        env="COGNEE_IDLE_THRESHOLD_MS",
        minimum=1,
        help="How long that while is, counted from the end of a turn.",
    )
    cooldown_ms: int = option(
        default=1_800_000,
        env="COGNEE_IMPROVE_COOLDOWN_MS",
        minimum=0,
        help="Shortest time between two automatic syncs of a session, and after a failed one.",
    )
    submit_timeout_ms: int = option(
        default=60_000,
        env="COGNEE_IMPROVE_SUBMIT_TIMEOUT_MS",
        minimum=100,
        help="Longest wait until the server accepts a sync; its work is not waited for.",
    )
    final: bool = option(
        default=True,
        env="COGNEE_FINAL_SYNC",
        narrow=Narrow.SWITCH_OFF,
        help="Turn a session into lasting memory when it ends, within 4 s.",
    )

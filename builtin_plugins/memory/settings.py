"""Options of the memory plugin."""

from __future__ import annotations

from dataclasses import dataclass

from cognee_hooks import Narrow, option


@dataclass(frozen=True)
class MemorySettings:
    """What a user may choose about remembering, searching and forgetting by hand."""

    wait_seconds: float = option(
        default=8.0,
        env="COGNEE_REMEMBER_WAIT_SECONDS",
        minimum=0,
        help="How long a remember waits to hear that the text can be found.",
    )
    background: bool = option(
        default=True,
        env="COGNEE_REMEMBER_BACKGROUND",
        help="Have the server answer a remember at once; otherwise when it has built the memory.",
    )
    build_timeout_ms: int = option(
        default=120_000,
        env="COGNEE_REMEMBER_BUILD_TIMEOUT_MS",
        minimum=1000,
        help="Longest wait for what the server builds before it answers, such as a changed file.",
    )
    deny_paths: tuple[str, ...] = option(
        default=(),
        env=("COGNEE_REMEMBER_DENY_PATHS", "COGNEE_CAPTURE_DENY_PATHS"),
        narrow=Narrow.ADD,
        help="Files that are never remembered, besides the built-in list; globs.",
    )

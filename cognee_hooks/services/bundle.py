"""The services of one host, made from its settings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cognee_hooks.deadline import Clock
from cognee_hooks.services.bindings import Bindings
from cognee_hooks.services.breaker import CircuitBreaker
from cognee_hooks.services.client import CogneeClient
from cognee_hooks.services.health import HealthMonitor
from cognee_hooks.services.keys import Key, KeyChain
from cognee_hooks.services.paths import Paths

if TYPE_CHECKING:
    from cognee_hooks.core_settings import CoreSettings, Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What plugins and host share.

    Attributes:
        mode: Which server, and why that one.
        paths: Where files lie.
        keys: Where the API key comes from.
        client: The cognee server.
        bindings: Which dataset sessions use after somebody switched.
        health: What is known of the connection.
        breaker: Pauses recall when the server keeps failing.
    """

    mode: Mode
    paths: Paths
    keys: KeyChain
    client: CogneeClient
    bindings: Bindings
    health: HealthMonitor
    breaker: CircuitBreaker


def make_services(
    core: CoreSettings,
    mode: Mode,
    paths: Paths,
    *,
    key_source: str,
    clock: Clock,
    client: CogneeClient | None = None,
) -> Services:
    """Make the services; nothing is connected or written yet.

    Args:
        core: The core's options.
        mode: Which server.
        paths: Where files lie, where no option says otherwise.
        key_source: Where the configured key stands, for people.
        clock: Monotonic seconds.
        client: Replaces the client, for dry runs.
    """
    keys = KeyChain(
        mode.url,
        Key(core.api_key, key_source) if core.api_key else None,
        cache_path=_path(core.api_key_cache, paths.api_key_cache, paths),
        email=core.user_email,
        password=core.user_password,
        agent=paths.agent,
        clock=clock,
    )
    chosen = client or CogneeClient(mode.url, keys)
    return Services(
        mode=mode,
        paths=paths,
        keys=keys,
        client=chosen,
        bindings=Bindings(
            path=paths.active_dataset_file,
            sessions_dir=paths.sessions_dir,
            base_url=mode.url,
            key=lambda: key.value if (key := keys.known()) is not None else None,
        ),
        health=HealthMonitor(chosen, probe_seconds=core.health_timeout_ms / 1000, clock=clock),
        breaker=CircuitBreaker(
            mode.url,
            _path(core.breaker_file, paths.breaker_file, paths),
            threshold=core.breaker_threshold,
            window=core.breaker_window_ms / 1000,
            cooldown=core.breaker_cooldown_ms / 1000,
            clock=clock,
        ),
    )


def _path(chosen: str, default: Path, paths: Paths) -> Path:
    if not chosen:
        return default
    return paths.home / chosen.removeprefix("~/") if chosen.startswith("~/") else Path(chosen)

"""Options of bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from cognee_hooks import Narrow, option

DEFAULT_PYTHON = "3.12"
"""What cognee is run on if it can be had; else the Python that runs us."""


class ServerKind(StrEnum):
    """Which server is run."""

    COGNEE = "cognee"
    EMBEDDED = "embedded"


@dataclass(frozen=True)
class BootstrapSettings:
    """What a user may choose. The names are those of the other cognee plugins, where they have one.

    Times are in seconds, as in those.
    """

    enabled: bool = option(
        default=True,
        env="COGNEE_LOCAL_BOOTSTRAP",
        narrow=Narrow.SWITCH_OFF,
        help="Install and start a local server by itself, where no server is named and "
        "LLM_API_KEY is set.",
    )
    server: ServerKind = option(
        default=ServerKind.COGNEE,
        env="COGNEE_LOCAL_SERVER",
        help="Which server to run locally: cognee, or embedded, which is small, finds words and "
        "no meaning, and needs no model.",
    )
    python: str = option(
        default=DEFAULT_PYTHON,
        env="COGNEE_PLUGIN_PYTHON",
        help="Python for cognee's environment: a version or a path. Where the default cannot be "
        "had, the Python that runs cognee-hooks takes its place.",
    )
    install_timeout: int = option(
        default=600,
        env="COGNEE_INSTALL_TIMEOUT",
        minimum=1,
        help="Longest that one step of installing cognee may take, in seconds.",
    )
    boot_deadline: int = option(
        default=600,
        env="COGNEE_SERVER_BOOT_DEADLINE",
        minimum=1,
        help="Longest that a started server may take until it is healthy, in seconds.",
    )
    reprobe_delay: float = option(
        default=3.0,
        env="COGNEE_PRESENCE_REPROBE_DELAY",
        minimum=0,
        help="Pause before looking again whether really no server is there, in seconds.",
    )
    log_max_bytes: int = option(
        default=20_971_520,
        env="COGNEE_PLUGIN_LOG_MAX_BYTES",
        minimum=0,
        help="Size at which the log of installing and starting is put aside; 0 for never.",
    )

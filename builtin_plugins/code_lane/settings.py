"""Options of the code lane."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from cognee_hooks import Narrow, option
from cognee_hooks.configuration.values import FALSE_WORDS, TRUE_WORDS


class AutoIndex(StrEnum):
    """Which repositories are indexed without being asked for."""

    OFF = "off"
    """None. One that was indexed by hand is still kept fresh."""
    AUTO = "auto"
    """Small ones, where the server runs on this machine."""
    ALWAYS = "always"
    """Large ones too, up to a fixed limit."""


def to_auto_index(raw: str) -> AutoIndex:
    """Parse the mode: off or a false word, always or a true word; all else is auto."""
    word = raw.strip().lower()
    if word == AutoIndex.ALWAYS or word in TRUE_WORDS:
        return AutoIndex.ALWAYS
    return AutoIndex.OFF if word in FALSE_WORDS else AutoIndex.AUTO


@dataclass(frozen=True)
class CodeLaneSettings:
    """What a user may choose about the code graph."""

    enabled: bool = option(
        default=True,
        env="COGNEE_CODE_LANE",
        narrow=Narrow.SWITCH_OFF,
        help="Answer prompts that name something in code from the code graph, and keep it fresh.",
    )
    autoindex: AutoIndex = option(
        default=AutoIndex.AUTO,
        env="COGNEE_CODE_AUTOINDEX",
        parse=to_auto_index,
        help="Index repositories when a session starts: off, auto (small ones, local server only) "
        "or always (larger ones too).",
    )
    max_files: int = option(
        default=100,
        env="COGNEE_CODE_AUTOINDEX_MAX_FILES",
        minimum=1,
        help="Source files of the largest repository that auto indexes.",
    )
    index_timeout_ms: int = option(
        default=120_000,
        env="COGNEE_CODE_INDEX_TIMEOUT_MS",
        minimum=1000,
        help="Longest wait until the server takes a repository on; its work is not waited for.",
    )
    max_chars: int = option(
        default=1000,
        env="COGNEE_CODE_MAX_CHARS",
        minimum=100,
        help="Most characters of facts about code in one prompt's context.",
    )

"""What the last look at the index found; one file for all agents, so that one look serves all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cognee_hooks.services.statefile import finite, read_object, update_json

EVERY_SECONDS = 24 * 3600.0
"""How long what was found is good for; a failure, too."""
AGAIN_SECONDS = 3600.0
"""When to look again after a session ended in the middle of it."""

_MAX_TEXT = 100
_SKEW_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRelease:
    """What was found.

    Attributes:
        at: When the last look ended, epoch seconds; 0.0 where there was none.
        release: The newest release, or "".
        problem: Why nothing could be found out, or "".
    """

    at: float = 0.0
    release: str = ""
    problem: str = ""


class RecordFile:
    """Reads and writes it.

    Args:
        path: The file, made 0600.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> FoundRelease:
        """Return what was found last."""
        document = read_object(self._path, max_bytes=10_000)
        return FoundRelease(
            at=finite(document.get("checked_at")),
            release=_text(document.get("latest")),
            problem=_text(document.get("problem")),
        )

    def claim(self, now: float) -> bool:
        """Take a look that is due upon us; False where none is due, or another process is at it.

        Args:
            now: Epoch seconds.

        Raises:
            OSError: It cannot be noted down, without which each session would look.
            TimeoutError: Another process holds the file.
        """
        ours = False

        def change(document: dict[str, Any]) -> Mapping[str, Any] | None:
            nonlocal ours
            ours = _over(document, "checked_at", EVERY_SECONDS, now) and _over(
                document, "asked_at", AGAIN_SECONDS, now
            )
            return {**document, "asked_at": now} if ours else None

        update_json(self._path, change, durable=False)
        return ours

    def write(self, found: FoundRelease) -> None:
        """Note what was found; after a failure what was found before stays.

        Raises:
            OSError: It cannot be written.
            TimeoutError: Another process holds the file.
        """
        new = {"checked_at": found.at, "problem": found.problem}
        if not found.problem:
            new["latest"] = found.release
        update_json(self._path, lambda document: {**document, **new}, durable=False)


def _over(document: Mapping[str, Any], name: str, seconds: float, now: float) -> bool:
    moment = finite(document.get(name))
    # One from the future comes from a clock that was set back, and would hold us for ever.
    return not now - seconds < moment <= now + _SKEW_SECONDS


def _text(value: object) -> str:
    return value[:_MAX_TEXT] if isinstance(value, str) else ""

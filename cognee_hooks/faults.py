"""What went wrong inside a host, counted: faults of plugins, dropped payloads, notices said once.

Nothing here ever holds a payload or an exception's message, since both may carry secrets.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from types import TracebackType

logger = logging.getLogger("cognee_hooks.faults")

QUARANTINE_AFTER = 5


class FaultType(StrEnum):
    """Faults that are not an exception of the plugin; exceptions use their type's name."""

    TIMEOUT = "timeout"
    RUBBISH = "rubbish"
    SLOW = "slow"
    WRAPPER = "wrapper"


@dataclass(frozen=True, slots=True)
class Fault:
    """One way in which one plugin failed in one hook.

    Attributes:
        plugin: Registered name.
        hook: Hook name.
        error_type: Exception type name or a `FaultType`.
        where: File name and line inside the plugin, or what it returned instead; "" if unknown.
        count: How often.
        first: First time, epoch seconds.
        last: Last time, epoch seconds.
    """

    plugin: str
    hook: str
    error_type: str
    where: str
    count: int
    first: float
    last: float


class Faults:
    """Counts faults and decides who is quarantined.

    Each fault is also logged as a warning on ``cognee_hooks.faults``, which is how a test suite
    makes swallowed faults loud.

    Args:
        clock: Epoch seconds.
        on_quarantine: Told once, with plugin and hook, when a plugin's hook is switched off.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.time,
        on_quarantine: Callable[[str, str], None] | None = None,
    ) -> None:
        self._clock = clock
        self._on_quarantine = on_quarantine
        self._faults: dict[tuple[str, str, str], Fault] = {}
        self._in_a_row: Counter[tuple[str, str]] = Counter()
        self._quarantined: set[tuple[str, str]] = set()

    def record(self, plugin: str, hook: str, error_type: str, where: str = "") -> None:
        """Count a fault; the fifth in a row of one plugin in one hook quarantines it there."""
        self._count(plugin, hook, error_type, where)
        logger.warning("plugin %s failed in %s: %s %s", plugin, hook, error_type, where)
        pair = plugin, hook
        self._in_a_row[pair] += 1
        if self._in_a_row[pair] >= QUARANTINE_AFTER and pair not in self._quarantined:
            self._quarantined.add(pair)
            logger.warning("plugin %s is switched off in %s for this session", plugin, hook)
            if self._on_quarantine is not None:
                self._on_quarantine(plugin, hook)

    def slow(self, plugin: str, hook: str) -> None:
        """Count a blocking call that held up the event loop; it does not lead to quarantine."""
        self._count(plugin, hook, FaultType.SLOW, "")
        logger.info("plugin %s held up the event loop in %s", plugin, hook)

    def success(self, plugin: str, hook: str) -> None:
        """End a row of faults."""
        self._in_a_row.pop((plugin, hook), None)

    def is_quarantined(self, plugin: str, hook: str) -> bool:
        """Whether the plugin is no longer called in this hook."""
        return (plugin, hook) in self._quarantined

    def rows(self, plugin: str | None = None) -> list[Fault]:
        """Return all faults, or those of one plugin, the latest first."""
        rows = [row for row in self._faults.values() if plugin in {None, row.plugin}]
        return sorted(rows, key=lambda row: row.last, reverse=True)

    def _count(self, plugin: str, hook: str, error_type: str, where: str) -> None:
        now = self._clock()
        key = plugin, hook, error_type
        known = self._faults.get(key)
        if known is None:
            self._faults[key] = Fault(plugin, hook, error_type, where, 1, now, now)
        else:
            self._faults[key] = replace(known, where=where, count=known.count + 1, last=now)


def innermost(traceback: TracebackType | None) -> str:
    """Return ``file.py:line`` of the frame that raised, without folders; "" without a traceback."""
    if traceback is None:
        return ""
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    name = traceback.tb_frame.f_code.co_filename.replace("\\", "/").rsplit("/", 1)[-1]
    return f"{name}:{traceback.tb_lineno}"


class DropReason(StrEnum):
    """Why a captured payload was not kept."""

    REDACTION_FAILED = "redaction_failed"
    """It could not be made safe."""
    DENIED_PATH = "denied_path"
    """It touches a file that is never captured."""
    TOOL_NOT_ALLOWED = "tool_not_allowed"
    """The tool is not on the list of captured tools."""
    OWN_TOOL = "own_tool"
    """It is a call of our own tools or commands."""
    REJECTED = "rejected"
    """The server refuses it for good."""
    QUEUE_OVERFLOW = "queue_overflow"
    """Too many entries were waiting."""
    SERVER_DOWN = "server_down"
    """The server could not be reached and no buffer is active."""


ON_PURPOSE = (DropReason.DENIED_PATH, DropReason.TOOL_NOT_ALLOWED, DropReason.OWN_TOOL)
"""Why something is left out that nobody wants to be kept; all other drops are losses."""


class Drops:
    """Counts dropped payloads by reason. Nothing is ever skipped without being counted here."""

    def __init__(self) -> None:
        self._counts: Counter[DropReason] = Counter()

    def count(self, reason: DropReason, times: int = 1) -> None:
        """Add dropped payloads."""
        self._counts[reason] += times

    def as_dict(self) -> dict[str, int]:
        """Return the non-zero counts by reason."""
        return {reason.value: n for reason, n in sorted(self._counts.items()) if n}

    @property
    def left_out(self) -> int:
        """Payloads that were left out on purpose."""
        return sum(self._counts[reason] for reason in ON_PURPOSE)

    @property
    def lost(self) -> int:
        """Payloads that are gone although they were to be kept."""
        return self._counts.total() - self.left_out


class NoticeLevel(StrEnum):
    """How a notice is shown."""

    INFO = "info"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Notice:
    """One line for the person at the agent."""

    level: NoticeLevel
    text: str


class Notices:
    """Collects notices until the agent can show them; each text is said once a session."""

    def __init__(self) -> None:
        self._said: set[str] = set()
        self._waiting: list[Notice] = []

    def say(self, text: str, level: NoticeLevel = NoticeLevel.WARNING) -> None:
        """Queue a notice, unless it was said before."""
        if text not in self._said:
            self._said.add(text)
            self._waiting.append(Notice(level, text))

    def forget(self, text: str) -> None:
        """Allow a notice to be said again, for a condition that ended."""
        self._said.discard(text)

    def take(self) -> list[Notice]:
        """Return the notices that wait, and clear them."""
        waiting, self._waiting = self._waiting, []
        return waiting

"""What hook implementations tell the model and people: context, status, checks, scrubbed places."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from cognee_hooks.typed import require


@dataclass(frozen=True, slots=True, kw_only=True)
class AdditionalContext:
    """Text for the model's context.

    Attributes:
        text: A finished section with its own header; untrusted parts already made harmless.
        priority: Sections are ordered by it, highest first; equal ones by plugin order. Where the
            agent's limit is short, the lowest go first.
        hits: Memory items inside, for the status line.
        lane: Where it comes from, for the ledger; the plugin's name where "".
    """

    text: str
    priority: int = 0
    hits: int = 0
    lane: str = ""

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, str, "text", "lane")
        require(self, int, "priority", "hits")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusSegment:
    """One part of the status line.

    Attributes:
        text: A few words, one line, without colours.
        priority: Position, highest first; where the line is too long the lowest go first. The
            default renderer never leaves out what has 90 or more.
        shorter: What to say instead where the line is too long, the longest first. Only after the
            last of them the segment is left out.
    """

    text: str
    priority: int = 0
    shorter: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, str, "text")
        require(self, int, "priority")
        require(self, tuple, "shorter")
        if not all(isinstance(each, str) for each in self.shorter):
            raise TypeError("StatusSegment.shorter must hold str only")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusRow:
    """One row of the ``cognee`` command and of ``cognee-hooks status``.

    Attributes:
        label: What it is about, a word or two.
        text: How it is, in one line.
    """

    label: str
    text: str

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, str, "label", "text")


class CheckStatus(StrEnum):
    """How a doctor check came out, best first."""

    OK = "ok"
    INFO = "info"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One row of ``cognee-hooks doctor``.

    Attributes:
        name: What was checked.
        status: How it came out.
        detail: What was found, in one line.
        remedy: What to do about it; "" where nothing is to be done.
    """

    name: str
    status: CheckStatus
    detail: str
    remedy: str = ""

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, str, "name", "detail", "remedy")
        require(self, CheckStatus, "status")

    @classmethod
    def off(cls, name: str, remedy: str) -> Self:
        """Return the row of a feature that is switched off, which is no fault.

        Args:
            name: The feature.
            remedy: What switches it on, and what for.
        """
        return cls(name=name, status=CheckStatus.INFO, detail="off", remedy=remedy)


class ScrubState(StrEnum):
    """What became of a leaked value in one place."""

    FOUND = "found"
    """It is there, and can be taken out."""
    CLEANED = "cleaned"
    """It was taken out."""
    LEFT = "left"
    """It is there and stays, or may be; a person has to see to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrubbed:
    """One place that holds, held or may hold a leaked value.

    Attributes:
        place: The file or the thing, for people; never the value.
        state: What became of it there.
        count: How often it is or was there; 0 where that cannot be told.
        detail: Why it stays and what to do, in one line; "" where all is well.
    """

    place: str
    state: ScrubState
    count: int = 0
    detail: str = ""

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, str, "place", "detail")
        require(self, int, "count")
        require(self, ScrubState, "state")

"""The values of redaction: what plugins register, what the gate lets through."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar, final

from cognee_hooks.typed import require, require_callable

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_SEAL = object()


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern in RE2 syntax, which matches in linear time whatever the text.

    Attributes:
        regex: The expression; no look-around, no back-references.
        label: Stands in the tag, ``[redacted:<label>]``.
        group: Number of the group that is cut out; 0 is the whole match.
    """

    regex: str
    label: str = "custom"
    group: int = 0

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, str, "regex", "label")
        require(self, int, "group")


@dataclass(frozen=True, slots=True)
class Redactor:
    """One member of the chain that every outgoing text passes.

    Attributes:
        name: Unique; decides the order among redactors.
        label: Label for its patterns that have none of their own.
        patterns: Patterns to cut out.
        function: Text in, text out. Runs on a thread of its own and must return within the time
            limit; anything but a text of about the same length closes the chain for that payload.
    """

    name: str
    label: str = "custom"
    patterns: tuple[Pattern, ...] = ()
    function: Callable[[str], str] | None = None

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type."""
        require(self, str, "name", "label")
        require(self, (tuple, list), "patterns")
        for pattern in self.patterns:
            if not isinstance(pattern, Pattern):
                raise TypeError("Redactor.patterns must hold Pattern values")
        if self.function is not None:
            require_callable(self, "function")


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that was cut, for people who ask why; never the text itself.

    Attributes:
        rule: Name of the rule or redactor.
        label: What the tag says.
        start: Where it began, in the text as that rule saw it.
        end: Where it ended.
    """

    rule: str
    label: str
    start: int
    end: int


@final
class Redacted(Generic[T_co]):
    """A value that is safe to leave the process.

    Only the pipeline can make one, and the services take nothing else, so a forgotten redaction is
    an error instead of a leak.
    """

    __slots__ = ("_value",)

    def __init__(self, value: T_co, seal: object) -> None:
        if seal is not _SEAL:
            raise TypeError("only the redaction pipeline makes Redacted values")
        self._value = value

    @property
    def value(self) -> T_co:
        """The safe value."""
        return self._value

    def __repr__(self) -> str:
        return "Redacted(…)"

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("Redacted values stay inside the process that made them")


def sealed(value: T) -> Redacted[T]:
    """Make a `Redacted`; for the pipeline alone."""
    return Redacted(value, _SEAL)

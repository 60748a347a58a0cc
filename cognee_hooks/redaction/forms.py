"""A pattern with a group ``value`` that is a secret, and what lets it be skipped at no cost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Form:
    """One syntax in which secrets are met.

    Attributes:
        name: Name of the rule.
        hints: Lower-case strings one of which every text of this form holds.
        pattern: What is looked for.
        random_only: Whether the value must look made by a machine.
    """

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    random_only: bool = False

    def matches(self, text: str, lowered: str) -> Iterator[re.Match[str]]:
        """Yield the places of a text; ``lowered`` is the same text in lower case."""
        if any(hint in lowered for hint in self.hints):
            yield from self.pattern.finditer(text)


def form(name: str, hints: str, pattern: str, *, random_only: bool = False) -> Form:
    """Make a row of a table of forms; hints are separated by blanks."""
    return Form(name, tuple(hints.lower().split()), re.compile(pattern, re.IGNORECASE), random_only)

"""Patterns of users and plugins, matched by RE2 in linear time whatever pattern and text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from cognee_hooks.redaction.spans import Span
from cognee_hooks.redaction.types import Pattern


class PatternSet:
    """Compiled patterns of one redactor.

    Args:
        name: Stands in hits.
        patterns: The patterns.

    Attributes:
        problem: Why a pattern cannot be used, in a sentence; "" where all can.
    """

    def __init__(self, name: str, patterns: Iterable[Pattern]) -> None:
        self._name = name
        self._compiled: list[tuple[Any, Pattern]] = []
        self.problem = ""
        for number, pattern in enumerate(patterns, start=1):
            compiled, problem = _compiled(pattern)
            if problem:
                self.problem = f"pattern {number} of {name} {problem}"
                return
            self._compiled.append((compiled, pattern))

    def find(self, text: str) -> Iterator[Span]:
        """Yield what the patterns match; the text must not hold lone surrogates."""
        for compiled, pattern in self._compiled:
            for match in compiled.finditer(text):
                start, end = match.span(pattern.group)
                if start < end:
                    yield Span(start, end, self._name, pattern.label)


def _compiled(pattern: Pattern) -> tuple[Any, str]:
    import re2

    options = re2.Options()
    # RE2 would print compile errors to standard error, the pattern included.
    options.log_errors = False
    try:
        compiled = re2.compile(pattern.regex, options)
    except re2.error as error:
        reason = error.args[0] if error.args else "not valid"
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        return None, f"is not valid in RE2 syntax ({text}); look-around and back-references are not"
    if not 0 <= pattern.group <= compiled.groups:
        return None, f"has no group {pattern.group}"
    return compiled, ""

"""Name patterns: ``*``, ``?``, ``[…]``, and ``[!…]`` or ``[^…]`` for what must not be there."""

from __future__ import annotations

import re
from collections.abc import Iterable


class Globs:
    """A set of patterns that are matched against whole names.

    ``*`` also matches ``/`` and line feeds, an opening bracket without its closing one stands for
    itself, and an empty class matches nothing. Matching takes time in proportion to the name, and
    to the length of the pattern, whatever the two are.

    Args:
        patterns: The patterns. One that cannot be used is left out and listed in ``bad``.
        ignore_case: Compare without regard to case.
    """

    def __init__(self, patterns: Iterable[str], *, ignore_case: bool = False) -> None:
        flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
        self.bad: list[str] = []
        good: list[str] = []
        for pattern in patterns:
            translated = _translated(pattern)
            try:
                re.compile(translated, flags)
            except re.error:
                self.bad.append(pattern)
            else:
                good.append(f"(?:{translated})")
        # One expression for all: command lines bring thousands of names to look at.
        self._any = re.compile("|".join(good) or "(?!)", flags)

    def match(self, name: str) -> bool:
        """Whether any pattern matches the whole name."""
        return self._any.fullmatch(name) is not None


def _translated(pattern: str) -> str:
    # What stands between two stars is taken where it comes first, and for good: trying all other
    # places can take for ever, and patterns come from strangers' repositories, too.
    first, *others = _between_stars(pattern)
    if not others:
        return first
    *middle, last = others
    taken = "".join(f"(?>.*?{each})" for each in middle if each)
    return f"{first}{taken}.*{last}"


def _between_stars(pattern: str) -> list[str]:
    parts = [""]
    position = 0
    while position < len(pattern):
        character = pattern[position]
        position += 1
        if character == "*":
            parts.append("")
        elif character == "?":
            parts[-1] += "."
        elif character == "[" and (end := pattern.find("]", position)) >= 0:
            parts[-1] += _class(pattern[position:end])
            position = end + 1
        else:
            parts[-1] += re.escape(character)
    return parts


def _class(body: str) -> str:
    negated = body[:1] in {"!", "^"}
    members = body[1:] if negated else body
    if not members:
        return "." if negated else "(?!)"
    escaped = re.sub(r"([\\\]\[^&~|])", r"\\\1", members).replace("--", r"-\-")
    return f"[{'^' if negated else ''}{escaped}]"

"""The built-in rules as one function: which stretches of a text are secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cognee_hooks.redaction import assignments, commands, markup, prose, structures
from cognee_hooks.redaction.shapes import is_placeholder_key, masked
from cognee_hooks.redaction.spans import Span, merge
from cognee_hooks.redaction.vendors import VENDOR_RULES

# Terminal colours and characters without width can stand in the middle of a secret.
_INVISIBLE = re.compile(r"\x1b\[[0-9;]{0,20}[mK]|[\u200b-\u200d\u2060\ufeff\u00ad]")

FINDERS = (
    *structures.FINDERS,
    commands.command_lines,
    markup.markup,
    markup.tables,
    prose.said,
    prose.kubernetes_secrets,
    prose.aws_secret_keys,
    assignments.find,
)
"""They look at the whole text, independently of each other."""


def find(text: str) -> list[Span]:
    """Return the secrets in a text, ordered and apart.

    Colour codes and characters without width are looked through.
    """
    if _INVISIBLE.search(text) is None:
        return merge(text, _all(text))
    kept, positions = _without_invisible(text)
    spans = [
        Span(positions[span.start], positions[span.end - 1] + 1, span.rule, span.label)
        for span in merge(kept, _all(kept))
    ]
    return merge(text, spans)


def _all(text: str) -> Iterator[Span]:
    text = masked(text)
    for rule in VENDOR_RULES:
        if any(hint in text for hint in rule.hints):
            for match in rule.pattern.finditer(text):
                if not is_placeholder_key(match[0]):
                    yield Span(*match.span(match.lastindex or 0), rule.name, rule.name)
    for finder in FINDERS:
        yield from finder(text)


def _without_invisible(text: str) -> tuple[str, list[int]]:
    """Return the text without what cannot be seen, and where each character stood before."""
    parts: list[str] = []
    positions: list[int] = []
    position = 0
    for match in _INVISIBLE.finditer(text):
        parts.append(text[position : match.start()])
        positions.extend(range(position, match.start()))
        position = match.end()
    parts.append(text[position:])
    positions.extend(range(position, len(text)))
    return "".join(parts), positions

"""The built-in rules as one function: which stretches of a text are secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cognee_hooks.redaction import assignments, commands, markup, prose, structures
from cognee_hooks.redaction.shapes import is_placeholder_key, masked
from cognee_hooks.redaction.spans import Span, merge
from cognee_hooks.redaction.vendors import VENDOR_RULES

# Terminal colours and characters without width can stand in the middle of a secret.
_INVISIBLE = re.compile(r"\x1b\[[0-9;]{0,20}[mK]|[\u200b-\u200d\u2060\ufeff\u00ad]")
# What JSON and most languages write for characters that rules care about.
_ESCAPE = re.compile(
    r"\\(?:u001[bB]|x1[bB]|033|e)\[[0-9;]{0,20}[mK]"
    r"|\\(?:[\"'/\\nrt]|u00(?:2[267]|3[cdeCDE]|0[aA]))"
)
_LINE_WITH_ESCAPE = re.compile(r"^[^\n\\]*\\.*\n?", re.MULTILINE)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_MAX_LAYERS = 2
"""So often text may stand in a string in a string."""

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


def find_secrets(text: str) -> list[Span]:
    """Return the secrets in a text, ordered and apart.

    Colour codes and characters without width are looked through. Text that stands in a string with
    escaped quotes is also looked at as it was before somebody put it there.
    """
    view = _View(text, range(len(text)), range(1, len(text) + 1))
    if _INVISIBLE.search(text) is not None:
        view = view.without(_INVISIBLE)
    spans = view.secrets()
    for _ in range(_MAX_LAYERS):
        if _ESCAPE.search(view.text) is not None:
            view = view.lines_with_escapes().without(_ESCAPE)
            spans += view.secrets()
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


@dataclass(frozen=True, slots=True)
class _View:
    """A text as rules see it, and where each of its characters stands in the original.

    Attributes:
        text: What rules see.
        starts: Where each character begins.
        ends: Where it ends, which differs by more than one for an escaped character.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def without(self, pattern: re.Pattern[str]) -> _View:
        """Return a view in which matches are replaced by what they mean."""
        parts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        position = 0
        for match in pattern.finditer(self.text):
            start, end = match.span()
            parts.append(self.text[position:start])
            starts += self.starts[position:start]
            ends += self.ends[position:start]
            if meaning := _meaning(match[0]):
                parts.append(meaning)
                starts.append(self.starts[start])
                ends.append(self.ends[end - 1])
            position = end
        parts.append(self.text[position:])
        starts += self.starts[position:]
        ends += self.ends[position:]
        return _View("".join(parts), starts, ends)

    def lines_with_escapes(self) -> _View:
        """Return a view of these lines alone; the others would look the same again."""
        parts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        for line in _LINE_WITH_ESCAPE.finditer(self.text):
            start, end = line.span()
            parts.append(line[0])
            starts += self.starts[start:end]
            ends += self.ends[start:end]
        return _View("".join(parts), starts, ends)

    def secrets(self) -> list[Span]:
        """Return the secrets that rules see, by where they stand in the original."""
        return [
            Span(self.starts[span.start], self.ends[span.end - 1], span.rule, span.label)
            for span in merge(self.text, _all(self.text))
        ]


def _meaning(match: str) -> str:
    if match[0] != "\\" or match[-1] in "mK":
        return ""
    if match.startswith("\\u"):
        return chr(int(match.removeprefix("\\u"), base=16))
    return _ESCAPED.get(match[1], match[1])

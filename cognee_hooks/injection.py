"""Puts what plugins found for a prompt into one text for the model."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cognee_hooks.printable import clean
from cognee_hooks.redaction import cut
from cognee_hooks.results import AdditionalContext

_SEPARATOR = "\n\n"
_HEADER = re.compile(r"=== (?:Cognee memory|Code graph facts)\b.* ===\Z")
_FOOTER = re.compile(r"=== End (?:Cognee memory|Code graph facts) ===\Z")
_OUTAGE = re.compile(r"=== Cognee memory: recall skipped \((?=.*\)).* ===\Z")


def strip_injected(prompt: str) -> str:
    """Return a prompt without blocks of ours that came back inside it.

    Only whole blocks go, from a header line to the first footer line after it, and outage lines; a
    person who quotes a header, in prose or on a line of its own, is left alone. Takes time in
    proportion to the prompt, since anybody can write header lines into one.
    """
    if "===" not in prompt:
        return prompt
    kept: list[str] = []
    header: int | None = None
    for line in prompt.replace("\r\n", "\n").split("\n"):
        if header is not None and _FOOTER.match(line):
            del kept[header:]
            header = None
        elif not _OUTAGE.match(line):
            # Of two headers only the later one can belong to the footer that follows.
            header = len(kept) if _HEADER.match(line) else header
            kept.append(line)
    return "\n".join(kept)


def join_sections(sections: Iterable[AdditionalContext], max_bytes: int) -> str:
    """Join sections, highest priority first, into at most ``max_bytes`` UTF-8 bytes.

    A section that does not fit is left out whole, because half of one may mislead; only where not
    even the first fits is it cut.
    """
    chosen: list[str] = []
    left = max_bytes
    for section in sorted(sections, key=lambda each: -each.priority):
        text = clean(section.text).strip("\n")
        if not text:
            continue
        size = len(text.encode()) + (len(_SEPARATOR) if chosen else 0)
        if size <= left:
            chosen.append(text)
            left -= size
        elif not chosen:
            # Below three bytes `cut` keeps its dots whole; the agent's limit comes first.
            return cut(text, max_bytes)[:max_bytes]
    return _SEPARATOR.join(chosen)

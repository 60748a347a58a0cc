"""Puts what plugins found for a prompt into one text for the model."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cognee_hooks.redaction import cut, sanitise
from cognee_hooks.results import AdditionalContext

_SEPARATOR = "\n\n"
_SHORT_BYTES = 120
# Terminal escapes first, then every other control character but tab and line feed.
_UNPRINTABLE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])?"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)


def clean(text: str) -> str:
    """Return text that is safe to show to a model or a terminal.

    Lone surrogates, terminal escapes, control characters and marks that turn the writing direction
    go; carriage returns become line feeds; tabs and line feeds stay.
    """
    return _UNPRINTABLE.sub("", sanitise(text).replace("\r\n", "\n").replace("\r", "\n"))


_STYLE = re.compile(r"(\x1b\[[0-9;:]{0,40}m)")
_PLAIN = "\x1b[0m"


def one_line(text: str, *, colour: bool = False) -> str:
    """Return text on one line that is safe to show in a terminal; blanks are single.

    Args:
        text: Any text.
        colour: Whether sequences that set colours and styles stay; the line then ends without any
            in force.
    """
    parts = _STYLE.split(text) if colour else [text]
    safe = "".join(part if index % 2 else clean(part) for index, part in enumerate(parts))
    line = " ".join(safe.split())
    return line if len(parts) == 1 or line.endswith(_PLAIN) else line + _PLAIN


def brief(text: str) -> str:
    """Return a server's name or message on one line that is safe and short enough for a sentence.

    Args:
        text: Any text.
    """
    return cut(one_line(text), _SHORT_BYTES)


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

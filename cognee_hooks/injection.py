"""Puts what plugins found for a prompt into one text for the model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cognee_hooks.outcomes import Called, flat
from cognee_hooks.printable import clean
from cognee_hooks.redaction import cut
from cognee_hooks.results import AdditionalContext

WRAPPER = "wrapper"
"""Where a section comes from that nobody but a wrapper can have put there."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Injected:
    """A section as it goes into the model's context.

    Attributes:
        plugin: Whose it is; "" where a wrapper put it there.
        lane: Where it comes from, as the section says; else the plugin, or `WRAPPER`.
        text: The text, made printable.
        seconds: How long its plugin took to find it, with all else that it found.
    """

    plugin: str
    lane: str
    text: str
    seconds: float


def injected(called: Called, max_bytes: int) -> list[Injected]:
    """Return what of the sections that plugins found goes into the model's context.

    Args:
        called: The call of ``cognee_user_prompt_submit``.
        max_bytes: UTF-8 bytes that the agent takes.

    Returns:
        The sections, highest priority first. A section that does not fit is left out whole, because
        half of one may mislead; only where not even the first fits is it cut.
    """
    # A wrapper may have put others in their place; those are nobody's.
    owners = {
        id(section): outcome for outcome in called.outcomes for section in flat([outcome.result])
    }
    found: list[Injected] = []
    for section, text in _fitting(flat(called.value), max_bytes):
        owner = owners.get(id(section))
        plugin = owner.plugin if owner else ""
        found.append(
            Injected(
                plugin=plugin,
                lane=section.lane or plugin or WRAPPER,
                text=text,
                seconds=owner.seconds if owner else 0.0,
            )
        )
    return found


def joined(sections: Iterable[Injected]) -> str:
    """Return the text for the model's context that sections make up."""
    return _SEPARATOR.join(each.text for each in sections)


def _fitting(
    sections: Iterable[AdditionalContext], max_bytes: int
) -> Iterator[tuple[AdditionalContext, str]]:
    """Yield the sections that fit, each with its printable text."""
    left = max_bytes
    for section in sorted(sections, key=lambda each: -each.priority):
        text = clean(section.text).strip("\n")
        if not text:
            continue
        size = len(text.encode()) + (len(_SEPARATOR) if left < max_bytes else 0)
        if size <= left:
            yield section, text
            left -= size
        elif left == max_bytes:
            # Below three bytes `cut` keeps its dots whole; the agent's limit comes first.
            yield section, cut(text, max_bytes)[:max_bytes]
            return

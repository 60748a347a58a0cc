"""The prompts of a conversation, and what went into the model's context for each.

A live session's latest come from the daemon, with their text. The older ones, and those of sessions
that have ended, come from the ledger, which has sizes and times and no text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cognee_hooks.history.usage import tokens_of
from cognee_hooks.results import Act
from cognee_hooks.services.ledger_file import LedgerRow
from cognee_hooks.view.tidy import count, epoch_seconds, label, seconds, text

MAX_PROMPTS = 100
MAX_SECTIONS = 50

_ROUNDED = 0.001
"""Seconds to which the ledger's times are rounded."""


def prompts_of(told: Mapping[str, Any] | None, rows: Iterable[LedgerRow]) -> list[dict[str, Any]]:
    """Return the latest prompts, newest last.

    Args:
        told: What the daemon answered to ``prompts``; None where it does not serve the session.
        rows: The rows of the session's ledger, oldest first.
    """
    live = [_told(each) for each in _mappings((told or {}).get("prompts"))[-MAX_PROMPTS:]]
    known = [each["time"] for each in live if each["time"] is not None]
    first = min(known, default=float("inf")) - _ROUNDED
    earlier = [_recorded(each) for each in _grouped(rows) if each.time < first]
    return [*earlier, *live][-MAX_PROMPTS:]


@dataclass(slots=True)
class _RecordedPrompt:
    """What the ledger has of one prompt."""

    digest: str
    time: float
    seconds: float = 0.0
    injected: list[LedgerRow] = field(default_factory=list)

    def goes_on_with(self, row: LedgerRow) -> bool:
        """Tell whether a row is of this prompt: memory is asked first, and told of afterwards."""
        return row.prompt == self.digest and not (self.injected and row.act is Act.RECALLED)

    def add(self, row: LedgerRow) -> None:
        self.seconds = max(self.seconds, row.seconds or 0.0)
        if row.act is Act.INJECTED:
            self.injected.append(row)


def _grouped(rows: Iterable[LedgerRow]) -> list[_RecordedPrompt]:
    found: list[_RecordedPrompt] = []
    for row in rows:
        if row.prompt and row.act in {Act.RECALLED, Act.INJECTED}:
            if not found or not found[-1].goes_on_with(row):
                found.append(_RecordedPrompt(row.prompt, row.time))
            found[-1].add(row)
    return found


def _recorded(each: _RecordedPrompt) -> dict[str, Any]:
    sections = [
        _section({"lane": row.what, "bytes": row.size, "seconds": row.seconds})
        for row in each.injected[:MAX_SECTIONS]
    ]
    return _prompt({"time": each.time, "seconds": each.seconds}, sections)


def _told(document: Mapping[str, Any]) -> dict[str, Any]:
    sections = _mappings(document.get("sections"))[:MAX_SECTIONS]
    return _prompt(document, [_section(each) for each in sections])


def _prompt(document: Mapping[str, Any], sections: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "time": epoch_seconds(document.get("time")),
        "prompt": text(document.get("prompt")),
        "seconds": seconds(document.get("seconds")),
        "bytes": sum(each["bytes"] for each in sections),
        "tokens": sum(each["tokens"] for each in sections),
        "sections": sections,
    }


def _section(document: Mapping[str, Any]) -> dict[str, Any]:
    size = count(document.get("bytes"))
    return {
        "lane": label(document.get("lane")),
        "plugin": label(document.get("plugin")),
        "text": text(document.get("text")),
        "bytes": size,
        "tokens": tokens_of(size),
        "seconds": seconds(document.get("seconds")),
    }


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []

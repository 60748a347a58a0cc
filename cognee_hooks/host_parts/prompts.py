"""The latest prompts of a session and what the model was told for them: in memory, never on disk.

It answers "what did you just put into my prompt" for as long as the session lives. The ledger has
the same without any text, for longer.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cognee_hooks.errors import RedactionFailed
from cognee_hooks.injection import Injected
from cognee_hooks.printable import brief, clean
from cognee_hooks.redaction import RedactionPipeline, cut

KEPT = 20
"""Prompts of a session."""
MAX_PROMPT = 500
"""Characters of a prompt."""
MAX_SECTIONS = 50
"""Sections of a prompt."""
MAX_SECTION = 16 * 1024
"""Bytes of a section's text."""
MAX_TEXTS = 512 * 1024
"""Bytes of all sections' texts of a session; the oldest prompts go first."""
AFTER_SECONDS = 0.05
"""When to remember a prompt; to make it safe costs about a millisecond a kilobyte."""


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A prompt, its text None where it cannot be made safe; and of each section its full size."""

    time: float
    text: str | None
    seconds: float
    sections: list[tuple[Injected, int]]

    @property
    def size(self) -> int:
        return sum(len(section.text.encode()) for section, _ in self.sections)


class Prompts:
    """The latest prompts of one session.

    Args:
        redaction: Makes prompts safe.
        now: Epoch seconds.

    Attributes:
        remembered: How many there were so far; by it others see that there is a new one.
    """

    def __init__(
        self, redaction: RedactionPipeline, *, now: Callable[[], float] = time.time
    ) -> None:
        self._redaction = redaction
        self._now = now
        self.remembered = 0
        self._kept: deque[_Prompt] = deque(maxlen=KEPT)

    async def add(self, text: str, sections: Sequence[Injected], seconds: float) -> None:
        """Remember a prompt, as soon as its answer is out: nobody waits for this.

        Args:
            text: The prompt. Only what the session's redaction leaves of it is kept; where that
                fails, nothing is.
            sections: What the model was told.
            seconds: How long that took to find.
        """
        began = self._now() - seconds
        await asyncio.sleep(AFTER_SECONDS)
        kept = [
            (replace(each, text=cut(each.text, MAX_SECTION)), len(each.text.encode()))
            for each in sections[:MAX_SECTIONS]
        ]
        self._kept.append(_Prompt(began, await self._safe(text), seconds, kept))
        while sum(each.size for each in self._kept) > MAX_TEXTS:
            self._kept.popleft()
        self.remembered += 1

    async def _safe(self, text: str) -> str | None:
        try:
            safe = clean((await self._redaction.redact(text)).value)
        except RedactionFailed:
            return None
        return safe if len(safe) <= MAX_PROMPT else f"{safe[: MAX_PROMPT - 1]}…"

    def as_json(self) -> list[dict[str, Any]]:
        """Return the prompts, the latest last.

        Each has ``time`` (epoch seconds), ``prompt`` (None without a safe text), ``seconds``
        and ``sections`` with ``lane``, ``plugin``, ``text``, ``bytes`` (of the whole text) and
        ``seconds``.
        """
        return [
            {
                "time": prompt.time,
                "prompt": prompt.text,
                "seconds": prompt.seconds,
                "sections": [
                    {
                        "lane": brief(section.lane),
                        "plugin": brief(section.plugin),
                        "text": section.text,
                        "bytes": size,
                        "seconds": section.seconds,
                    }
                    for section, size in prompt.sections
                ],
            }
            for prompt in self._kept
        ]

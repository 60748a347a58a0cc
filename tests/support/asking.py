"""Somebody at the agent, who answers as a test says."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cognee_hooks.deadline import Deadline


class Asking:
    """Answers questions; without other word with no.

    Attributes:
        says: The answer to yes-or-no questions.
        picks: Chooses among options.
        asked: What was asked, title and text.
        offered: The options of the last choice.
    """

    def __init__(self) -> None:
        self.says = False
        self.picks: Callable[[Sequence[str]], str | None] = lambda _: None
        self.asked: list[tuple[str, str]] = []
        self.offered: list[str] = []

    async def confirm(self, title: str, text: str, deadline: Deadline) -> bool:
        self.asked.append((title, text))
        return self.says

    async def select(self, title: str, options: Sequence[str], deadline: Deadline) -> str | None:
        self.asked.append((title, ""))
        self.offered = list(options)
        return self.picks(options)

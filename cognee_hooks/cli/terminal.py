"""Questions to the person at the terminal."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cognee_hooks.printable import clean, one_line

if TYPE_CHECKING:
    from cognee_hooks.cli.progress import Progress
    from cognee_hooks.deadline import Deadline

_YES = frozenset({"y", "yes"})


def can_ask() -> bool:
    """Tell whether a person sits at a terminal that is ours to ask on."""
    streams = (sys.stdin, sys.stderr)
    return all(each is not None and each.isatty() for each in streams)


class TerminalDialogs:
    """Asks on standard error and reads the answer from standard input.

    Args:
        progress: Makes room for a question.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    async def confirm(self, title: str, text: str, deadline: Deadline) -> bool:
        """Ask a yes-or-no question; silence is a no."""
        question = f"{one_line(title)}\n{clean(text).rstrip()}\n[y/N] "
        return (await self._answer(question, deadline)).lower() in _YES

    async def select(self, title: str, options: Sequence[str], deadline: Deadline) -> str | None:
        """Let the person choose by number; anything else is no choice."""
        rows = [f"  {number}  {one_line(each)}" for number, each in enumerate(options, 1)]
        question = "\n".join([one_line(title), *rows, "number, or nothing for none: "])
        answer = await self._answer(question, deadline)
        chosen = int(answer) if answer.isascii() and answer.isdigit() and len(answer) < 5 else 0  # noqa: PLR2004 - digits
        return options[chosen - 1] if 0 < chosen <= len(options) else None

    async def _answer(self, question: str, deadline: Deadline) -> str:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        with self._progress.paused():
            print(question, end="", file=sys.stderr, flush=True)
            # A terminal hands over whole lines, so what is there can be read without waiting.
            loop.add_reader(sys.stdin.fileno(), ready.set)
            try:
                async with asyncio.timeout(deadline.remaining()):
                    await ready.wait()
            except TimeoutError:
                print("\nNobody answered.", file=sys.stderr)
                return ""
            finally:
                loop.remove_reader(sys.stdin.fileno())
            return sys.stdin.readline().strip()

"""Shows how far a command is: a spinner with the time on a terminal, else a line a change."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from cognee_hooks.printable import one_line

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID


class Progress:
    """Progress on standard error, as a context manager. Nothing shows before there is any."""

    def __init__(self) -> None:
        self._last = ""
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, text: str) -> None:
        """Show a text; the same one again changes nothing."""
        if text == self._last:
            return
        self._last = text
        if sys.stderr.isatty():
            self._spin(one_line(text))
        else:
            print(f"{one_line(text)} …", file=sys.stderr, flush=True)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the terminal to somebody else for a block."""
        if self._bar is None:
            yield
            return
        self._bar.stop()
        try:
            yield
        finally:
            self._bar.start()

    def _spin(self, text: str) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import Progress as Bar
            from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

            columns = (
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                TimeElapsedColumn(),
            )
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("", total=None)
            self._bar.start()
        if self._task is not None:
            self._bar.update(self._task, description=text)

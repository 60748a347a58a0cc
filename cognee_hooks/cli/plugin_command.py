"""Runs a command that a plugin registered, and shows how far it is."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cognee_hooks.cli.common import add_host_options, make_host
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import CogneeHooksError, UsageError
from cognee_hooks.host import Host
from cognee_hooks.injection import clean, one_line

CLOSE_SECONDS = 2.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options that decide how the host is made."""
    add_host_options(parser)


def run(options: argparse.Namespace, name: str, argument: str = "") -> int:
    """Run a command and print what it says.

    Args:
        options: Parsed options with those of `configure`.
        name: The command's registered name.
        argument: Its argument text.

    Raises:
        CogneeHooksError: There is no such command, or it says what is wrong.
    """
    host = make_host(options.agent, options.plugins)
    command = host.registered.commands.get(name)
    if command is None:
        raise CogneeHooksError(
            f"no plugin that is in force brings `{name}`; see `cognee-hooks plugins --all`"
        )
    with shown_progress() as host.progress:
        try:
            text = asyncio.run(_run(host, name, argument))
        except UsageError as error:
            # What a command refuses is no wrong usage of this one.
            raise CogneeHooksError(str(error)) from error
    print(clean(text))
    return 0


async def _run(host: Host, name: str, argument: str) -> str:
    try:
        return await host.registered.commands[name].run(argument)
    finally:
        await host.close(Deadline.after(CLOSE_SECONDS))


@contextmanager
def shown_progress() -> Iterator[Callable[[str], None]]:
    """Show progress for a block: a spinner with the time on a terminal, else a line a change."""
    if not sys.stderr.isatty():
        yield _Lines().show
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=None)
        yield lambda text: progress.update(task, description=one_line(text))


class _Lines:
    """Prints each new text once."""

    def __init__(self) -> None:
        self._last = ""

    def show(self, text: str) -> None:
        if text != self._last:
            self._last = text
            print(f"{one_line(text)} …", file=sys.stderr, flush=True)

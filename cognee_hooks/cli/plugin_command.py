"""Runs a command that a plugin registered where no session is needed, and shows how far it is."""

from __future__ import annotations

import argparse
import asyncio

from cognee_hooks.cli.common import add_host_options, make_host
from cognee_hooks.cli.progress import Progress
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import CogneeHooksError, UsageError
from cognee_hooks.host import Host
from cognee_hooks.printable import clean

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
    with Progress() as progress:
        host.progress = progress.show
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

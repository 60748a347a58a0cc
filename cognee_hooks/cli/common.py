"""What several commands share: their host, tables, and JSON output."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cognee_hooks.agents import BUILT_IN, DEFAULT_AGENT, max_context_bytes_of
from cognee_hooks.cli.layout import as_records, column_widths, room
from cognee_hooks.cli.options import add_plugins_option
from cognee_hooks.errors import UsageError
from cognee_hooks.host import Host
from cognee_hooks.printable import clean
from cognee_hooks.services.process import current_environ

if TYPE_CHECKING:
    from cognee_hooks.results import Agent
    from cognee_hooks.services.client import CogneeClient

_DIGITS = 9


def add_host_options(parser: argparse.ArgumentParser, *, agent: bool = True) -> None:
    """Add the options that decide how a host is made."""
    add_plugins_option(parser, "; may be repeated")
    if agent:
        parser.add_argument(
            "--agent", default=DEFAULT_AGENT, help=f"agent that is meant (default: {DEFAULT_AGENT})"
        )


def whole(text: str) -> int:
    """Read a number of rows or lines, for an option.

    Args:
        text: What stands on the command line.

    Raises:
        argparse.ArgumentTypeError: It is no whole number, or one below 0.
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of things")
    return int(text)


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def make_host(
    agent: str,
    plugins: Sequence[str],
    *,
    environ: Mapping[str, str] | None = None,
    session_id: str = "",
    cwd: str | None = None,
    client: CogneeClient | None = None,
) -> Host:
    """Make a host from the command's environment.

    Args:
        agent: Short name.
        plugins: Values of ``-p``.
        environ: Replaces the process environment.
        session_id: Our id of the conversation.
        cwd: Replaces the working directory.
        client: Replaces the server client.
    """
    return Host(
        agent,
        environ=current_environ() if environ is None else environ,
        session_id=session_id,
        cwd=str(Path.cwd()) if cwd is None else cwd,
        arguments={"plugins": list(plugins)} if plugins else None,
        client=client,
        max_context_bytes=max_context_bytes_of(agent),
    )


def find_agent(name: str, host: Host | None = None) -> Agent:
    """Return an adapter.

    Raises:
        UsageError: No agent has this name.
    """
    agents = {**BUILT_IN, **(host.registered.agents if host else {})}
    if name not in agents:
        raise UsageError(f"no agent is called {name!r}; there are: {', '.join(sorted(agents))}")
    return agents[name]


def print_json(value: Any) -> None:
    """Print one JSON document."""
    print(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table that fits the terminal; cells are cleaned of control characters.

    Where the columns have no room without breaking words, it is told row by row.
    """
    cells = [[clean(str(cell)) for cell in row] for row in rows]
    columns = room()
    widths = column_widths(headings, cells, columns)
    if widths is None:
        print("\n".join(as_records(headings, cells, columns)))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for heading, width in zip(headings, widths, strict=True):
        table.add_column(heading, overflow="fold", width=width)
    for row in cells:
        table.add_row(*map(Text, row))
    console = Console(width=columns, highlight=False)
    with console.capture() as captured:
        console.print(table)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


def print_problems(host: Host) -> None:
    """Print what is wrong with the configuration, on standard error."""
    for problem in host.settings.problems:
        print(f"! {problem.source}: {problem.message}", file=sys.stderr)
    for text in host.registry.problems:
        print(f"! {text}", file=sys.stderr)

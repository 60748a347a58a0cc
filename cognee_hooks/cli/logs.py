"""``cognee-hooks logs``: show what the local server and its start said."""

from __future__ import annotations

import argparse

from cognee_hooks.cli import plugin_command
from cognee_hooks.cli.common import whole

LINES = 40


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    plugin_command.configure(parser)
    parser.add_argument(
        "-n", type=whole, default=LINES, help=f"lines of each log (default: {LINES})"
    )


def run(options: argparse.Namespace) -> int:
    """Print the ends of the logs."""
    return plugin_command.run(options, "logs", f"-n {options.n}")

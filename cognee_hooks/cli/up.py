"""``cognee-hooks up``: start the local server."""

from __future__ import annotations

import argparse

from cognee_hooks.cli import plugin_command

WAIT_SECONDS = 3600
"""Longer than installing and starting may take with the default limits."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    plugin_command.configure(parser)
    parser.add_argument(
        "--wait",
        type=float,
        default=WAIT_SECONDS,
        metavar="SECONDS",
        help="how long to wait for it; the work goes on by itself (default: an hour)",
    )


def run(options: argparse.Namespace) -> int:
    """Start it, and show how far it is; exit code 1 where it does not come up."""
    return plugin_command.run(options, "up", f"--wait {options.wait:g}")

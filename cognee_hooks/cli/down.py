"""``cognee-hooks down``: stop the local server."""

from __future__ import annotations

import argparse

from cognee_hooks.cli import plugin_command


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    plugin_command.configure(parser)


def run(options: argparse.Namespace) -> int:
    """Stop it; exit code 1 where that is not ours to do."""
    return plugin_command.run(options, "down")

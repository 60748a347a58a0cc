"""``cognee-hooks uninstall``."""

from __future__ import annotations

import argparse

from cognee_hooks.cli.install import (
    DECLINED,
    carried_out,
    configure_common,
    find_installer,
    place_of,
    print_lines,
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    configure_common(parser)


def run(options: argparse.Namespace) -> int:
    """Take us out of an agent's settings.

    Returns:
        0 where nothing of ours is left, 1 where the person declined.

    Raises:
        UsageError: No such agent or scope, or nobody is there to answer.
        InstallRefused: A file cannot be changed safely; nothing was changed.
    """
    plan = find_installer(options.agent).uninstall(place_of(options))
    if not plan.effective:
        print_lines("note: ", plan.notes)
        print(f"Nothing of cognee-hooks is set up in {options.agent} here; nothing was changed.")
        return 0
    if not carried_out(plan, options):
        return 0 if options.dry_run else DECLINED
    print_lines("next: ", plan.next_steps)
    print("Memory and captured entries were left alone.")
    return 0

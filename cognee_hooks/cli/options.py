"""Options that several commands share, without what those commands load for their work."""

from __future__ import annotations

import argparse


def add_plugins_option(parser: argparse.ArgumentParser, remark: str) -> None:
    """Add ``-p``, which says of installed plugins which are loaded.

    Args:
        parser: The command's parser.
        remark: What else there is to say in its help.
    """
    parser.add_argument(
        "-p",
        dest="plugins",
        action="append",
        default=[],
        metavar="NAME",
        help=f"load an installed plugin, or with no:NAME leave one out{remark}",
    )

"""``cognee-hooks view``: the local page that shows what memory does."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cognee_hooks.services.process import current_environ
from cognee_hooks.view import serve
from cognee_hooks.view.access import TOKEN_SECONDS
from cognee_hooks.view.browser import can_open
from cognee_hooks.view.server import IDLE_SECONDS

LOWEST_PORT, HIGHEST_PORT = 1024, 65_535


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--port",
        type=port,
        default=0,
        help="port on 127.0.0.1 (default: 0, which takes a free one)",
    )
    parser.add_argument("--no-browser", action="store_true", help="only print the address to open")
    parser.epilog = (
        f"The address works once, within {TOKEN_SECONDS / 60:.0f} minutes, for one browser on this "
        "machine. The page shows and changes nothing. It is served until Ctrl-C, or for "
        f"{IDLE_SECONDS / 3600:.0f} hours without any request."
    )


def port(text: str) -> int:
    """Read a port.

    Args:
        text: What stands on the command line.

    Raises:
        argparse.ArgumentTypeError: It is none, or one that only the system's own programs have.
    """
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < len("100000") else -1
    if number and not LOWEST_PORT <= number <= HIGHEST_PORT:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no port: 0, or {LOWEST_PORT} to {HIGHEST_PORT}"
        )
    return number


def run(options: argparse.Namespace) -> int:
    """Serve until interrupted."""
    environ = current_environ()
    serve(
        options.port,
        environ=environ,
        cwd=Path.cwd(),
        on_ready=_print,
        browser=not options.no_browser and can_open(environ, sys.platform),
    )
    return 0


def _print(address: str) -> None:
    minutes = f"{TOKEN_SECONDS / 60:.0f} minutes"
    print(f"cognee-hooks view: {address} (opens once, within {minutes}; Ctrl-C ends)", flush=True)

"""``cognee-hooks server``: the small local memory server."""

from __future__ import annotations

import argparse
from pathlib import Path

from cognee_hooks.embedded import serve
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.process import current_environ

DEFAULT_PORT = 8011


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--host", default="127.0.0.1", help="address (default: 127.0.0.1)")
    parser.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help=f"port (default: {DEFAULT_PORT}; 0: any)"
    )
    parser.add_argument("--data", type=Path, help="file that holds everything that it remembers")
    parser.add_argument(
        "--no-auth", action="store_true", help="accept requests without a key (one user)"
    )


def run(options: argparse.Namespace) -> int:
    """Serve until interrupted."""
    data = options.data or Paths.of(current_environ(), "embedded").embedded_dir / "memory.db"
    serve(
        options.host,
        options.port,
        data,
        not options.no_auth,
        on_ready=lambda url: print(f"listening on {url}, data in {data}", flush=True),
    )
    return 0

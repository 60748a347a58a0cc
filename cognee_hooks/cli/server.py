"""``cognee-hooks server``: the small local memory server."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from cognee_hooks.core_settings import CoreSettings
from cognee_hooks.embedded import serve
from cognee_hooks.services.paths import Paths
from cognee_hooks.services.process import current_environ
from cognee_hooks.settings import Settings

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
    environ = current_environ()
    paths = Paths.of(environ, "embedded")
    data = options.data or paths.embedded_dir / "memory.db"
    serve(
        options.host,
        options.port,
        data,
        not options.no_auth,
        on_ready=lambda url: print(f"listening on {url}, data in {data}", flush=True),
        password=_password(environ, paths),
    )
    return 0


def _password(environ: Mapping[str, str], paths: Paths) -> str:
    """Return the login's password: by the name that cognee servers have for it, or by ours.

    Whoever starts a server for somebody else says the first; a person's settings say the second,
    which is also what clients log in with.
    """
    if own := environ.get("DEFAULT_USER_PASSWORD"):
        return own
    settings = Settings.load(environ, config_file=paths.config_file, env_file=paths.env_file)
    return settings.resolve("", CoreSettings).user_password

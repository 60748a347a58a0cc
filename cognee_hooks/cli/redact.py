"""``cognee-hooks redact``: text in, safe text out."""

from __future__ import annotations

import argparse
import sys

from cognee_hooks.cli.common import add_host_options, make_host
from cognee_hooks.errors import CogneeHooksError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_host_options(parser)
    parser.add_argument(
        "--explain", action="store_true", help="also list on standard error which rule cut what"
    )


def run(options: argparse.Namespace) -> int:
    """Redact standard input with the redactors that are in force here."""
    host = make_host(options.agent, options.plugins)
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    if host.redaction.closed_because:
        raise CogneeHooksError(f"{host.redaction.closed_because} Nothing is printed.")
    redacted = host.redaction.redact_blocking(text)
    sys.stdout.write(redacted.value)
    if options.explain:
        sys.stdout.flush()
        _, hits = host.redaction.explain(text)
        for hit in hits:
            length = hit.end - hit.start
            print(f"{hit.rule}: {length} characters -> {hit.label}", file=sys.stderr)
        if not hits:
            print("nothing was cut", file=sys.stderr)
    return 0

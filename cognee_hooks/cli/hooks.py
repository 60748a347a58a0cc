"""``cognee-hooks hooks``: the hookspecs as a table and as a manual, as the documents hold them."""

from __future__ import annotations

import argparse
import inspect
from typing import Any

from cognee_hooks import hookspecs
from cognee_hooks.cli.common import add_json_option, print_json, print_table
from cognee_hooks.cli.hook_reference import budget_of, kind_of, reference
from cognee_hooks.markers import Policy
from cognee_hooks.registry import declared_policies

HEADINGS = ("hook", "arguments", "kind", "budget", "on a fault")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_json_option(parser)
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument(
        "--reference", action="store_true", help="print the manual of every hook, in Markdown"
    )


def run(options: argparse.Namespace) -> int:
    """List hooks."""
    rows = [_row(name, policy) for name, policy in declared_policies().items()]
    if options.json:
        print_json([_as_json(name, policy) for name, policy in declared_policies().items()])
    elif options.markdown:
        print(markdown_table())
    elif options.reference:
        print(reference())
    else:
        print_table(HEADINGS, rows)
    return 0


def markdown_table() -> str:
    """Return the hook table in Markdown."""
    lines = [f"| {' | '.join(HEADINGS)} |", "| --- | --- | --- | --- | --- |"]
    for name, policy in declared_policies().items():
        hook, *rest = _row(name, policy)
        lines.append(f"| {' | '.join([f'`{hook}`', *rest])} |")
    return "\n".join(lines)


def _row(name: str, policy: Policy) -> tuple[str, ...]:
    return (name, ", ".join(_arguments(name)), kind_of(policy), budget_of(policy), policy.on_fault)


def _arguments(name: str) -> list[str]:
    return list(inspect.signature(getattr(hookspecs, name)).parameters)


def _as_json(name: str, policy: Policy) -> dict[str, Any]:
    return {
        "name": name,
        "arguments": _arguments(name),
        "kind": policy.kind.value,
        "budget_seconds": policy.budget,
        "in_order": policy.in_order,
        "detached": policy.detached,
        "result": policy.result.__name__ if policy.result else None,
        "on_fault": policy.on_fault,
        "deprecations": policy.deprecations,
        "summary": (inspect.getdoc(getattr(hookspecs, name)) or "").splitlines()[0],
    }

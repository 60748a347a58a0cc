"""``cognee-hooks hooks``: the table of hookspecs, also the source of the README's table."""

from __future__ import annotations

import argparse
import inspect
from typing import Any

from cognee_hooks import hookspecs
from cognee_hooks.cli.common import add_json_option, print_json, print_table
from cognee_hooks.markers import Policy
from cognee_hooks.registry import declared_policies

HEADINGS = ("hook", "arguments", "kind", "budget", "on a fault")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_json_option(parser)
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")


def run(options: argparse.Namespace) -> int:
    """List hooks."""
    rows = [_row(name, policy) for name, policy in declared_policies().items()]
    if options.json:
        print_json([_as_json(name, policy) for name, policy in declared_policies().items()])
    elif options.markdown:
        print(markdown_table())
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
    return (name, ", ".join(_arguments(name)), _kind(policy), _budget(policy), policy.on_fault)


def _arguments(name: str) -> list[str]:
    return list(inspect.signature(getattr(hookspecs, name)).parameters)


def _kind(policy: Policy) -> str:
    notes = [policy.kind.value]
    if policy.detached:
        notes.append("in the background")
    if policy.in_order:
        notes.append("in order")
    return ", ".join(notes)


def _budget(policy: Policy) -> str:
    seconds = policy.budget
    return f"{seconds:g} s" if seconds >= 1 else f"{seconds * 1000:g} ms"


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
        "summary": (inspect.getdoc(getattr(hookspecs, name)) or "").splitlines()[0],
    }

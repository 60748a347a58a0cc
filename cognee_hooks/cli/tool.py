"""``cognee-hooks tool``: what the model's tools do, for agents that call programs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from typing import Any

from cognee_hooks.cli import calling
from cognee_hooks.cli.stdin import read_first_object
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import UsageError
from cognee_hooks.printable import one_line
from cognee_hooks.reach import Call, Offer

STDIN_SECONDS = 30.0
_PREFIX = "cognee_"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="the tool, such as cognee_recall")
    parser.add_argument(
        "arguments",
        nargs="?",
        metavar="JSON",
        help="its arguments, one JSON object; read from standard input where left out",
    )
    parser.add_argument("--list", action="store_true", help="list the tools instead")
    parser.add_argument("--json", action="store_true", help="print JSON")
    calling.add_options(parser)


def run(options: argparse.Namespace) -> int:
    """Call a tool, or list them.

    Returns:
        0 where the tool did what it was asked for, 1 where not.

    Raises:
        UsageError: No such tool or session, or the arguments are no JSON object.
        CallFailed: It came to nothing.
    """
    if options.list:
        return _list(options)
    if options.name is None:
        raise UsageError("name a tool, or use --list")
    arguments = _arguments(options.arguments)

    def prepare(offer: Offer) -> Call:
        return Call(name=_known(offer, options.name), arguments=arguments)

    answer, about = calling.call(options, prepare)
    if not options.json:
        return calling.finish(answer)
    from cognee_hooks.cli.common import print_json

    session = {"agent": about.agent, "session_id": about.session_id, "live": about.live}
    print_json({"text": answer.text, "failed": answer.failed, "session": session})
    return 1 if answer.failed else 0


def _list(options: argparse.Namespace) -> int:
    from cognee_hooks.cli.common import print_json, print_table

    offer, _ = calling.offer(options)
    if options.json:
        print_json(offer.tools)
        return 0
    rows = [(each["name"], one_line(str(each.get("description", "")))) for each in offer.tools]
    print_table(("tool", "when to use it"), rows)
    return 0


def _known(offer: Offer, name: str) -> str:
    names = [str(each["name"]) for each in offer.tools]
    for candidate in (name, f"{_PREFIX}{name}"):
        if candidate in names:
            return candidate
    known = ", ".join(sorted(names)) or "none"
    raise UsageError(f"no plugin that is in force brings the tool {name!r}; there are: {known}")


def _arguments(given: str | None) -> Mapping[str, Any]:
    if given is None:
        if sys.stdin is None or sys.stdin.isatty():
            return {}
        found, read = read_first_object(sys.stdin, Deadline.after(STDIN_SECONDS))
        if found is None and read.strip():
            raise UsageError("what came on standard input is no JSON object")
        return found or {}
    try:
        arguments = json.loads(given)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the arguments are no JSON ({type(error).__name__})") from error
    if not isinstance(arguments, dict):
        raise UsageError('the arguments must be one JSON object, such as {"query": "..."}')
    return arguments

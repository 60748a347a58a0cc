"""``cognee-hooks plugins trace EVENT``: which implementations ran, in which order, and to what."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from cognee_hooks.cli.common import print_json, print_table
from cognee_hooks.cli.rehearsal import BUDGET_SECONDS, rehearsal
from cognee_hooks.cli.run import agent_of
from cognee_hooks.cli.stdin import read_payload
from cognee_hooks.deadline import Deadline
from cognee_hooks.errors import UsageError
from cognee_hooks.events import (
    Event,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    SessionEnd,
    SessionStart,
    Stop,
    UserPromptSubmit,
)
from cognee_hooks.host import Host
from cognee_hooks.outcomes import Called, Outcome
from cognee_hooks.printable import one_line

ACTION = "trace"
SAMPLES: Mapping[type[Event], Mapping[str, Any]] = {
    SessionStart: {},
    UserPromptSubmit: {"prompt": "What do you remember about this project?"},
    PostToolUse: {
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_response": {"stdout": "README.md"},
    },
    PostToolUseFailure: {
        "tool_name": "Bash",
        "tool_input": {"command": "ls nowhere"},
        "error": "No such file or directory",
    },
    Stop: {"last_assistant_message": "It is a library."},
    PreCompact: {},
    SessionEnd: {},
}
"""What an event holds where no payload is given."""
_LONGEST = 160


def configure(actions: Any) -> None:
    """Declare the action.

    Args:
        actions: Subparsers of the command.
    """
    text = "show which plugins an event passes through, in order, with times and results"
    parser = actions.add_parser(
        ACTION,
        help=text,
        description=f"{text.capitalize()}. Nothing is sent, and no real session is changed.",
    )
    names = ", ".join(each.__name__ for each in SAMPLES)
    parser.add_argument(
        "event",
        metavar="EVENT",
        help=f"the agent's name of it, with its payload on standard "
        f"input; or without a payload one of {names}",
    )


def run(options: argparse.Namespace) -> int:
    """Pass one event through the plugins, and show each call.

    Raises:
        UsageError: There is no such event.
    """
    agent = agent_of(options)
    payload = {} if sys.stdin.isatty() else read_payload(sys.stdin, Deadline.after(BUDGET_SECONDS))
    rows: list[dict[str, Any]] = []
    with rehearsal(options, agent, payload or {}) as (host, _):
        host.dispatcher.observe = lambda *call: rows.extend(_rows(host, *call))
        if payload:
            event = agent.read(options.event, payload, session_id=host.session.session_id)
        else:
            event = _sample(options.event, host)
        if event is None:
            raise UsageError(f"{agent.name} has no event {options.event!r} that is used")
        asyncio.run(_play(host, event))
    if options.json:
        print_json(rows)
    else:
        _print(rows)
    return 0


def _sample(name: str, host: Host) -> Event:
    for kind, values in SAMPLES.items():
        if kind.__name__ == name:
            session = host.session
            common: dict[str, Any] = {
                "session_id": session.session_id,
                "agent": session.agent,
                "cwd": session.cwd,
            }
            return kind(**common, **values)
    known = ", ".join(each.__name__ for each in SAMPLES)
    raise UsageError(
        f"without a payload on standard input there is no event {name!r}; there are: {known}"
    )


async def _play(host: Host, event: Event) -> None:
    deadline = Deadline.after(BUDGET_SECONDS)
    await host.dispatch(event, deadline)
    await host.close(deadline)


def _rows(
    host: Host, hook: str, wrappers: tuple[Outcome, ...], called: Called
) -> list[dict[str, Any]]:
    rows = [(each, "wrapper", "") for each in wrappers]
    for each in called.outcomes:
        kind = "built-in" if host.registry.is_built_in(each.plugin) else "plugin"
        rows.append((each, kind, _shown(each.result)))
    return [
        {
            "hook": hook,
            "plugin": each.plugin,
            "kind": kind,
            "ms": round(each.seconds * 1000, 2),
            "came_to": f"fault: {each.fault}" if each.fault else shown,
        }
        for each, kind, shown in rows
    ]


def _shown(result: Any) -> str:
    """Say in a line what an implementation returned."""
    if result is None:
        return "nothing"
    if isinstance(result, (list, tuple)):
        return one_line(", ".join(map(_shown, result)) or "nothing")[:_LONGEST]
    names = (
        [each.name for each in fields(result)] if hasattr(result, "__dataclass_fields__") else []
    )
    for name in ("text", "detail", "name"):
        if name in names:
            return one_line(f"{type(result).__name__}: {getattr(result, name)}")[:_LONGEST]
    return one_line(type(result).__name__)[:_LONGEST]


def _print(rows: list[dict[str, Any]]) -> None:
    print_table(
        ("hook", "plugin", "kind", "ms", "came to"),
        [
            (
                row["hook"].removeprefix("cognee_"),
                row["plugin"],
                row["kind"],
                f"{row['ms']:.2f}",
                row["came_to"],
            )
            for row in rows
        ],
    )

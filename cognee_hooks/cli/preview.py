"""``cognee-hooks preview AGENT EVENT``: what would leave this machine, and what was cut."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from cognee_hooks.cli.common import add_host_options, add_json_option, print_json
from cognee_hooks.cli.rehearsal import BUDGET_SECONDS, rehearsal
from cognee_hooks.cli.run import agent_of
from cognee_hooks.cli.stdin import read_payload
from cognee_hooks.deadline import Deadline
from cognee_hooks.dryrun import DryRunClient
from cognee_hooks.errors import UsageError
from cognee_hooks.events import Stop, UserPromptSubmit
from cognee_hooks.host import Host
from cognee_hooks.printable import clean, one_line
from cognee_hooks.results import Agent

SAMPLE_PROMPT = "(the prompt that this answer belongs to)"
_DEPTH = 32


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("agent", metavar="AGENT", help="agent that would send the event")
    parser.add_argument(
        "event", metavar="EVENT", help="the event, by the name that the agent has for it"
    )
    add_host_options(parser, agent=False)
    add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Read one payload from standard input and show what would become of it."""
    agent = agent_of(options)
    payload = read_payload(sys.stdin, Deadline.after(BUDGET_SECONDS))
    if payload is None:
        raise UsageError("preview reads one JSON object from standard input, and there was none")
    with rehearsal(options, agent, payload) as (host, client):
        if not asyncio.run(_play(host, client, agent, options.event, payload)):
            print(
                f"cognee-hooks: nothing here makes use of {one_line(options.event)!r} of "
                f"{agent.name} with this payload; "
                f"`cognee-hooks install {agent.name} --dry-run` names the events that are used",
                file=sys.stderr,
            )
        report = _report(host, client, payload)
    if options.json:
        print_json(report)
    else:
        _print(report)
    return 0


async def _play(
    host: Host, client: DryRunClient, agent: Agent, event: str, payload: Mapping[str, Any]
) -> bool:
    """Pass the event on; False where the agent's adapter has no use for it."""
    deadline = Deadline.after(BUDGET_SECONDS)
    read = agent.read(event, payload, session_id=host.session.session_id)
    if isinstance(read, Stop):
        # An answer is stored together with its prompt, which another event brings.
        await host.dispatch(UserPromptSubmit(session_id=read.session_id, prompt=SAMPLE_PROMPT))
        await host.flush(deadline)
        client.unsent.clear()
    if read is not None:
        await host.dispatch(read, deadline)
    await host.close(deadline)
    return read is not None


def _report(host: Host, client: DryRunClient, payload: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "would_send": [
            # A look at the server's health carries nothing.
            {"method": each.method, "path": each.path, "body": each.body}
            for each in client.unsent
            if each.body
        ],
        "cut": [
            {"field": path, "rule": hit.rule, "as": hit.label, "characters": hit.end - hit.start}
            for path, text in _texts(payload, "", _DEPTH)
            for hit in host.redaction.explain(text)[1]
        ],
        "left_out": host.drops.as_dict(),
        "closed_because": host.redaction.closed_because,
    }


def _texts(value: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif depth and isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(inner, f"{path}.{key}".lstrip("."), depth - 1)
    elif depth and isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, f"{path}[{index}]", depth - 1)


def _print(report: Mapping[str, Any]) -> None:
    import json

    if report["closed_because"]:
        print(f"nothing is sent: {report['closed_because']}")
    if not report["would_send"]:
        print("would send: nothing")
    for each in report["would_send"]:
        print(f"would send: {each['method']} {each['path']}")
        text = json.dumps(each["body"], indent=2, ensure_ascii=False)
        print(clean(text))
    for each in report["cut"]:
        print(f"cut: {each['rule']} in {clean(each['field'])}: {each['characters']} characters")
    for reason, count in report["left_out"].items():
        print(f"left out: {reason} ({count})")
